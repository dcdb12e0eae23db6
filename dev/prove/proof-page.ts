import { html, raw } from 'hono/html';
import { type Markup, PALETTE } from '../stripe-simulator/pages/page-layout.ts';
import type { Answer, Proof, ProvenClaim } from './proof.ts';
import { lastProof } from './proof-file.ts';

const STYLE = `${PALETTE}
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem 1rem 4rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, 'Segoe UI', 'Hiragino Sans', 'Noto Sans JP', sans-serif; }
main { max-width: 62rem; margin: 0 auto; }
header { margin-bottom: 1.5rem; }
h1 { margin: 0 0 .35rem; font-size: clamp(1.5rem, 4vw, 2.1rem); line-height: 1.2; letter-spacing: -.02em; }
h2 { margin: 0; font-size: 1.15rem; line-height: 1.35; }
h3 { margin: 0 0 .6rem; font-size: 1rem; line-height: 1.4; }
p { margin: .4rem 0; max-width: 46rem; }
.soft { color: var(--soft); font-size: .92rem; }
.run { margin: 1rem 0 0; padding: .8rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
code { font: .88em/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; overflow-wrap: anywhere; }
nav ol { list-style: none; margin: 0 0 1.75rem; padding: 0; display: grid; gap: .5rem;
  grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); }
nav a { display: flex; gap: .7rem; align-items: center; height: 100%; padding: .7rem .9rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 10px; color: inherit; text-decoration: none; }
nav a:hover { border-color: var(--accent); }
section { margin: 0 0 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: 14px; overflow: hidden; }
.question { display: flex; gap: 1rem; align-items: baseline; justify-content: space-between; flex-wrap: wrap;
  padding: 1rem 1.25rem; }
article { padding: 1rem 1.25rem 1.15rem; border-top: 1px solid var(--line); }
.verdict { font-weight: 700; white-space: nowrap; }
.held { color: var(--good); } .broken { color: var(--bad); }
table { border-collapse: collapse; width: 100%; margin: .7rem 0; font-size: .94rem; }
th, td { padding: .35rem .5rem .35rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-size: .85rem; font-weight: 500; }
td.number, th.number { text-align: right; padding-right: 0; padding-left: .75rem; font-variant-numeric: tabular-nums; }
tr.broken td { background: var(--bad-page); }
details { margin-top: .4rem; } summary { cursor: pointer; color: var(--accent); font-size: .92rem; }
details ul { margin: .4rem 0 0; padding-left: 1.1rem; } details li { margin: .15rem 0; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 34rem) { body { padding: 1.25rem .75rem 3rem; } .question, article { padding-inline: 1rem; } }
`;

/** What `npm start` shows at `/proof`: the last run of `npm run prove`, as it stands in its file now. */
export function proofPage(dataDir: string): () => Promise<Response> {
  return async () => {
    const proof = lastProof(dataDir);
    const body = await wholePage(proof === undefined ? neverRun() : shownProof(proof));
    return new Response(String(body), {
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    });
  };
}

function wholePage(content: Markup): Markup {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Hitotsu: the proof</title>
        <link rel="icon" href="data:," />
        <style>
          ${raw(STYLE)}
        </style>
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html>`;
}

function howToRun(what: string): Markup {
  return html`<p class="run">
    ${what} <code>npm run prove</code> takes about three minutes, on an engine, a Stripe simulator, gateways
    and a worker of its own. Then load this page again.
  </p>`;
}

function neverRun(): Markup {
  return html`<header>
    <h1>Six questions, answered by trying</h1>
    <p>Nothing has been tried here yet, so there is nothing to show.</p>
    ${howToRun('To run it:')}
  </header>`;
}

function verdict(held: boolean): Markup {
  return html`<span class="verdict ${held ? 'held' : 'broken'}">${held ? '✓ held' : '✗ did not hold'}</span>`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function shownProof({ at, extent, seed, tookMs, held, questions }: Proof): Markup {
  const claims = questions.flatMap((answer) => answer.claims);
  const attempts = `${String(claims.filter((claim) => claim.held).length)} of ${String(claims.length)}`;
  return html`<header>
      <h1>Six questions, answered by trying</h1>
      <p>
        Each claim was attacked on real processes, and what came of it was counted in the table, by arithmetic
        of its own. ${attempts} claims ${held ? 'held' : 'held; the proof failed'}.
      </p>
      <p class="soft">
        Run at <time datetime="${at}">${at.slice(0, 16).replace('T', ' ')} UTC</time>, ${seconds(tookMs)},
        seed ${String(seed)}${extent === 'short' ? ', in its short form' : ''}.
      </p>
      ${howToRun('To run it again:')}
    </header>
    <nav aria-label="Questions">
      <ol>
        ${questions.map(
          ({ id, question, held: one }) =>
            html`<li>
              <a href="#${id}"
                ><span class="${one ? 'held' : 'broken'}" aria-hidden="true">${one ? '✓' : '✗'}</span>
                <span>${question}</span></a
              >
            </li>`,
        )}
      </ol>
    </nav>
    ${questions.map(shownAnswer)}`;
}

function shownAnswer({ id, question, held, claims, turnedRedBy }: Answer): Markup {
  return html`<section id="${id}" aria-labelledby="${id}-question">
    <div class="question">
      <h2 id="${id}-question">${question}</h2>
      ${verdict(held)}
    </div>
    ${claims.map(shownClaim)}
    ${
      turnedRedBy.length === 0
        ? ''
        : html`<article>
            <details>
              <summary>${String(turnedRedBy.length)} planted bugs turn this answer red</summary>
              <ul class="soft">
                ${turnedRedBy.map((name) => html`<li>${name}</li>`)}
              </ul>
            </details>
          </article>`
    }
  </section>`;
}

function shownClaim({ claim, held, broke, done, checks, ...evidence }: ProvenClaim): Markup {
  const { rules, tests, testFiles, plantedBugs, tookMs } = evidence;
  const heldBy = `${String(tests)} tests in ${String(testFiles)} files, ${String(plantedBugs)} planted bugs`;
  return html`<article>
    <h3>
      <span class="${held ? 'held' : 'broken'}" aria-label="${held ? 'held' : 'did not hold'}"
        >${held ? '✓' : '✗'}</span
      >
      ${claim}
    </h3>
    <p class="soft">Tried, ${seconds(tookMs)}: ${done}</p>
    ${broke === undefined ? '' : html`<p class="broken">It broke off: ${broke}</p>`}
    <table>
      <thead>
        <tr>
          <th scope="col">Seen</th>
          <th scope="col" class="number">Found</th>
          <th scope="col" class="number">Had to be</th>
        </tr>
      </thead>
      <tbody>
        ${checks.map(
          ({ what, found, expected, held: one }) =>
            html`<tr class="${one ? '' : 'broken'}">
              <td>${what}</td>
              <td class="number ${one ? 'held' : 'broken'}">${found}</td>
              <td class="number">${expected}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <details>
      <summary>Where the rule stands, and what holds it: ${heldBy}</summary>
      <ul class="soft">
        ${rules.map(({ symbol, file, line }) => html`<li><code>${symbol}</code> in <code>${file}:${String(line)}</code></li>`)}
      </ul>
    </details>
  </article>`;
}
