import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { GraphiQLOptions } from 'graphql-yoga';
import { graphiqlTabs } from './graphiql-tabs.ts';
import { GRAPHQL_PATH } from './graphql-server.ts';
import { CSRF_HEADER } from './graphql-route.ts';

/** The page brings all of itself: nothing is loaded from anywhere else. Its editor makes its workers from blobs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob:",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  'worker-src blob:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface GraphiqlPageOptions {
  /** A token that the page fills in: development only. */
  readonly token?: string | undefined;
}

/** Serves GraphiQL, with tabs that run as they are where a token is filled in. */
export function graphiqlPage({ token }: GraphiqlPageOptions): (request: Request) => Response {
  return (request) =>
    new Response(renderGraphiQL(optionsFor(token, new URL(request.url).origin)), {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'cache-control': 'no-store',
      },
    });
}

function optionsFor(token: string | undefined, origin: string): GraphiQLOptions {
  const shared: GraphiQLOptions = {
    title: 'Hitotsu',
    endpoint: GRAPHQL_PATH,
    method: 'POST',
    subscriptionsProtocol: 'SSE',
    additionalHeaders: { [CSRF_HEADER]: '1' },
  };
  if (token === undefined) return shared;
  const headers = JSON.stringify({ authorization: `Bearer ${token}` }, null, 2);
  // The first tab's own headers are ignored, so they are set for the page as well.
  return {
    ...shared,
    headers,
    defaultHeaders: headers,
    defaultTabs: graphiqlTabs(origin).map((query) => ({ query, headers })),
  };
}
