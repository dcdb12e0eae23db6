import { ConfigError } from './config/config-error.ts';
import { loadConfig } from './config/config.ts';
import { listenFailure } from './main/listen-failure.ts';
import { startServer } from './main/listen.ts';

/** The gateway as a program: listens until it's told to stop, then finishes what it has begun. */
async function main(): Promise<void> {
  const config = loadConfig();
  // Else it would listen, on the published secrets, and ask AWS for a table that isn't there.
  if (config.table.endpoint === undefined && !config.production) {
    throw new ConfigError([
      'DYNAMODB_ENDPOINT must be given unless NODE_ENV is production: only npm start brings an engine along.',
    ]);
  }
  const { app, url, close } = await startServer(config);
  app.logger.info('listening', { port: Number.parseInt(new URL(url).port, 10) });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      app.logger.info('stopping', { signal });
      void close().then(() => process.exit(0));
    });
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${describe(error)}\n`);
  process.exitCode = 1;
}

function describe(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  return listenFailure(error, 'PORT') ?? (error instanceof Error ? error.message : String(error));
}
