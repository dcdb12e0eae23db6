import { stopOnSignal } from './cli/command-line.ts';
import { ConfigError, startFailure } from './config/config-error.ts';
import { loadConfig } from './config/config.ts';
import { startServer } from './main/listen.ts';

/** The gateway as a program: listens until it's told to stop, then finishes the requests that it has begun. */
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
  stopOnSignal(app.logger, close);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${startFailure(error, 'PORT')}\n`);
  process.exitCode = 1;
}
