import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { backfill } from '../../../src/migrations/backfill.ts';
import type { Migration } from '../../../src/migrations/legacy-record.ts';
import { GOD_RECORD, METRICS_SPLIT } from '../../../src/migrations/manifests.ts';
import { findItem } from '../../../src/migrations/scan.ts';
import { takeStep } from '../../../src/migrations/steps.ts';
import { unmovedRecords } from '../../../src/migrations/toolkit.ts';
import { verify } from '../../../src/migrations/verify.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { legacyCustomers, legacyMetrics, seedLegacy } from '../../support/legacy-records.ts';
import { type Gateway, startGateway, step, toolkitOf } from '../../support/migrating-fleet.ts';
import { directChannel } from '../../support/migration-channel.ts';
import { type ModelAccount, disagreement } from '../../support/migration-customers.ts';
import { type Traffic, startTraffic } from '../../support/migration-traffic.ts';

const REQUESTS = 5;
const WALK = { segments: 3, pageSize: 7 };

describe.each([GOD_RECORD, METRICS_SPLIT])(
  'migration $id, with traffic the whole time',
  (migration: Migration) => {
    let harness: Harness;
    let gateways: readonly Gateway[];
    let accounts: readonly ModelAccount[];
    let traffic: Traffic;

    beforeAll(async () => {
      harness = await makeHarness({ endpoint: inject('engineEndpoint') });
      const { ledger, clock } = harness;
      const options = { count: 24, seed: 7, atMs: clock.nowMs() - 1_000 };
      const legacy = migration === GOD_RECORD ? legacyCustomers(options) : legacyMetrics(options, ledger.ids);
      await seedLegacy(ledger.transactor, ledger.ids, legacy);
      accounts = legacy.map(({ tenant, accountId, amounts, profile }) => ({
        tenant,
        accountId,
        amounts: { ...amounts },
        profile,
      }));
      const created = Array.from({ length: 1 }, (_, index) => ({
        tenant: 'demo',
        accountId: `created-${index}`,
        amounts: {},
        profile: {},
      }));
      await step(toolkitOf(harness), migration, 'FORWARD', []);
      gateways = [await startGateway(harness), await startGateway(harness)];
      traffic = startTraffic({
        channels: () => gateways.map((gateway) => directChannel(gateway.ledger)),
        accounts: [...accounts.slice(0, 3), ...created],
        seed: 1,
      });
    });
    afterAll(async () => {
      await traffic.stop();
      for (const { view } of gateways) await view.stop();
      harness.close();
    });

    /** Waits for requests in the middle of a step, with the gateways a phase apart, and after it; then audits. */
    async function forward(to: string): Promise<void> {
      const [first, second] = gateways;
      if (first === undefined || second === undefined) throw new Error('two gateways');
      const toolkit = toolkitOf(harness);
      const result = await takeStep(toolkit, migration, 'FORWARD');
      expect(result).toMatchObject({ kind: 'TAKEN', state: { phase: to } });
      await first.view.refresh();
      await traffic.whenServed(REQUESTS);
      const early = await takeStep(toolkit, migration, 'FORWARD');
      expect(early).toMatchObject({ kind: 'REFUSED' });
      await second.view.refresh();
      await traffic.whenServed(REQUESTS);
      await audited();
    }

    async function audited(): Promise<void> {
      const { store } = harness.ledger;
      const unmoved = await unmovedRecords(store);
      const report = await traffic.atRest(() =>
        auditTable(store, {
          segments: 2,
          wait: () => Promise.resolve(),
          ...(unmoved === undefined ? {} : { unmoved }),
        }),
      );
      expect({ ...report, failures: traffic.failures }).toMatchObject({
        problems: [],
        unsettled: [],
        failures: [],
      });
    }

    it(
      'serves every request, and model, parity and audit agree in every phase',
      { timeout: 120_000 },
      async () => {
        const toolkit = toolkitOf(harness);
        await traffic.whenServed(REQUESTS);
        await forward('expand');
        await forward('backfill');
        const walk = backfill(toolkit, migration, WALK);
        await traffic.whenServed(REQUESTS);
        expect(await walk).toMatchObject({ kind: 'FINISHED', left: 0 });
        expect(await backfill(toolkit, migration, WALK)).toMatchObject({
          kind: 'FINISHED',
          handled: 0,
          left: 0,
        });
        await forward('verify');
        expect(await verify(toolkit, migration, { segments: 2 })).toMatchObject({
          kind: 'VERIFIED',
          report: { unmoved: 0, differences: 0 },
        });
        await forward('read-new');

        await step(toolkit, migration, 'BACK', gateways);
        await traffic.whenServed(REQUESTS);
        await audited();
        expect(await verify(toolkit, migration, { segments: 2 })).toMatchObject({
          report: { differences: 0 },
        });
        await forward('read-new');

        expect(await takeStep(toolkit, migration, 'FORWARD')).toMatchObject({ kind: 'REFUSED' });
        expect(await verify(toolkit, migration, { segments: 2 })).toMatchObject({
          kind: 'VERIFIED',
          report: { unmoved: 0, differences: 0 },
        });
        await forward('contract');
        expect(await takeStep(toolkit, migration, 'BACK')).toMatchObject({ kind: 'REFUSED' });
        await forward('cleanup');
        expect(await backfill(toolkit, migration, WALK)).toMatchObject({ kind: 'FINISHED', left: 0 });
        await forward('done');

        await traffic.stop();
        expect(traffic.failures).toEqual([]);
        const [gateway] = gateways;
        for (const account of accounts) {
          expect(await disagreement(harness.ledger, account)).toBeUndefined();
          expect(await disagreement(gateway?.ledger ?? harness.ledger, account)).toBeUndefined();
        }
        const attributes = [migration.mark, ...Object.values(migration.amounts)];
        expect(
          await findItem(harness.ledger.store, (item) =>
            attributes.some((name) => name in item && name !== 'writes'),
          ),
        ).toBeUndefined();
      },
    );
  },
);
