import { createHash } from 'node:crypto';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { GraphiQLOptions } from 'graphql-yoga';
import { GRAPHQL_PATH } from './graphql-server.ts';
import { CSRF_HEADER } from './unacceptable-request.ts';

/** The page contains all that it needs: nothing is loaded from elsewhere. Its editor makes its workers from blobs. */
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
 * GraphiQL's tabs can be dragged into another order. A pressed tab jumps away at once, so the button is released beside it, and
 * the tab isn't opened. So a press never reaches the code that drags, and tabs stay where they are.
 */
const TABS_STAY = `<style>.graphiql-tabs > .graphiql-tab { transform: none !important; }</style>
  <script>
    addEventListener('pointerdown', (event) => {
      if (event.target instanceof Element && event.target.closest('.graphiql-tabs')) event.stopPropagation();
    }, true);
  </script>`;

/**
 * GraphiQL stores its tabs and the text of its editors at different times. If the two differ when the page is loaded again, it
 * shows the open tab twice. So the editors begin with the text of the open tab, or of the tab with the query that the address
 * names. A query that no tab holds opens a new one.
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

/** What the page opens with: development only. The first tab's token is also the one that a new tab sends. */
export interface GraphiqlPageOptions {
  /** Asked for whenever the page is served. @param origin where the page is */
  readonly tabs?: (origin: string) => readonly GraphiqlTab[];
}

/** Serves GraphiQL, with the given tabs. */
export function graphiqlPage({ tabs }: GraphiqlPageOptions): (request: Request) => Response {
  return (request) => {
    const settings = settingsFor(tabs?.(new URL(request.url).origin) ?? []);
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
 * The browser keeps tabs with their tokens, and shows them instead of those of the page. After a restart of the product their
 * orders are gone and their tokens have expired, so only the tabs of the same start are kept.
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

function settingsFor(tabs: readonly GraphiqlTab[]): GraphiQLOptions {
  const [first] = tabs;
  const headers = first === undefined ? undefined : headersOf(first.token);
  return {
    title: 'Hitotsu',
    endpoint: GRAPHQL_PATH,
    method: 'POST',
    subscriptionsProtocol: 'SSE',
    additionalHeaders: { [CSRF_HEADER]: '1' },
    // GraphiQL ignores the first tab's own headers, so they are set for the page as well.
    ...(headers !== undefined && {
      headers,
      defaultHeaders: headers,
      defaultTabs: tabs.map(({ query, token }) => ({ query, headers: headersOf(token) })),
    }),
  };
}

function headersOf(token: string): string {
  return JSON.stringify({ authorization: `Bearer ${token}` }, null, 2);
}
