import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { plan } from '../../../src/ledger/items/plan.ts';
import type { Store } from '../../../src/ledger/table/store.ts';
import { backfill } from '../../../src/migrations/backfill.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { COUNTS_FOR_MS, putHeartbeat } from '../../../src/migrations/state.ts';
import { takeStep } from '../../../src/migrations/steps.ts';
import { createMigrationView } from '../../../src/migrations/view.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { legacyCustomers, seedLegacy } from '../../support/legacy-records.ts';
import { startGateway, step, toolkitOf } from '../../support/migrating-fleet.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
});
afterEach(() => {
  harness.close();
});

async function forward(...phases: readonly string[]): Promise<void> {
  for (const phase of phases) expect(await step(toolkitOf(harness), GOD_RECORD, 'FORWARD', [])).toBe(phase);
}

describe('the fleet, as a step sees it', () => {
  it('has everybody in it once a migration has lasted a minute, who must have heard of it by then', async () => {
    const toolkit = toolkitOf(harness);
    const { clock } = harness;
    expect(await takeStep(toolkit, GOD_RECORD, 'FORWARD')).toMatchObject({ kind: 'TAKEN' });
    clock.advance(COUNTS_FOR_MS - 1);
    expect(await takeStep(toolkit, GOD_RECORD, 'FORWARD')).toEqual({
      kind: 'REFUSED',
      reasons: ['A process that has not heard of it yet may still be writing: off lasts 60 s at least.'],
    });
    clock.advance(1);
    expect(await takeStep(toolkit, GOD_RECORD, 'FORWARD')).toMatchObject({ kind: 'TAKEN' });
  });

  it('is joined anew by a process that was silent, before it acts on anything', async () => {
    await forward('off');
    const { ledger, clock } = harness;
    const meanwhile: (() => Promise<void>)[] = [];
    const store: Store = {
      ...ledger.store,
      query: async (request) => {
        const items = await ledger.store.query(request);
        await meanwhile.shift()?.();
        return items;
      },
    };
    const view = createMigrationView({ ...ledger, store });
    await view.refresh();
    clock.advance(COUNTS_FOR_MS);
    meanwhile.push(
      // Between its reading of the state and what it tells of it.
      () => forward('expand', 'backfill'),
      // It has told that it is there, and read the state for good.
      async () => {
        expect(await takeStep(toolkitOf(harness), GOD_RECORD, 'BACK')).toEqual({
          kind: 'REFUSED',
          reasons: [
            expect.stringMatching(/^Process .* is still joining, or does not know this migration\.$/),
          ],
        });
      },
    );
    await view.refresh();
    expect(meanwhile).toEqual([]);
    expect(await view.act((acting) => Promise.resolve(acting?.phase))).toBe('backfill');
  });

  it('hears of a step from a process only once no work of the step before is left in it', async () => {
    await forward('off', 'expand');
    const { store } = harness.ledger;
    const { view } = await startGateway(harness);
    let end: () => void = () => undefined;
    const work = view.act(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    await forward('backfill');
    const refreshed = view.refresh();
    let phase: string | undefined;
    do {
      await store.get([{ uuid: 'demo#alice', type: 'PROFILE' }]);
      phase = await view.act((acting) => Promise.resolve(acting?.phase));
    } while (phase !== 'backfill');
    const stepBack = (): ReturnType<typeof takeStep> => takeStep(toolkitOf(harness), GOD_RECORD, 'BACK');
    expect(await stepBack()).toEqual({
      kind: 'REFUSED',
      reasons: [expect.stringMatching(/^Process .* still acts on an earlier step\.$/)],
    });
    end();
    await Promise.all([work, refreshed]);
    expect(await stepBack()).toMatchObject({ kind: 'TAKEN', state: { phase: 'expand' } });
  });

  it('counts a living process behind however many dead ones', async () => {
    await forward('off');
    const { transactor, ids } = harness.ledger;
    const atMs = harness.clock.nowMs() - COUNTS_FOR_MS;
    for (let hundreds = 0; hundreds < 10; hundreds += 1) {
      const dead = Array.from({ length: 100 }, (_, index) =>
        // A name that sorts before every token.
        putHeartbeat({ process: `!${hundreds * 100 + index}`, atMs }),
      );
      expect(await transactor.commit(plan(ids.token(), { items: dead }))).toEqual({ kind: 'COMMITTED' });
    }
    await startGateway(harness);
    await forward('expand');
    expect(await takeStep(toolkitOf(harness), GOD_RECORD, 'FORWARD')).toMatchObject({ kind: 'REFUSED' });
  });

  it('is not complete while a release runs that does not know the migration', async () => {
    const unknown = { ...GOD_RECORD, id: 'later' };
    const toolkit = toolkitOf(harness);
    await step(toolkit, unknown, 'FORWARD', []);
    await startGateway(harness);
    expect(await takeStep(toolkit, unknown, 'FORWARD')).toEqual({
      kind: 'REFUSED',
      reasons: [expect.stringMatching(/^Process .* is still joining, or does not know this migration\.$/)],
    });
  });

  it('has a backfill in it, so that no record moves in `off`', async () => {
    const { ledger } = harness;
    const toolkit = toolkitOf(harness);
    const [account] = legacyCustomers({ count: 1, seed: 2, atMs: harness.clock.nowMs() });
    if (account === undefined) throw new Error('no account');
    await seedLegacy(ledger.transactor, ledger.ids, [account]);
    await forward('off', 'expand', 'backfill');
    const back: string[] = [];
    let moving: Promise<void> | undefined;
    const store: Store = {
      ...ledger.store,
      query: async (request) => {
        // The walk looks for the record's entries: it is about to move it.
        if (request.prefix === 'ENTRY#') {
          moving ??= (async () => {
            for (let steps = 0; steps < 2; steps += 1) {
              back.push((await takeStep(toolkit, GOD_RECORD, 'BACK')).kind);
            }
          })();
          await moving;
        }
        return ledger.store.query(request);
      },
    };
    const stopped = await backfill({ ...toolkit, table: { ...toolkit.table, store } }, GOD_RECORD, {
      segments: 1,
    });
    expect(stopped).toMatchObject({ kind: 'REFUSED' });
    expect(back).toEqual(['TAKEN', 'REFUSED']);
    expect(await takeStep(toolkit, GOD_RECORD, 'BACK')).toMatchObject({
      kind: 'REFUSED',
      reasons: [expect.stringContaining('Records have moved')],
    });
  });
});
