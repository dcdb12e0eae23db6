import { setTimeout as delay } from 'node:timers/promises';
import {
  EXIT,
  type ExitCode,
  reachableTable,
  readWords,
  runCommandLine,
  stopOnSignal,
} from './cli/command-line.ts';
import { composeLedger } from './main/compose-ledger.ts';
import { serveHealth } from './main/health-server.ts';
import { ConfigError } from './config/config-error.ts';
import { loadConfig } from './config/config.ts';
import { createDynamoDbClient } from './ledger/table/dynamodb.ts';
import { createRelayCheckpoints } from './realtime/relay/relay-checkpoints.ts';
import { createChangeStream, createStreamsClient } from './realtime/relay/relay-stream.ts';
import { RELAY_DEFAULTS, startRelay } from './realtime/relay/relay.ts';

const HELP = `Usage: npm run relay

Tells subscribers, over REDIS_URL, what processes that were killed could not, until SIGTERM or Ctrl-C. It takes no words:
.env.example lists its variables. One works; a second waits for its lease. PORT serves its health and metrics: npm run relay
takes any free one unless it is given, and says which.

Examples:
  REDIS_URL=redis://127.0.0.1:6379 npm run relay

Exit codes: 0 stopped, 2 asked wrongly, 3 it could not start`;

/** The relay as a program: publishes the changes that killed processes committed but could not publish, until it's told to stop. */
function main(args: readonly string[]): ExitCode {
  readWords(args, {});
  const config = loadConfig();
  if (config.redisUrl === undefined) {
    throw new ConfigError([
      'REDIS_URL must be given: over a bus of its own the relay would speak to nobody.',
    ]);
  }
  const { name: tableName, region, endpoint } = reachableTable(config);
  const { ledger, metrics, logger, tableClock, close } = composeLedger(config);
  const table = createDynamoDbClient({ region, endpoint, clock: tableClock });
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
  let draining = false;
  serveHealth(config, { ledger, metrics, logger, isDraining: () => draining });
  logger.info('relaying');
  stopOnSignal(logger, async () => {
    draining = true;
    await relay.stop();
    await close();
  });
  return EXIT.done;
}

await runCommandLine(HELP, main);
