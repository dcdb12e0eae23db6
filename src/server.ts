import { ConfigError } from './config-error.ts';
import { loadConfig } from './config.ts';
import { startServer } from './listen.ts';

/** The gateway as a program: listens until it's told to stop, then finishes what it has begun. */
async function main(): Promise<void> {
  const { app, url, close } = await startServer(loadConfig());
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
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
    return 'PORT names a port that is taken.';
  return error instanceof Error ? error.message : String(error);
}
