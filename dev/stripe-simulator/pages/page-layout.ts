import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;

/** The colours of all pages, for light and dark. */
export const PALETTE = `
:root { color-scheme: light dark; --ink: #1a1f36; --soft: #545f7d; --line: #d8dee9; --page: #f4f6fb;
  --card: #fff; --accent: #4b45c6; --on-accent: #fff; --bad: #a3112b; --bad-page: #fdecef; --good: #0b6b43; }
@media (prefers-color-scheme: dark) { :root { --ink: #eef0f7; --soft: #aab2c8; --line: #39415a; --page: #12151f;
  --card: #1b2030; --accent: #a5a1ff; --on-accent: #14123d; --bad: #ff9cad; --bad-page: #3a1620; --good: #6fdcaa; } }
`;

const STYLE = `${PALETTE}
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem 1rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', 'Hiragino Sans', 'Noto Sans JP', sans-serif; }
main { max-width: 30rem; margin: 0 auto; padding: 1.75rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 14px; box-shadow: 0 8px 28px rgb(20 25 60 / 8%); }
h1 { margin: 0; font-size: 1.1rem; font-weight: 600; }
h2 { margin: 1.75rem 0 .5rem; font-size: 1rem; }
.amount { margin: .1rem 0 1rem; font-size: 2.1rem; font-weight: 700; letter-spacing: -.02em; }
.note { color: var(--soft); font-size: .9rem; margin: .5rem 0; }
.badge { display: inline-block; padding: .1rem .6rem; border: 1px solid var(--line); border-radius: 99px;
  color: var(--soft); font-size: .8rem; margin-bottom: 1rem; }
.alert { padding: .75rem 1rem; margin: 1rem 0; border-radius: 8px; background: var(--bad-page); color: var(--bad); }
.good { color: var(--good); font-weight: 600; }
ul.lines { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
ul.lines li { display: flex; justify-content: space-between; gap: 1rem; padding: .55rem 0;
  border-bottom: 1px solid var(--line); }
fieldset { margin: 0 0 1rem; padding: 0; border: 0; }
legend { padding: 0; color: var(--soft); font-size: .9rem; margin-bottom: .4rem; }
label { display: flex; gap: .7rem; align-items: center; padding: .65rem .8rem; border: 1px solid var(--line);
  border-radius: 8px; margin-bottom: .4rem; cursor: pointer; }
label:has(:checked) { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
label code { margin-left: auto; color: var(--soft); }
input { accent-color: var(--accent); }
button { width: 100%; padding: .8rem 1rem; border: 1px solid var(--accent); border-radius: 8px; cursor: pointer;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; }
ul.sessions li { flex-wrap: wrap; overflow-wrap: anywhere; }
button.small { width: auto; padding: .15rem .6rem; background: transparent; color: var(--accent); font-size: .85rem; }
button.quiet { background: transparent; color: var(--accent); margin-top: .6rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .35rem 1.25rem; margin: 1rem 0; }
dt { color: var(--soft); } dd { margin: 0; font-variant-numeric: tabular-nums; }
footer { margin-top: 1.5rem; text-align: center; }
`;

/** A whole page. Everything put into it is escaped. */
export function page(title: string, content: Markup): Markup {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style>
          ${raw(STYLE)}
        </style>
      </head>
      <body>
        <main>
          <span class="badge">Simulated, no real money</span>
          ${content}
        </main>
      </body>
    </html>`;
}
