import { type AttributeInput, readString, toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import { integer } from '../../../src/ledger/kernel/integers.ts';
import { describe, expect, it } from 'vitest';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { PHASES, type Phase, phaseAfter, phaseBefore, policyOf } from '../../../src/migrations/phases.ts';
import type { Heartbeat, MigrationState, Verification, Walk } from '../../../src/migrations/state.ts';
import { type StepChecks, objections } from '../../../src/migrations/steps.ts';

const VERSION = 5;
const walk: Walk = {
  walkId: 'w',
  version: VERSION,
  segments: 2,
  by: 'operator',
  startedAtMs: 1,
  finishedAtMs: 2,
  failed: 0,
};
const verification: Verification = {
  version: VERSION,
  by: 'operator',
  startedAtMs: 3,
  finishedAtMs: 4,
  records: 7,
  unmoved: 0,
  differences: 0,
};

function checks(
  phase: Phase,
  state: Partial<MigrationState> = {},
  more: Partial<StepChecks> = {},
): StepChecks {
  const full: MigrationState = {
    id: 'god-record',
    phase,
    version: VERSION,
    sinceMs: 0,
    by: 'operator',
    rev: 9,
    ...state,
  };
  return {
    migration: GOD_RECORD,
    state: full,
    states: [full],
    fleet: [],
    nowMs: 60_000,
    ...holding(),
    ...more,
  };
}

/** A table with these items alone. */
function holding(...items: readonly Record<string, AttributeInput>[]): Pick<StepChecks, 'find'> {
  const stored = items.map(toAttributes);
  return {
    find: (isWanted) => {
      const found = stored.find(isWanted);
      return Promise.resolve(
        found === undefined ? undefined : `${readString(found, 'uuid')} ${readString(found, 'type')}`,
      );
    },
  };
}

function acting(version: number): Heartbeat {
  return { process: `p${version}`, atMs: 0, actsOn: { id: 'god-record', version } };
}

describe('the gates of a migration', () => {
  it('lead forward through every phase in its order, and back until contract', () => {
    const forward: Phase[] = ['off'];
    for (let phase = phaseAfter('off'); phase !== undefined; phase = phaseAfter(phase)) forward.push(phase);
    expect(forward).toEqual([
      'off',
      'expand',
      'backfill',
      'verify',
      'read-new',
      'contract',
      'cleanup',
      'done',
    ]);
    expect(PHASES.map((phase) => phaseBefore(phase))).toEqual([
      undefined,
      'off',
      'expand',
      'backfill',
      'verify',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('stay shut while any process acts on an earlier step or is still joining', async () => {
    const fleet: readonly Heartbeat[] = [acting(VERSION), acting(VERSION - 1), { process: 'new', atMs: 0 }];
    expect(await objections(checks('off', {}, { fleet }), 'FORWARD')).toEqual([
      'Process p4 still acts on an earlier step.',
      'Process new is still joining, or does not know this migration.',
    ]);
    expect(await objections(checks('read-new', {}, { fleet }), 'BACK')).toHaveLength(2);
  });

  it('open expand only once off has lasted long enough for every process to have heard of it', async () => {
    const open = (nowMs: number): ReturnType<typeof objections> =>
      objections(checks('off', { sinceMs: 1_000 }, { nowMs }), 'FORWARD');
    expect(await open(60_999)).toEqual([
      'A process that has not heard of it yet may still be writing: off lasts 60 s at least.',
    ]);
    expect(await open(61_000)).toEqual([]);
  });

  it('open verify only to a walk of this stay that left nothing', async () => {
    const open = (one: Walk | undefined): ReturnType<typeof objections> =>
      objections(checks('backfill', one === undefined ? {} : { walk: one }), 'FORWARD');
    const unfinished: Walk = {
      walkId: 'w',
      version: VERSION,
      segments: 2,
      by: 'operator',
      startedAtMs: 1,
      failed: 0,
    };
    expect(await open(walk)).toEqual([]);
    expect(await open(undefined)).toEqual(['Run "backfill god-record" first.']);
    expect(await open({ ...walk, version: VERSION - 2 })).toEqual(['Run "backfill god-record" first.']);
    expect(await open(unfinished)).toEqual([
      'The backfill has not come to its end: run "backfill god-record" to go on.',
    ]);
    expect(await open({ ...walk, failed: 3 })).toEqual([
      'Records that the backfill had to leave: 3. Run it again.',
    ]);
  });

  it('open contract only to a verify that began in read-new and found nothing', async () => {
    const open = (one: Verification): ReturnType<typeof objections> =>
      objections(checks('read-new', { walk, verification: one }), 'FORWARD');
    expect(await open(verification)).toEqual([]);
    expect(await open({ ...verification, version: VERSION - 1 })).toEqual([
      'Run "verify god-record" in this phase first.',
    ]);
    expect(await open({ ...verification, unmoved: 1, differences: 2 })).toEqual([
      'Records that have not moved: 1. Run "backfill god-record" again, in backfill or verify.',
      'Differences: 2. Run "verify god-record" to see them.',
    ]);
  });

  it('refuse the way back into off once a record has moved, and from contract on', async () => {
    const unmoved = holding({ uuid: 'demo#a', type: 'CUSTOMER' });
    expect(await objections(checks('expand', {}, unmoved), 'BACK')).toEqual([]);
    const moved = holding({ uuid: 'demo#a', type: 'CUSTOMER', moved_at: integer(1) });
    expect(await objections(checks('expand', {}, moved), 'BACK')).toEqual([
      'Records have moved (demo#a CUSTOMER is one), and off knows only the old shape.',
    ]);
    expect(await objections(checks('contract'), 'BACK')).toEqual([
      'There is no way back from contract: the old shape has gone stale.',
    ]);
  });

  it('let a migration begin only alone, and where nothing is in the new shape', async () => {
    const other: MigrationState = {
      id: 'metrics-split',
      phase: 'verify',
      version: 3,
      sinceMs: 0,
      by: 'operator',
      rev: 1,
    };
    const begin: StepChecks = {
      migration: GOD_RECORD,
      state: undefined,
      states: [other],
      fleet: [],
      nowMs: 0,
      ...holding({ uuid: 'demo#a', type: 'ORDER#1' }, { uuid: 'demo#a', type: 'PROFILE' }),
    };
    expect(await objections(begin, 'FORWARD')).toEqual([
      'metrics-split is under way: one migration at a time.',
      'The table already has items in the new shape (demo#a PROFILE is one).',
    ]);
    expect(
      await objections({ ...begin, states: [{ ...other, phase: 'done' }], ...holding() }, 'FORWARD'),
    ).toEqual([]);
  });

  it('have neighbours that write every shape which the other reads', () => {
    for (const phase of PHASES) {
      const next = phaseAfter(phase);
      if (next === undefined) continue;
      for (const [one, other] of [
        [phase, next],
        [next, phase],
      ] as const) {
        const { reads } = policyOf(other);
        // In off nothing has moved, so what it would write of a moved record is of no account.
        if (one !== 'off' && other !== 'off') expect(['BOTH', reads]).toContain(policyOf(one).writes);
      }
    }
  });
});
