import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildServer, answersHttp, startChildServer } from '../../dev/engine/child-server.ts';
import { type Engine, startDynoxide } from '../../dev/engine/engine.ts';
import { freePort } from '../../dev/engine/free-port.ts';
import { createDynamoDbClient } from '../../src/ledger/table/dynamodb.ts';
import { createTable } from '../../src/ledger/table/table.ts';

export const TABLE_NAME = 'payments';

/** A gateway and an engine on a file, each a process of its own that can be killed and comes back where it was. */
export interface KillableFleet {
  readonly gatewayUrl: string;
  readonly engineEndpoint: string;
  /** SIGKILL: nothing is flushed, nothing is closed. Resolves when the process runs again and answers. */
  readonly killAndRestart: (victim: Victim) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export type Victim = 'gateway' | 'engine';

export async function startKillableFleet(): Promise<KillableFleet> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hitotsu-killer-'));
  const enginePort = await freePort();
  const startEngine = (): Promise<Engine> => startDynoxide({ dataDir, port: enginePort });
  let engine = await startEngine();
  const { endpoint } = engine;
  await makeTable(endpoint);
  const gatewayPort = await freePort();
  const startGateway = (): Promise<ChildServer> =>
    startGatewayProcess({ port: gatewayPort, engineEndpoint: endpoint, tableName: TABLE_NAME });
  let gateway = await startGateway();
  return {
    gatewayUrl: `http://127.0.0.1:${String(gatewayPort)}`,
    engineEndpoint: endpoint,
    killAndRestart: async (victim) => {
      const killed = victim === 'engine' ? engine : gateway;
      process.kill(killed.pid, 'SIGKILL');
      // It has ended already or is about to: this waits until it has.
      await killed.stop();
      if (victim === 'engine') engine = await startEngine();
      else gateway = await startGateway();
    },
    stop: async () => {
      await gateway.stop();
      await engine.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function makeTable(endpoint: string): Promise<void> {
  const client = createDynamoDbClient({ region: 'local', endpoint });
  await createTable(client, { tableName: TABLE_NAME, streams: false, protectedFromLoss: false });
  client.destroy();
}

interface GatewayProcess {
  readonly port: number;
  readonly engineEndpoint: string;
  readonly tableName: string;
  /** The gateway unless given. */
  readonly program?: 'src/server.ts' | 'src/worker.ts';
  /** Further variables of its own. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A gateway or worker of its own on a table that is there, which can be killed and comes back on the same port. */
export interface KillableGateway {
  readonly url: string;
  /** SIGKILL. Resolves once it has ended. */
  readonly kill: () => Promise<void>;
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startKillableGateway(table: Omit<GatewayProcess, 'port'>): Promise<KillableGateway> {
  const port = await freePort();
  let gateway = await startGatewayProcess({ ...table, port });
  return {
    url: `http://127.0.0.1:${String(port)}`,
    kill: async () => {
      process.kill(gateway.pid, 'SIGKILL');
      await gateway.stop();
    },
    restart: async () => {
      gateway = await startGatewayProcess({ ...table, port });
    },
    stop: () => gateway.stop(),
  };
}

/** The program as it runs in production, less its compilation. `env` gives way to it, so the child is the gateway. */
function startGatewayProcess(options: GatewayProcess): Promise<ChildServer> {
  const { port, engineEndpoint, tableName, program = 'src/server.ts', environment = {} } = options;
  return startChildServer({
    name: program === 'src/server.ts' ? 'the gateway' : 'the worker',
    command: 'env',
    args: (onPort) => [
      `PORT=${String(onPort)}`,
      'HOST=127.0.0.1',
      `DYNAMODB_ENDPOINT=${engineEndpoint}`,
      `TABLE_NAME=${tableName}`,
      'LOG_LEVEL=silent',
      ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      process.execPath,
      '--import',
      'tsx',
      program,
    ],
    workingDir: join(import.meta.dirname, '..', '..'),
    port,
    answers: answersHttp,
    startTimeoutMs: 60_000,
  });
}
