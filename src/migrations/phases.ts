/** The phases of a migration, in their order (docs/MIGRATIONS.md). `done` is its end: nothing of it is left to do. */
export const PHASES = [
  'off',
  'expand',
  'backfill',
  'verify',
  'read-new',
  'contract',
  'cleanup',
  'done',
] as const;
export type Phase = (typeof PHASES)[number];

/**
 * What a process does in a phase. A record that has not moved is judged and written in the old shape alone, whatever the
 * phase, until `contract`, when there is none left.
 */
export interface PhasePolicy {
  /** Which shapes of a record that has moved are written, in one transaction. In `off` none has. */
  readonly writes: 'OLD' | 'BOTH' | 'NEW';
  /** In which shape an account without a record gets one; BOTH: as a record that has moved. */
  readonly creates: 'OLD' | 'BOTH' | 'NEW';
  /** From which shape a record that has moved is read. */
  readonly reads: 'OLD' | 'NEW';
}

/**
 * Neighbours agree on everything that matters to each other, so that a fleet may be in two of them at once:
 * - `off`, `expand`: nothing has moved, and both write the old shape of everything.
 * - `expand` … `read-new`: what has moved is written in both shapes, so either may be read. From `backfill` on accounts
 *   are created in both: once no process is in `expand`, records that haven't moved only get fewer.
 * - `read-new`, `contract`: both read the new shape, so the old one may go stale.
 */
const POLICIES: Readonly<Record<Phase, PhasePolicy>> = {
  off: { writes: 'OLD', creates: 'OLD', reads: 'OLD' },
  expand: { writes: 'BOTH', creates: 'OLD', reads: 'OLD' },
  backfill: { writes: 'BOTH', creates: 'BOTH', reads: 'OLD' },
  verify: { writes: 'BOTH', creates: 'BOTH', reads: 'OLD' },
  'read-new': { writes: 'BOTH', creates: 'BOTH', reads: 'NEW' },
  contract: { writes: 'NEW', creates: 'NEW', reads: 'NEW' },
  cleanup: { writes: 'NEW', creates: 'NEW', reads: 'NEW' },
  done: { writes: 'NEW', creates: 'NEW', reads: 'NEW' },
};

export function policyOf(phase: Phase): PhasePolicy {
  return POLICIES[phase];
}

/** The phase that a step forward leads to; undefined from the last. */
export function phaseAfter(phase: Phase): Phase | undefined {
  return PHASES[PHASES.indexOf(phase) + 1];
}

/** The phase that a step back leads to; undefined where there is no way back: from `off`, and from `contract` on. */
export function phaseBefore(phase: Phase): Phase | undefined {
  return isAtLeast(phase, 'contract') ? undefined : PHASES[PHASES.indexOf(phase) - 1];
}

export function isAtLeast(phase: Phase, other: Phase): boolean {
  return PHASES.indexOf(phase) >= PHASES.indexOf(other);
}
