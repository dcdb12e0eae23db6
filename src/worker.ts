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
import { loadConfig } from './config/config.ts';
import { startBackground } from './fulfilment/worker.ts';

const HELP = `Usage: npm run worker

Does what paid orders still need and asks Stripe about what waits, without the gateway, until SIGTERM or Ctrl-C. It takes no
words: .env.example lists its variables. PORT serves its health and metrics: npm run worker takes any free one unless it is
given, and says which.

Examples:
  npm run worker
  PORT=4001 LOG_LEVEL=debug npm run worker

Exit codes: 0 stopped, 2 asked wrongly, 3 it could not start`;

/**
 * The worker as a program (`npm run worker`): the due-loop and the sweeper without the server, for as many processes as
 * the load needs. On SIGTERM it finishes what runs, or gives it back, and ends. PORT serves its health and metrics.
 */
function main(args: readonly string[]): ExitCode {
  readWords(args, {});
  const config = loadConfig();
  reachableTable(config);
  const { ledger, registry, wakeUps, metrics, logger, close } = composeLedger(config);
  const background = startBackground(ledger, registry, { wakeUps, metrics, logger, sweeper: config.sweeper });
  let draining = false;
  serveHealth(config, { ledger, metrics, logger, isDraining: () => draining });
  logger.info('working');
  stopOnSignal(logger, async () => {
    draining = true;
    await background.stop();
    await close();
  });
  return EXIT.done;
}

await runCommandLine(HELP, main);
