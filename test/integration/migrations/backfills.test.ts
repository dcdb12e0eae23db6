import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { backfill } from '../../../src/migrations/backfill.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import type { Toolkit } from '../../../src/migrations/toolkit.ts';
import { verify } from '../../../src/migrations/verify.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { type LegacyAccount, legacyCustomers, seedLegacy } from '../../support/legacy-records.ts';
import { step, toolkitOf } from '../../support/migrating-fleet.ts';

const RECORDS = 20;
const WALK = { segments: 2, pageSize: 3 };

let harness: Harness;
let accounts: readonly LegacyAccount[];
beforeEach(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  const { transactor, ids } = harness.ledger;
  accounts = legacyCustomers({ count: RECORDS, seed: 17, atMs: harness.clock.nowMs() });
  await seedLegacy(transactor, ids, accounts);
  for (const phase of ['off', 'expand', 'backfill']) {
    expect(await step(toolkitOf(harness), GOD_RECORD, 'FORWARD', [])).toBe(phase);
  }
});
afterEach(() => {
  harness.close();
});

/** An operator who is interrupted before the first checkpoint is kept. */
function interrupted(interruption: () => Promise<void>): Toolkit {
  const toolkit = toolkitOf(harness);
  const { store, transactor } = toolkit.table;
  let done: Promise<void> | undefined;
  return {
    ...toolkit,
    table: {
      store,
      transactor: {
        commit: async (plan, hooks) => {
          if (JSON.stringify(plan.items).includes('"CHECKPOINT#')) await (done ??= interruption());
          return transactor.commit(plan, hooks);
        },
      },
    },
  };
}

async function openings(): Promise<number> {
  let found = 0;
  for (const { tenant, accountId } of accounts) found += (await harness.entries(tenant, accountId)).length;
  return found;
}

/** Of the twenty; the others hold nothing that would have to be booked. */
const HOLDING_SOMETHING = 13;

describe('two backfills at once', () => {
  it('move each record once: the one that is behind stops, and says why', async () => {
    const toolkit = toolkitOf(harness);
    const behind = await backfill(
      interrupted(async () => {
        expect(await backfill(toolkit, GOD_RECORD, WALK)).toMatchObject({
          kind: 'FINISHED',
          resumed: true,
          left: 0,
        });
      }),
      GOD_RECORD,
      WALK,
    );
    expect(behind).toEqual({
      kind: 'REFUSED',
      reasons: ['Another backfill is on the same walk: this one stopped. If both did, run it again.'],
    });
    expect(await verify(toolkit, GOD_RECORD, { segments: 1 })).toMatchObject({
      report: { records: RECORDS, unmoved: 0, differences: 0 },
    });
    expect(await openings()).toBe(HOLDING_SOMETHING);
  });

  it('leave the table to the next run as one alone would, if both stop', async () => {
    const toolkit = toolkitOf(harness);
    await Promise.all([backfill(toolkit, GOD_RECORD, WALK), backfill(toolkit, GOD_RECORD, WALK)]);
    expect(await backfill(toolkit, GOD_RECORD, WALK)).toMatchObject({ kind: 'FINISHED', left: 0 });
    expect(await verify(toolkit, GOD_RECORD, { segments: 1 })).toMatchObject({
      report: { records: RECORDS, unmoved: 0, differences: 0 },
    });
    expect(await openings()).toBe(HOLDING_SOMETHING);
  });

  it('are let alone by a verify, which waits for the end of a walk', async () => {
    const done = await backfill(
      interrupted(async () => {
        expect(await verify(toolkitOf(harness), GOD_RECORD, { segments: 1 })).toEqual({
          kind: 'REFUSED',
          reasons: ['A backfill is under way: run "backfill god-record" to its end first.'],
        });
      }),
      GOD_RECORD,
      WALK,
    );
    expect(done).toMatchObject({ kind: 'FINISHED', left: 0 });
  });

  it('stop when the phase changes, and nothing of the walk counts in the next stay', async () => {
    const toolkit = toolkitOf(harness);
    const stopped = await backfill(
      interrupted(async () => {
        expect(await step(toolkit, GOD_RECORD, 'BACK', [])).toBe('expand');
      }),
      GOD_RECORD,
      WALK,
    );
    expect(stopped).toEqual({
      kind: 'REFUSED',
      reasons: ['The phase changed while the backfill ran: it stopped.'],
    });
    expect(await step(toolkit, GOD_RECORD, 'FORWARD', [])).toBe('backfill');
    expect(await backfill(toolkit, GOD_RECORD, WALK)).toMatchObject({
      kind: 'FINISHED',
      resumed: false,
      left: 0,
    });
  });
});
