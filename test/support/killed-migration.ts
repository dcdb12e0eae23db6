import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/ledger/kernel/clock.ts';
import { encodeNodeId } from '../../src/ledger/items/node-ids.ts';
import { type AuditReport, auditTable } from '../../src/ledger/usecases/audit/audit-ledger.ts';
import { GOD_RECORD } from '../../src/migrations/manifests.ts';
import type { Heartbeat } from '../../src/migrations/state.ts';
import { type Direction, type MigrationStepResult, takeStep } from '../../src/migrations/steps.ts';
import { readFleet, readStates, unmovedRecords } from '../../src/migrations/toolkit.ts';
import { type MigrateCommand, migrateCommand } from './migrate-command.ts';
import { type Harness, makeHarness } from './harness.ts';
import { type KillableGateway, startKillableGateway } from './killable-fleet.ts';
import { legacyCustomers, seedLegacy } from './legacy-records.ts';
import { step, toolkitOf } from './migrating-fleet.ts';
import { type Charged, type ModelAccount, disagreement } from './migration-customers.ts';
import { type HttpChannel, httpChannel } from './migration-http.ts';
import { type Traffic, startTraffic } from './migration-traffic.ts';

/** A table in the old shape, two gateways on it in processes of their own, and customers who know of both. */
export interface KilledMigration {
  readonly harness: Harness;
  readonly command: MigrateCommand;
  readonly accounts: readonly ModelAccount[];
  readonly traffic: Traffic;
  /** Requests that a gateway left without an answer. */
  readonly lost: () => number;
  /** Kills a gateway while a request is on its way to it. Gives the last that was heard of it. */
  readonly kill: (gateway: 0 | 1) => Promise<Heartbeat>;
  /** Starts it again; resolves once it is one of the fleet. */
  readonly restart: (gateway: 0 | 1) => Promise<void>;
  /** What was heard of a process that isn't a gateway: a backfill. */
  readonly stranger: () => Promise<Heartbeat>;
  /** Resolves once every gateway that lives acts on the step of now, and was heard of since the last kill. */
  readonly whenSettled: () => Promise<void>;
  /** Takes a step as an operator so long after a process was last heard of; real time would make a test wait for it. */
  readonly stepAfter: (dead: Heartbeat, ms: number, direction?: Direction) => Promise<MigrationStepResult>;
  /** While no request is on its way. */
  readonly audit: () => Promise<AuditReport>;
  readonly stop: () => Promise<void>;
}

export interface KilledMigrationOptions {
  readonly endpoint: string;
  readonly records: number;
  /** How many of them are customers at work; one more account is created meanwhile. */
  readonly customers: number;
  readonly seed: number;
}

export async function startKilledMigration(options: KilledMigrationOptions): Promise<KilledMigration> {
  const { endpoint, records, customers, seed } = options;
  const harness = await makeHarness({ endpoint, clock: { ...systemClock, advance: () => undefined } });
  const { ledger, tableName } = harness;
  const legacy = legacyCustomers({ count: records, seed, atMs: systemClock.nowMs() - 1_000 });
  await seedLegacy(ledger.transactor, ledger.ids, legacy);
  const command = migrateCommand({ endpoint, tableName });
  await step(toolkitOf(harness), GOD_RECORD, 'FORWARD', []);
  const created = { tenant: 'demo', accountId: `created-${seed}`, amounts: {}, profile: {} };
  const accounts: readonly ModelAccount[] = [
    ...legacy.map(({ tenant, accountId, amounts, profile }) => ({
      tenant,
      accountId,
      amounts: { ...amounts },
      profile,
    })),
    created,
  ];
  const table = { engineEndpoint: endpoint, tableName };
  const gateways = await Promise.all([startKillableGateway(table), startKillableGateway(table)]);
  const channels = [httpChannel(gateways[0].url), httpChannel(gateways[1].url)] as const;
  const traffic = startTraffic({
    channels: () => channels,
    accounts: [...accounts.slice(0, customers), created],
    seed,
    paceMs: PACE_MS,
  });
  const fleet = createFleet(harness, gateways, channels);
  await fleet.join(gateways.length);
  return {
    ...fleet,
    harness,
    command,
    accounts,
    traffic,
    lost: () => channels.reduce((sum, channel) => sum + channel.lost(), 0),
    stepAfter: (dead, ms, direction = 'FORWARD') => {
      const clock = { nowMs: () => dead.atMs + ms };
      return takeStep({ ...toolkitOf(harness), clock }, GOD_RECORD, direction);
    },
    audit: async () => {
      const unmoved = await unmovedRecords(ledger.store);
      return traffic.atRest(() =>
        auditTable(ledger.store, {
          segments: 2,
          wait: (ms) => delay(ms),
          ...(unmoved === undefined ? {} : { unmoved }),
        }),
      );
    },
    stop: async () => {
      command.stop();
      await traffic.stop();
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      harness.close();
    },
  };
}

