import { ConfigError } from '../src/config/config-error.ts';
import { loadConfig, type Config } from '../src/config/config.ts';
import { systemClock } from '../src/ledger/kernel/clock.ts';
import { createDynamoDbClient } from '../src/ledger/table/dynamodb.ts';
import { createTable } from '../src/ledger/table/table.ts';
import { type Engine, startDynoxide } from './engine/engine.ts';
import { startStripeSimulator } from './stripe-simulator/server.ts';

/** What the gateway needs around it on a laptop, running, and the configuration that leads to it. */
export interface BackingServices {
  readonly config: Config;
  /** The Stripe simulator, unless real Stripe keys are given. */
  readonly simulator?: { readonly url: string; readonly sendWebhooksTo: (url: string) => Promise<void> };
  /** Resolves when the embedded engine has ended without having been told to. */
  readonly engineLost: Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Who wants to know how the start gets on. */
export interface StartListener {
  /** The embedded engine answers; other processes may not use its data from its start on. */
  readonly engineStarted?: (pid: number) => void;
}

/**
 * Starts the embedded engine (unless DYNAMODB_ENDPOINT names one) and the Stripe simulator (unless STRIPE_SECRET_KEY is
 * given), and makes the table. Throws an Error in one sentence if something can't be had.
 */
export async function startBackingServices(
  environment: NodeJS.ProcessEnv,
  { engineStarted }: StartListener = {},
): Promise<BackingServices> {
  const given = loadConfig(environment);
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const stopOne of stops.reverse()) await stopOne();
  };
  try {
    const engine = given.table.endpoint === undefined ? await startEngine(given, stops) : undefined;
    if (engine !== undefined) engineStarted?.(engine.pid);
    const endpoint = given.table.endpoint ?? engine?.endpoint;
    const simulator = usesSimulator(environment) ? await startSimulator(given, stops) : undefined;
    const config = loadConfig({
      ...environment,
      DYNAMODB_ENDPOINT: endpoint,
      ...(simulator === undefined ? {} : { STRIPE_API_BASE: simulator.url }),
    });
    await makeTable(config);
    // Another engine than the embedded one is its operator's affair.
    const engineLost = engine?.lost ?? new Promise<void>(() => undefined);
    return { config, engineLost, stop, ...(simulator === undefined ? {} : { simulator }) };
  } catch (error) {
    await stop();
    throw error;
  }
}

function usesSimulator({ STRIPE_SECRET_KEY: key, STRIPE_API_BASE: base }: NodeJS.ProcessEnv): boolean {
  return (key === undefined || key === '') && (base === undefined || base === '');
}

async function startEngine({ dataDir }: Config, stops: (() => Promise<void>)[]): Promise<Engine> {
  const engine = await startDynoxide(dataDir === 'memory' ? {} : { dataDir });
  stops.push(engine.stop);
  return engine;
}

async function startSimulator(
  { stripe, stripeSimulatorPort, dataDir }: Config,
  stops: (() => Promise<void>)[],
): Promise<NonNullable<BackingServices['simulator']>> {
  const [webhookSecret = ''] = stripe.webhookSecrets;
  const simulator = await startStripeSimulator({
    port: stripeSimulatorPort,
    secretKey: stripe.secretKey,
    webhookSecret,
    clock: systemClock,
    ...(dataDir === 'memory' ? {} : { stateFile: `${dataDir}/stripe-simulator.json` }),
  });
  stops.push(simulator.close);
  return {
    url: simulator.url,
    sendWebhooksTo: async (url) => {
      await simulator.setWebhooks({ on: true, url });
    },
  };
}

async function makeTable({ table, production }: Config): Promise<void> {
  const client = createDynamoDbClient({ region: table.region, endpoint: table.endpoint });
  try {
    await createTable(client, { tableName: table.name, streams: false, protectedFromLoss: production });
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || table.endpoint === undefined) throw error;
    // What Node says of a connection; what a DynamoDB says has a name and no code.
    throw new ConfigError([
      `DYNAMODB_ENDPOINT names an address where no DynamoDB answers (${String(error.code)}).`,
    ]);
  } finally {
    client.destroy();
  }
}
