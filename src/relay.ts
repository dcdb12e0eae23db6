import { setTimeout as delay } from 'node:timers/promises';
import { composeLedger } from './compose-ledger.ts';
import { ConfigError } from './config-error.ts';
import { type Config, loadConfig } from './config.ts';
import { createDynamoDbClient } from './ledger/dynamodb.ts';
import { createRelayCheckpoints } from './realtime/relay-checkpoints.ts';
import { createChangeStream, createStreamsClient } from './realtime/relay-stream.ts';
import { RELAY_DEFAULTS, startRelay } from './realtime/relay.ts';

/** The relay as a program: publishes what killed processes could not, until it's told to stop. */
function main(config: Config): void {
  if (config.redisUrl === undefined) {
    throw new ConfigError([
      'REDIS_URL must be given: over a bus of its own the relay would speak to nobody.',
    ]);
  }
  const { ledger, logger, close } = composeLedger(config);
  const { name: tableName, region, endpoint } = config.table;
  const table = createDynamoDbClient({ region, endpoint });
  const relay = startRelay({
    ...RELAY_DEFAULTS,
    stream: createChangeStream({ table, streams: createStreamsClient({ region, endpoint }), tableName }),
    checkpoints: createRelayCheckpoints(table, tableName),
    bus: ledger.bus,
    clock: ledger.clock,
    ids: ledger.ids,
    logger,
    wait: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
  });
  logger.info('relaying');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      logger.info('stopping', { signal });
      void relay
        .stop()
        .then(close)
        .then(() => process.exit(0));
    });
  }
}

try {
  main(loadConfig());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
