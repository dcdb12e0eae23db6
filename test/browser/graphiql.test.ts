import { type Browser, type Page, chromium } from 'playwright-core';
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
  page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.on('request', (request) => {
    if (!/^(data|blob):|^http:\/\/127\.0\.0\.1:/.test(request.url())) outside.push(request.url());
  });
}, 60_000);

afterAll(async () => {
  await browser.close();
  await development.stop();
});

/** Opens GraphiQL, one of the tabs that it begins with, runs it as it is, and gives what it answered. */
async function runTab(name: string): Promise<string> {
  await page.goto(`${development.gatewayUrl}/graphql`);
  await page.locator('.graphiql-execute-button').waitFor();
  await page.locator(`.graphiql-tab-button[title="${name}"]`).click();
  // The editor shows the tab's document a moment later; run before that, the button runs the one before.
  await page.locator('.graphiql-query-editor').getByText(name).first().waitFor();
  const answered = page.waitForResponse(
    (response) =>
      response.request().method() === 'POST' && (response.request().postData() ?? '').includes(name),
  );
  await page.locator('.graphiql-execute-button').click();
  return (await answered).text();
}

describe('GraphiQL on a fresh start', () => {
  it('runs every tab as it is, with the token filled in and nothing fetched from outside', async () => {
    expect(await runTab('OpenOrder')).toContain('"CreateOrderSuccess"');
    expect(await runTab('TopUp')).toContain('"TopUpSuccess"');
    expect(await runTab('ShowCode')).toContain('"code"');
    expect(await runTab('Me')).toContain('"5000"');
    expect(await runTab('Orders')).toContain('"SESSION_CREATED"');
    expect(outside).toEqual([]);
  }, 90_000);

  it('shows the money in the wallet once the top-up is paid on the payment page, and once only', async () => {
    const url = /"url":"([^"]+)"/.exec(await runTab('TopUp'))?.[1] ?? '';
    const payment = await browser.newPage();
    await payment.goto(url);
    await payment.getByRole('button', { name: /^pay/i }).first().click();
    await payment.waitForURL((address) => address.href.startsWith(development.gatewayUrl));
    await payment.close();
    await expect.poll(() => runTab('Me'), { timeout: 15_000 }).toContain('"6000"');
  }, 60_000);
});
