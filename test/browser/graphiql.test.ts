import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, type BrowserContext, type Page, type Response, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Development, startDevelopment } from '../../dev/development.ts';

/** Chromium as Debian installs it; the switches keep it from looking for anything outside this machine. */
const LAUNCH = {
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};

let development: Development;
let browser: Browser;
let context: BrowserContext;
let page: Page;
const outside: string[] = [];

beforeAll(async () => {
  development = await startDevelopment({
    PORT: '0',
    STRIPE_SIMULATOR_PORT: '0',
    DATA_DIR: 'memory',
    LOG_LEVEL: 'silent',
  });
  browser = await chromium.launch(LAUNCH);
  // The browser of one person: its windows share what GraphiQL keeps.
  context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  page = await context.newPage();
  page.on('request', (request) => {
    if (!/^(data|blob):|^http:\/\/127\.0\.0\.1:/.test(request.url())) outside.push(request.url());
  });
}, 60_000);

afterAll(async () => {
  await browser.close();
  await development.stop();
});

async function openGraphiql(on: Page): Promise<void> {
  await on.goto(`${development.gatewayUrl}/graphql`);
  await on.locator('.graphiql-execute-button').waitFor();
}

/** How long a person's finger holds the button down. */
const PRESS_MS = 100;

/** Presses a tab as a person does: down where it is, and up at the same place. */
async function press(on: Page, name: string, moves = 0): Promise<void> {
  const box = await on.locator(`.graphiql-tab-button[title="${name}"]`).boundingBox();
  if (box === null) throw new Error(`There is no tab ${name}.`);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await on.mouse.move(x, y);
  await on.mouse.down();
  await on.mouse.move(x + moves, y, { steps: 3 });
  await delay(PRESS_MS);
  await on.mouse.up();
}

function activeTab(on: Page): Promise<string | null> {
  return on.locator('.graphiql-tab-active .graphiql-tab-button').getAttribute('title');
}

/** Opens a tab; the editor shows its document a moment later, and until then the button would run the one before. */
async function openTab(on: Page, name: string): Promise<void> {
  await press(on, name);
  const declaration = new RegExp(`^(query|mutation|subscription)\\s${name}\\b`);
  await on.locator('.graphiql-query-editor .view-line').filter({ hasText: declaration }).waitFor();
  await expect.poll(() => keptTab(on), { timeout: 10_000 }).toBe(name);
}

/** The tab that GraphiQL has written down as the open one, half a second after the last change. */
function keptTab(on: Page): Promise<string | undefined> {
  return on.evaluate(() => {
    // As GraphiQL writes it.
    const kept = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}') as {
      readonly tabs?: readonly { readonly title: string }[];
      readonly activeTabIndex?: number;
    };
    return kept.tabs?.[kept.activeTabIndex ?? 0]?.title;
  });
}

/** Opens GraphiQL, one of the tabs that it begins with, runs it as it is, and gives what it answered. */
async function runTab(name: string): Promise<string> {
  await openGraphiql(page);
  return (await runIn(page, name)).text();
}

/** Opens a tab and runs it, until it has been sent. */
async function runIn(on: Page, name: string): Promise<Response> {
  await openTab(on, name);
  // GraphiQL finds out a moment after a tab has opened which operation it holds: a press before that runs none of it.
  for (let presses = 0; presses < MAX_PRESSES; presses += 1) {
    const answered = on
      .waitForResponse((response) => operationOf(response.request().postData()) === name, { timeout: 8_000 })
      .catch(() => undefined);
    await on.locator('.graphiql-execute-button').click();
    const response = await answered;
    if (response !== undefined) return response;
  }
  throw new Error(`${name} was not run`);
}

const MAX_PRESSES = 4;

function operationOf(body: string | null): string | undefined {
  // What GraphiQL posts is a GraphQL request.
  const posted = body === null ? {} : (JSON.parse(body) as { readonly operationName?: string });
  return posted.operationName;
}

const TABS = [
  'OpenOrder',
  'TopUp',
  'ShowCode',
  'Me',
  'Orders',
  'WatchOrder',
  'Charge',
  'Refund',
  'CashTopUp',
  'Queues',
];

