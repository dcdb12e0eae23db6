import type { MiddlewareHandler } from 'hono';
import type { Config } from '../config/config.ts';
import { isAllowedOrigin, isLoopback, parseUrl } from '../config/urls.ts';
import { refusal } from './responses.ts';

/** What the names in a request's `Host` and `Origin` headers must be, over HTTP and for sockets. */
export interface CallerRules {
  /** Whether the server goes by the name in a `Host` header. */
  readonly isOwnHost: (header: string | undefined) => boolean;
  /** Whether a web page of this origin may call, beside the gateway's own. */
  readonly isAllowedOrigin: (origin: string) => boolean;
}

/**
 * In production a balancer decides which names lead here. In development GraphiQL hands out tokens, and a foreign page can point
 * a name of its own at this machine (DNS rebinding): the page's origin is then the gateway's. So only this machine's names count,
 * and the address that it listens on.
 */
export function callerRules(config: Pick<Config, 'production' | 'host' | 'corsOrigins'>): CallerRules {
  const { production, host } = config;
  return {
    isOwnHost: (header) => {
      // Node refuses HTTP/1.1 without one. What HTTP/1.0 sends is no browser's.
      if (production || header === undefined) return true;
      const url = parseUrl(`http://${header}`);
      return url !== undefined && (isLoopback(url) || url.hostname.replace(/^\[|\]$/g, '') === host);
    },
    isAllowedOrigin: (origin) => isAllowedOrigin(origin, config),
  };
}

/** Refuses requests that name a foreign host. */
export function refuseForeignHosts(isOwnHost: CallerRules['isOwnHost']): MiddlewareHandler {
  return async (context, next) => {
    if (!isOwnHost(context.req.header('host')))
      return refusal(421, 'BAD_REQUEST', 'This server does not go by that name in development.');
    await next();
    return undefined;
  };
}
