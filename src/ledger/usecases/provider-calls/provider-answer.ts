/** How asking went. */
export type ProviderAnswer =
  /** The provider has answered, and what it said is in the order as far as it changes it. */
  | 'KNOWN'
  /** It couldn't be asked, or what it said couldn't be written: to be asked again. */
  | 'UNKNOWN'
  /** It has no such object, and what follows from that can't be judged yet: asked again, ever more rarely. */
  | 'MISSING';
