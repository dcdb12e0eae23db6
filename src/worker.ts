import { createAdaptorServer } from '@hono/node-server';
import { composeLedger } from './compose-ledger.ts';
import { ConfigError } from './config-error.ts';
import { loadConfig } from './config.ts';
import { startBackground } from './fulfilment/background.ts';
import { healthRoutes } from './transport/health-routes.ts';

/**
 * The worker as a program (`npm run worker`): the due-loop and the sweeper without the server, for as many processes as
 * the load needs. On SIGTERM it finishes what runs, or gives it back, and ends. PORT serves its health and metrics.
 */
function main(): void {
  const config = loadConfig();
  const { ledger, registry, wakeUps, metrics, logger, close } = composeLedger(config);
  const background = startBackground(ledger, registry, { wakeUps, metrics, logger, sweeper: config.sweeper });
  let draining = false;
  const health = healthRoutes({ ledger, metrics, logger, isDraining: () => draining });
  const server = createAdaptorServer({ fetch: health.fetch });
  server.on('error', (error) => {
    // On a laptop the gateway has the port. Steps matter more than who watches them.
    logger.warn('health and metrics are not served', { port: config.port }, error);
  });
  server.listen(config.port, config.host);
  logger.info('working');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      logger.info('stopping', { signal });
      draining = true;
      void background
        .stop()
        .then(close)
        .then(() => process.exit(0));
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
