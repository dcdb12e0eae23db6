/**
 * What whoever opens an order writes down with it, for itself: never read by the ledger, never changed. It has an item of its
 * own beside the order, so that a charge writes none of it.
 */
export interface MetadataEntry {
  readonly key: string;
  readonly value: string;
}

/** Of the fifty keys that the provider keeps, the rest are for our own. */
export const MAX_METADATA = 20;
/** The provider takes forty characters, ours before it included. */
export const METADATA_KEY = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,37}$/;
/** As many as the provider keeps of one. */
export const MAX_METADATA_VALUE = 500;

const PROVIDER_PREFIX = 'm_';

/** The same at the provider, apart from our own keys. */
export function providerMetadata(metadata: readonly MetadataEntry[]): Readonly<Record<string, string>> {
  return Object.fromEntries(metadata.map(({ key, value }) => [`${PROVIDER_PREFIX}${key}`, value]));
}