type Fleet = Pick<KilledMigration, 'kill' | 'restart' | 'stranger' | 'whenSettled'> & {
  /** Resolves once so many processes have joined of which nobody knew. */
  readonly join: (processes: number) => Promise<void>;
};

function createFleet(
  { ledger: { store } }: Harness,
  gateways: readonly [KillableGateway, KillableGateway],
  channels: readonly [HttpChannel, HttpChannel],
): Fleet {
  const alive = new Set<string>();
  const known = new Set<string>();
  let killedAtMs = 0;
  // At the beginning of time every heartbeat that was ever written counts.
  const heard = (): Promise<readonly Heartbeat[]> => readFleet(store, 0);
  const join = (processes: number): Promise<void> =>
    until(async () => {
      const joined = (await heard()).filter(
        ({ process, actsOn }) => !known.has(process) && actsOn !== undefined,
      );
      if (joined.length < processes) return undefined;
      for (const { process } of joined) {
        known.add(process);
        alive.add(process);
      }
      return true;
    }).then(() => undefined);
  return {
    join,
    kill: async (gateway) => {
      await channels[gateway].whenBusy();
      await gateways[gateway].kill();
      killedAtMs = systemClock.nowMs();
      const dead = await until(async () => {
        const silent = (await heard()).filter(
          ({ process, atMs }) => alive.has(process) && atMs <= killedAtMs,
        );
        return silent.length === 1 ? silent[0] : undefined;
      });
      alive.delete(dead.process);
      return dead;
    },
    restart: async (gateway) => {
      for (const { process } of await heard()) known.add(process);
      await gateways[gateway].restart();
      await join(1);
    },
    stranger: () => until(async () => (await heard()).find(({ process }) => !known.has(process))),
    whenSettled: async () => {
      const [state] = await readStates(store);
      await until(async () => {
        const living = (await heard()).filter(({ process }) => alive.has(process));
        const settled = living.filter(
          ({ atMs, actsOn }) => atMs > killedAtMs && actsOn?.version === state?.version,
        );
        return settled.length === alive.size ? true : undefined;
      });
    },
  };
}

const POLL_MS = 50;
/** Slow enough that a machine with two cores has time for everything else that runs. */
const PACE_MS = 60;

/** What a question is answered with, once it is. */
export async function until<Value>(ask: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await delay(POLL_MS);
  }
}

/** What must be empty when everything is over: charges without their entry, orders charged twice, accounts that are off. */
export async function aftermath({ harness, accounts, traffic }: KilledMigration): Promise<{
  readonly missing: readonly string[];
  readonly doubled: readonly string[];
  readonly wrong: readonly string[];
}> {
  const { ledger } = harness;
  const charges: Charged[] = [];
  const wrong: string[] = [];
  for (const account of accounts) {
    const { tenant, accountId } = account;
    const problem = await disagreement(ledger, account);
    if (problem !== undefined) wrong.push(`${accountId}: ${problem}`);
    for (const entry of await harness.entries(tenant, accountId)) {
      if (entry.operation !== 'CHARGE') continue;
      const entryId = encodeNodeId('Entry', tenant, accountId, entry.entryId);
      charges.push({ entryId, orderId: encodeNodeId('Order', tenant, accountId, entry.orderId ?? '') });
    }
  }
  const entryIds = new Set(charges.map(({ entryId }) => entryId));
  const orderIds = charges.map(({ orderId }) => orderId);
  return {
    missing: traffic.charged.map(({ entryId }) => entryId).filter((entryId) => !entryIds.has(entryId)),
    doubled: orderIds.filter((orderId, index) => orderIds.indexOf(orderId) !== index),
    wrong,
  };
}
