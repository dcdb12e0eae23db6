import { composeLedger } from './compose-ledger.ts';
import { ConfigError } from './config-error.ts';
import { loadConfig } from './config.ts';
import { startBackground } from './fulfilment/background.ts';

/**
 * The worker as a program (`npm run worker`): the due-loop and the sweeper without the server, for as many processes as
 * the load needs. On SIGTERM it finishes what runs, or gives it back, and ends.
 */
function main(): void {
  const { ledger, registry, metrics, logger, close } = composeLedger(loadConfig());
  const background = startBackground(ledger, registry, { metrics, logger });
  logger.info('working');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      logger.info('stopping', { signal });
      void background.stop().then(() => {
        close();
        process.exit(0);
      });
    });
  }
}

try {
  main();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