describe('GraphiQL on a fresh start', () => {
  it('opens a tab by one press of the mouse, also by a hand that is not quite still', async () => {
    const fresh = await browser.newPage({ viewport: { width: 1400, height: 850 } });
    await openGraphiql(fresh);
    const opened: (string | null)[] = [];
    for (const moves of [0, 4, 0]) {
      for (const name of TABS) {
        await press(fresh, name, moves);
        opened.push(await activeTab(fresh));
      }
    }
    await fresh.close();
    expect(opened).toEqual([...TABS, ...TABS, ...TABS]);
  }, 60_000);

  it('runs every tab as it is, each with its own token and nothing fetched from outside', async () => {
    expect(await runTab('OpenOrder')).toContain('"CreateOrderSuccess"');
    expect(await runTab('TopUp')).toContain('"TopUpSuccess"');
    expect(await runTab('ShowCode')).toContain('"code"');
    expect(await runTab('Me')).toContain('"5000"');
    expect(await runTab('Orders')).toContain('"SESSION_CREATED"');
    const refunded = await runTab('Refund');
    expect(refunded).toContain('"amount":"100"');
    expect(refunded).toContain('"refundableAmount":"250"');
    expect(await runTab('CashTopUp')).toContain('"balance":{"amount":"600"}');
    expect(await runTab('Queues')).toBe(
      '{"data":{"deadSteps":{"edges":[]},"proposals":{"edges":[]},"webhookProblems":{"edges":[]}}}',
    );
    expect(outside).toEqual([]);
  }, 90_000);

  it('shows live in one window what is charged in another, and charges once', async () => {
    const watching = await context.newPage();
    await openGraphiql(watching);
    await runIn(watching, 'WatchOrder');
    const shown = watching.locator('.result-window');
    await shown.getByText('"CREATED"').first().waitFor();
    expect(await runTab('Charge')).toContain('"replayed":false');
    await shown.getByText('"COMPLETED"').waitFor();
    expect(await runTab('Charge')).toContain('"replayed":true');
    await watching.close();
    expect(await runTab('Me')).toContain('"4520"');
  }, 60_000);

  it('keeps tabs that were changed when the page is loaded again, but none of an earlier start', async () => {
    const ownContext = await browser.newContext({ viewport: { width: 1400, height: 900 } });
    const returning = await ownContext.newPage();
    await openGraphiql(returning);
    const tabs = returning.locator('.graphiql-tab-button');
    await returning.locator('.graphiql-tab-add').click();
    await expect.poll(() => tabs.count()).toBe(TABS.length + 1);
    const stored = () => returning.evaluate(() => localStorage.getItem('graphiql:tabState') ?? '');
    await expect.poll(async () => (await stored()).match(/"query":/g)?.length).toBe(TABS.length + 1);
    await openGraphiql(returning);
    expect(await tabs.count()).toBe(TABS.length + 1);
    await returning.evaluate(() => {
      localStorage.setItem('hitotsu:start', 'another');
    });
    await openGraphiql(returning);
    expect(await tabs.count()).toBe(TABS.length);
    await ownContext.close();
  }, 60_000);

  it('has every tab once after it was left between two of its writes, and opens another for a link with a query', async () => {
    const ownContext = await browser.newContext({ viewport: { width: 1400, height: 900 } });
    const returning = await ownContext.newPage();
    await openGraphiql(returning);
    const tabs = returning.locator('.graphiql-tab-button');
    await openTab(returning, 'Refund');
    // GraphiQL writes what the editors hold and which tab is open each after a while of its own.
    await returning.evaluate(() => {
      localStorage.setItem('graphiql:headers', '{"authorization":"Bearer of another tab"}');
    });
    await openGraphiql(returning);
    expect(await tabs.count()).toBe(TABS.length);
    expect(await activeTab(returning)).toBe('Refund');
    await returning.goto(
      `${development.gatewayUrl}/graphql?query=${encodeURIComponent('query Linked { __typename }')}`,
    );
    await returning.locator('.graphiql-execute-button').waitFor();
    expect(await tabs.count()).toBe(TABS.length + 1);
    expect(await activeTab(returning)).toBe('Linked');
    await ownContext.close();
  }, 60_000);

  it('is linked from the page at the root, as are the simulator, the proof and the health checks', async () => {
    await page.goto(development.gatewayUrl);
    const links = await page
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links).toEqual([
      '/graphql',
      `${development.simulatorUrl ?? ''}/`,
      '/proof',
      '/healthz',
      '/readyz',
      '/metrics',
    ]);
    await page.getByRole('link', { name: 'GraphiQL' }).click();
    await page.locator('.graphiql-execute-button').waitFor();
  }, 60_000);

  it('shows the money in the wallet once the top-up is paid on the payment page, and gone once it is refunded', async () => {
    const url = /"url":"([^"]+)"/.exec(await runTab('TopUp'))?.[1] ?? '';
    const payment = await browser.newPage();
    await payment.goto(url);
    await payment.getByRole('button', { name: /^pay/i }).first().click();
    await payment.waitForURL((address) => address.href.startsWith(development.gatewayUrl));
    await payment.close();
    await expect.poll(() => runTab('Me'), { timeout: 30_000 }).toContain('"5520"');

    await page.goto(development.simulatorUrl ?? '');
    await page.getByRole('button', { name: 'Refund' }).click();
    await expect.poll(() => runTab('Me'), { timeout: 30_000 }).toContain('"4520"');
  }, 90_000);
});
