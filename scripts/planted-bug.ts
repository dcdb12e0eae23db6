/** A small fault that somebody could make, and the tests that must notice it. */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  /** This text, which is in the file exactly once, becomes that one. */
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
  /** Only tests whose names match: where a file holds many. */
  readonly only?: string;
}
