import type { ProvingGround } from './proving-ground.ts';

/** One thing that was looked at after an attack: what had to be there, and what was. */
export interface Check {
  readonly what: string;
  readonly expected: string;
  readonly found: string;
  readonly held: boolean;
}

/** What was done to break a claim, and what was seen then. */
export interface Trial {
  readonly done: string;
  readonly checks: readonly Check[];
}

/** One thing that Hitotsu claims, and how this very run tries to break it. */
export interface Claim {
  readonly id: string;
  readonly claim: string;
  /** Names of functions and constants of src/ by which the rule stands: the run looks up where they are. */
  readonly rules: readonly string[];
  /** Files of tests, or folders of them, that hold the rule in `npm test` and its further suites. */
  readonly tests: readonly string[];
  readonly attempt: (ground: ProvingGround) => Promise<Trial>;
}

/** One question of a buyer's checklist. */
export interface Question {
  readonly id: string;
  readonly question: string;
  readonly claims: readonly Claim[];
}

export function check(what: string, found: string | number, expected: string | number): Check {
  return { what, expected: String(expected), found: String(found), held: String(found) === String(expected) };
}

/** A check of something that must at least be so many, lest an attack proves nothing. */
export function checkAtLeast(what: string, found: number, least: number): Check {
  return { what, expected: `at least ${String(least)}`, found: String(found), held: found >= least };
}

/** A check that nothing is on a list; what is on it is named. */
export function checkNone(what: string, found: readonly string[]): Check {
  return check(what, found.length === 0 ? 'none' : found.join(', '), 'none');
}
