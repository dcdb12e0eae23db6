import { html } from 'hono/html';
import { page } from './stripe-simulator/pages/page-layout.ts';

/** What `npm start` shows at `/`: where everything is. */
export function homePage(simulatorUrl: string | undefined): () => Promise<Response> {
  return async () => {
    const content = html`
      <h1>Hitotsu is running</h1>
      <ul class="lines" aria-label="What is where">
        <li><a href="/graphql">GraphiQL</a><span>tabs that run as they are</span></li>
        ${
          simulatorUrl === undefined
            ? ''
            : html`<li><a href="${simulatorUrl}/">Stripe simulator</a><span>where cards are paid</span></li>`
        }
        <li><a href="/proof">Proof</a><span>a buyer's six questions, answered by trying</span></li>
        <li><a href="/healthz">/healthz</a><span>the process lives</span></li>
        <li><a href="/readyz">/readyz</a><span>it can work</span></li>
        <li><a href="/metrics">/metrics</a><span>for Prometheus</span></li>
      </ul>
      <p class="note">
        To read: <code>README.md</code>, <code>docs/CLIENTS.md</code> for who writes a client,
        <code>docs/OPERATIONS.md</code> for who runs it. To see: <code>npm run demo</code>
      </p>
    `;
    return new Response(String(await page('Hitotsu', content)), {
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    });
  };
}
