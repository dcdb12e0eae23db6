import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { backfill } from '../../../src/migrations/backfill.ts';
import type { Migration } from '../../../src/migrations/legacy-record.ts';
import { GOD_RECORD, METRICS_SPLIT } from '../../../src/migrations/manifests.ts';
import { stateKey } from '../../../src/migrations/state.ts';
import { type MigrationStepResult, takeStep } from '../../../src/migrations/steps.ts';
import { type Toolkit, readStates } from '../../../src/migrations/toolkit.ts';
import { verify } from '../../../src/migrations/verify.ts';
import { damage } from '../../support/damage.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { legacyCustomers, seedLegacy } from '../../support/legacy-records.ts';
import { startGateway, step, toolkitOf } from '../../support/migrating-fleet.ts';
import { type ModelAccount, disagreement } from '../../support/migration-customers.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
});
afterEach(() => {
  harness.close();
});

/** Toolkits of so many operators who have all judged before any of them writes. */
function atOneMoment(operators: number): readonly Toolkit[] {
  const toolkit = toolkitOf(harness);
  const { store, transactor } = toolkit.table;
  let judged = 0;
  let everybody: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    everybody = resolve;
  });
  return Array.from({ length: operators }, (_, index) => ({
    ...toolkit,
    operator: `operator ${index}`,
    table: {
      store,
      transactor: {
        commit: async (plan) => {
          judged += 1;
          if (judged === operators) everybody();
          await all;
          return transactor.commit(plan);
        },
      },
    },
  }));
}

function stepOf(toolkit: Toolkit | undefined, migration: Migration): Promise<MigrationStepResult> {
  if (toolkit === undefined) throw new Error('no operator');
  return takeStep(toolkit, migration, 'FORWARD');
}

describe('operators who take steps', () => {
  it('begin one migration at one moment between them, also where they chose different ones', async () => {
    const [one, other] = atOneMoment(2);
    const results = await Promise.all([stepOf(one, GOD_RECORD), stepOf(other, METRICS_SPLIT)]);
    expect(results.map(({ kind }) => kind).sort()).toEqual(['REFUSED', 'TAKEN']);
    const states = await readStates(harness.ledger.store);
    expect(states.map(({ phase }) => phase)).toEqual(['off']);
    const begun = states[0]?.id === GOD_RECORD.id ? GOD_RECORD : METRICS_SPLIT;
    const left = begun === GOD_RECORD ? METRICS_SPLIT : GOD_RECORD;
    expect(await stepOf(toolkitOf(harness), left)).toEqual({
      kind: 'REFUSED',
      reasons: [`${begun.id} is under way: one migration at a time.`],
    });
  });

  it('may begin the next migration once one is done', async () => {
    const toolkit = toolkitOf(harness);
    for (const phase of ['off', 'expand', 'backfill', 'verify', 'read-new', 'contract', 'cleanup', 'done']) {
      expect(await step(toolkit, METRICS_SPLIT, 'FORWARD', [])).toBe(phase);
      if (phase === 'backfill' || phase === 'cleanup')
        await backfill(toolkit, METRICS_SPLIT, { segments: 1 });
      if (phase === 'verify' || phase === 'read-new') await verify(toolkit, METRICS_SPLIT, { segments: 1 });
    }
    const [one, other] = atOneMoment(2);
    const results = await Promise.all([stepOf(one, GOD_RECORD), stepOf(other, GOD_RECORD)]);
    expect(results.map(({ kind }) => kind).sort()).toEqual(['REFUSED', 'TAKEN']);
  });

  it('may begin the next migration whoever finished the last one: only its state says that it is done', async () => {
    const toolkit = toolkitOf(harness);
    expect(await step(toolkit, METRICS_SPLIT, 'FORWARD', [])).toBe('off');
    await damage(harness, stateKey(METRICS_SPLIT.id), 'phase', { S: 'done' });
    expect(await stepOf(toolkit, GOD_RECORD)).toMatchObject({ kind: 'TAKEN', state: { phase: 'off' } });
  });

  it('find no gate to contract open past a record that came late, which is read where it is', async () => {
    const toolkit = toolkitOf(harness);
    const { ledger, clock } = harness;
    for (const phase of ['off', 'expand', 'backfill', 'verify', 'read-new']) {
      expect(await step(toolkit, GOD_RECORD, 'FORWARD', [])).toBe(phase);
      if (phase === 'backfill') await backfill(toolkit, GOD_RECORD, { segments: 1 });
      if (phase === 'verify') await verify(toolkit, GOD_RECORD, { segments: 1 });
    }
    // As a process would leave it that was stopped for more than a minute on its way to write in `expand`.
    const [late] = legacyCustomers({ count: 1, seed: 4, atMs: clock.nowMs() });
    if (late === undefined) throw new Error('no record');
    await seedLegacy(ledger.transactor, ledger.ids, [late]);
    const gateway = await startGateway(harness);
    const account: ModelAccount = { ...late, amounts: { ...late.amounts } };
    expect(await disagreement(gateway.ledger, account)).toBeUndefined();
    await verify(toolkit, GOD_RECORD, { segments: 1 });
    expect(await stepOf(toolkit, GOD_RECORD)).toEqual({
      kind: 'REFUSED',
      reasons: ['Records that have not moved: 1. Run "backfill god-record" again, in backfill or verify.'],
    });
  });

  it('take one step at one moment between them', async () => {
    await step(toolkitOf(harness), GOD_RECORD, 'FORWARD', []);
    const [one, other] = atOneMoment(2);
    const results = await Promise.all([stepOf(one, GOD_RECORD), stepOf(other, GOD_RECORD)]);
    expect(results.map(({ kind }) => kind).sort()).toEqual(['REFUSED', 'TAKEN']);
    expect(await readStates(harness.ledger.store)).toMatchObject([{ phase: 'expand', version: 2 }]);
  });
});
