import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DEVELOPMENT_STRIPE_SECRET_KEY, DEVELOPMENT_STRIPE_WEBHOOK_SECRET } from '../../src/config/config.ts';
import { createDynamoDbClient } from '../../src/ledger/table/dynamodb.ts';
import { createTable } from '../../src/ledger/table/table.ts';
import { type FaultProxy, startFaultProxy } from '../../test/support/fault-proxy.ts';
import { type KillableGateway, startKillableGateway } from '../../test/support/killable-fleet.ts';
import { seededFractions } from '../../test/support/seeded.ts';
import { startDynoxide } from '../engine/engine.ts';
import { freePort } from '../engine/free-port.ts';
import { type StripeSimulator, startStripeSimulator } from '../stripe-simulator/server.ts';
import { type Books, readBooks } from './books.ts';
import { putProduct } from './clients.ts';

/** How much is done: all of it, or enough to see that it works. */
export type Extent = 'full' | 'short';

/** The whole product as processes of its own: everything that an attack needs, and nobody else uses. */
export interface ProvingGround {
  /** Two gateways on one table; what goes wrong with the table goes wrong for the first of them. */
  readonly gatewayUrls: readonly [behindFaults: string, direct: string];
  readonly faults: FaultProxy;
  readonly simulator: StripeSimulator;
  readonly webhookUrl: string;
  readonly table: { readonly client: DynamoDBClient; readonly tableName: string };
  /** All that stands in the table now. */
  readonly books: () => Promise<Books>;
  /** SIGKILL; resolves when it runs again and answers. The gateway is the second one. */
  readonly killAndRestart: (victim: 'gateway' | 'engine' | 'worker') => Promise<void>;
  /** Runs an operator's command on this table, to its end. */
  readonly command: (program: string, ...words: readonly string[]) => Promise<Ran>;
  /** How many of a thing, by the extent of the run. */
  readonly size: (full: number, short: number) => number;
  /** Numbers that the seed decides. */
  readonly fraction: () => number;
}

export interface Ran {
  readonly code: number;
  readonly output: string;
}

export interface StartedGround extends ProvingGround {
  readonly stop: () => Promise<void>;
}

const ROOT = join(import.meta.dirname, '..', '..');
const TABLE_NAME = 'payments';
export const COFFEE = { sku: 'coffee', price: 480 } as const;
const COMMAND_TIMEOUT_MS = 60_000;

/** Starts engine, fault proxy, simulator, two gateways and a worker, each on a free port of 127.0.0.1. */
export async function startProvingGround(extent: Extent, seed: number): Promise<StartedGround> {
  const stops: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const stopOne of stops.splice(0).reverse()) await stopOne();
  };
  try {
    return { ...(await start(extent, seed, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  extent: Extent,
  seed: number,
  stops: (() => Promise<void> | void)[],
): Promise<ProvingGround> {
  const engine = await startEngine(stops);
  const client = createDynamoDbClient({ region: 'local', endpoint: engine.endpoint });
  stops.push(() => {
    client.destroy();
  });
  await createTable(client, { tableName: TABLE_NAME, streams: false, protectedFromLoss: false });
  const faults = await startFaultProxy({ target: engine.endpoint });
  stops.push(faults.stop);
  const simulator = await startStripeSimulator({
    secretKey: DEVELOPMENT_STRIPE_SECRET_KEY,
    webhookSecret: DEVELOPMENT_STRIPE_WEBHOOK_SECRET,
    seed: String(seed),
  });
  stops.push(simulator.close);
  const environment = { STRIPE_API_BASE: simulator.url, WORKER: 'off' };
  const onTable = { tableName: TABLE_NAME, environment };
  const [behindFaults, direct, worker] = await allStarted(stops, [
    startKillableGateway({ ...onTable, engineEndpoint: faults.endpoint }),
    startKillableGateway({ ...onTable, engineEndpoint: engine.endpoint }),
    startKillableGateway({ ...onTable, engineEndpoint: engine.endpoint, program: 'src/worker.ts' }),
  ]);
  const webhookUrl = `${direct.url}/webhooks/stripe`;
  await simulator.setWebhooks({ on: true, url: webhookUrl });
  await putProduct(direct.url, COFFEE.sku, String(COFFEE.price));
  const restart = async (process: KillableGateway): Promise<void> => {
    await process.kill();
    await process.restart();
  };
  return {
    gatewayUrls: [behindFaults.url, direct.url],
    faults,
    simulator,
    webhookUrl,
    table: { client, tableName: TABLE_NAME },
    books: () => readBooks(client, TABLE_NAME),
    killAndRestart: (victim) =>
      victim === 'engine' ? engine.restart() : restart(victim === 'gateway' ? direct : worker),
    command: (program, ...words) => run(program, words, { endpoint: engine.endpoint, stripe: simulator.url }),
    size: (full, short) => (extent === 'full' ? full : short),
    fraction: seededFractions(seed),
  };
}

/** Starts them at the same time; if one doesn't start, those that did are still stopped. */
async function allStarted(
  stops: (() => Promise<void> | void)[],
  starting: readonly [Promise<KillableGateway>, Promise<KillableGateway>, Promise<KillableGateway>],
): Promise<readonly [KillableGateway, KillableGateway, KillableGateway]> {
  for (const one of starting) void one.then(({ stop }) => stops.push(stop)).catch(() => undefined);
  await Promise.allSettled(starting);
  return await Promise.all(starting);
}

interface KillableEngine {
  readonly endpoint: string;
  readonly restart: () => Promise<void>;
}

/** An engine on a file, so that it comes back with what it acknowledged. */
async function startEngine(stops: (() => Promise<void> | void)[]): Promise<KillableEngine> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hitotsu-prove-'));
  stops.push(() => rm(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  let engine = await startDynoxide({ dataDir, port });
  stops.push(() => engine.stop());
  return {
    endpoint: engine.endpoint,
    restart: async () => {
      process.kill(engine.pid, 'SIGKILL');
      // It has ended already or is about to: this waits until it has.
      await engine.stop();
      engine = await startDynoxide({ dataDir, port });
    },
  };
}

function run(
  program: string,
  words: readonly string[],
  { endpoint, stripe }: { readonly endpoint: string; readonly stripe: string },
): Promise<Ran> {
  const env = {
    PATH: process.env['PATH'],
    DYNAMODB_ENDPOINT: endpoint,
    TABLE_NAME,
    STRIPE_API_BASE: stripe,
    LOG_LEVEL: 'silent',
  };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', program, ...words],
      { cwd: ROOT, env, timeout: COMMAND_TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, output: code === 0 || code === 1 ? stdout : stdout + stderr });
      },
    );
  });
}
