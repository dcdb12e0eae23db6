import { createHash } from 'node:crypto';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { GraphiQLOptions } from 'graphql-yoga';
import { graphiqlTabs } from './graphiql-tabs.ts';
import { GRAPHQL_PATH } from './graphql-server.ts';
import { CSRF_HEADER } from './unacceptable-request.ts';

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

/**
 * GraphiQL's tabs can be dragged into another order, and jump aside as soon as one is pressed: the button is released beside the
 * tab, which isn't opened then. So a press never reaches what would drag, and tabs stay where they are.
 */
const TABS_STAY = `<style>.graphiql-tabs > .graphiql-tab { transform: none !important; }</style>
  <script>
    addEventListener('pointerdown', (event) => {
      if (event.target instanceof Element && event.target.closest('.graphiql-tabs')) event.stopPropagation();
    }, true);
  </script>`;

/**
 * GraphiQL keeps its tabs, and what the editors hold, each a while after a change; where the two differ when the page is loaded
 * again, it shows the tab a second time. So the editors begin with what the tab that was open holds, or, where the address names a
 * query, the tab with that query. A query that no tab holds opens one of its own.
 */
const BEGIN_WITH_THE_OPEN_TAB = `<script>
    try {
      const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState'));
      const asked = new URL(location.href).searchParams.get('query');
      const holds = (tab) => tab !== undefined && (asked === null || (tab.query ?? '') === asked);
      const open = [tabs[activeTabIndex], ...tabs].find(holds);
      if (open !== undefined)
        for (const name of ['query', 'variables', 'headers']) localStorage.setItem('graphiql:' + name, open[name] ?? '');
    } catch {
      // Nothing is kept, or nothing that can be read: GraphiQL begins with its default tabs.
    }
  </script>`;

/** A document to open with, and who runs it. */
export interface GraphiqlTab {
  readonly query: string;
  readonly token: string;
}

/** What the page fills in: development only. */
export interface GraphiqlPageOptions {
  /** Who the page speaks for. */
  readonly token?: string | undefined;
  /** More tabs than the customer's, asked for whenever the page is served. */
  readonly moreTabs?: (() => readonly GraphiqlTab[]) | undefined;
}

/** Serves GraphiQL, with tabs that run as they are where a token is filled in. */
export function graphiqlPage(options: GraphiqlPageOptions): (request: Request) => Response {
  return (request) => {
    const settings = settingsFor(options, new URL(request.url).origin);
    const page = renderGraphiQL(settings).replace(
      '</head>',
      () => `${TABS_STAY}${forgetOldTabs(settings)}${BEGIN_WITH_THE_OPEN_TAB}</head>`,
    );
    return new Response(page, {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'cache-control': 'no-store',
      },
    });
  };
}

/**
 * The browser keeps tabs with their tokens, and shows them instead of those that the page brings. After another start they
 * name orders that aren't there and tokens that have expired, so only those of the same start are kept.
 */
function forgetOldTabs({ defaultTabs }: GraphiQLOptions): string {
  if (defaultTabs === undefined) return '';
  const start = createHash('sha256').update(JSON.stringify(defaultTabs)).digest('hex');
  return `<script>
    if (localStorage.getItem('hitotsu:start') !== '${start}') {
      for (const name of ['tabState', 'query', 'variables', 'headers']) localStorage.removeItem('graphiql:' + name);
      localStorage.setItem('hitotsu:start', '${start}');
    }
  </script>`;
}

function settingsFor({ token, moreTabs }: GraphiqlPageOptions, origin: string): GraphiQLOptions {
  const shared: GraphiQLOptions = {
    title: 'Hitotsu',
    endpoint: GRAPHQL_PATH,
    method: 'POST',
    subscriptionsProtocol: 'SSE',
    additionalHeaders: { [CSRF_HEADER]: '1' },
  };
  if (token === undefined) return shared;
  const tabs = [...graphiqlTabs(origin).map((query) => ({ query, token })), ...(moreTabs?.() ?? [])];
  const headers = headersOf(token);
  // The first tab's own headers are ignored, so they are set for the page as well.
  return {
    ...shared,
    headers,
    defaultHeaders: headers,
    defaultTabs: tabs.map((tab) => ({ query: tab.query, headers: headersOf(tab.token) })),
  };
}

function headersOf(token: string): string {
  return JSON.stringify({ authorization: `Bearer ${token}` }, null, 2);
}
