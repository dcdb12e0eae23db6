import { type ServerType, createAdaptorServer } from '@hono/node-server';
import type { Config } from '../config/config.ts';
import type { Logger } from '../observability/logger.ts';
import { type HealthOptions, healthRoutes } from '../transport/health-routes.ts';

/** Stands in for the Host that an HTTP/1.0 health check doesn't send. */
export const DEFAULT_HOSTNAME = 'localhost';

/**
 * Serves the health and metrics of a process that serves nothing else, on the configured host and port. That it can't listen
 * is logged, and stops nothing: the work matters more than who watches it.
 */
export function serveHealth(config: Pick<Config, 'host' | 'port'>, options: HealthOptions): ServerType {
  const logger: Logger = options.logger;
  const server = createAdaptorServer({ fetch: healthRoutes(options).fetch, hostname: DEFAULT_HOSTNAME });
  server.on('error', (error) => {
    logger.warn('health and metrics are not served', { port: config.port }, error);
  });
  server.listen(config.port, config.host, () => {
    const address = server.address();
    const { port } = typeof address === 'object' && address !== null ? address : config;
    logger.info('health and metrics are served', { port });
  });
  return server;
}
