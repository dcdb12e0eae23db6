import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { freePort } from '../../../dev/engine/free-port.ts';
import { DEFAULT_POST_LIMITS, notifyMerchant } from '../../../src/fulfilment/notify-merchant.ts';
import { systemClock } from '../../../src/ledger/kernel/clock.ts';
import { parseTenants } from '../../../src/config/tenants.ts';
import { type MerchantServer, startMerchantServer } from './merchant-server.ts';
import { type FulfilmentHarness, makeFulfilment, putPaidOrder, reread, eventually } from './support.ts';

let harness: FulfilmentHarness;
let server: MerchantServer;
let folder: string;
let child: ChildProcess | undefined;
beforeEach(async () => {
  server = await startMerchantServer();
  folder = await mkdtemp(join(tmpdir(), 'hitotsu-worker-'));
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await harness.stop();
  await server.stop();
  await rm(folder, { recursive: true });
});

it(
  'npm run worker does the follow-ups of a table, and on SIGTERM finishes what runs before it ends',
  { timeout: 60_000 },
  async () => {
    const notifySecrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
    const merchants = { m_1: { name: 'One', notifyUrl: `${server.origin}/hook`, notifySecrets } };
    const tenant = {
      name: 'T',
      currency: 'USD',
      assets: {},
      paymentMethods: ['card'],
      returnUrls: [],
      merchants,
    };
    const tenantsFile = join(folder, 'tenants.json');
    await writeFile(tenantsFile, JSON.stringify({ t_1: tenant }));
    const tenants = parseTenants({ t_1: tenant }, { production: false });
    const clock = { ...systemClock, advance: () => undefined };
    const reported = notifyMerchant({
      readMetadata: () => Promise.resolve([]),
      tenants,
      clock,
      limits: DEFAULT_POST_LIMITS,
    });
    harness = await makeFulfilment([reported], { tenants, clock });
    let answer: (() => void) | undefined;
    server.answerWith((response) => {
      answer = () => response.writeHead(204).end();
    });

    const port = await freePort();
    child = spawn(
      process.execPath,
      ['--import', 'tsx', fileURLToPath(new URL('../../../src/worker.ts', import.meta.url))],
      {
        env: {
          NODE_ENV: 'test',
          PORT: String(port),
          LOG_LEVEL: 'error',
          AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
          DYNAMODB_ENDPOINT: inject('engineEndpoint'),
          TABLE_NAME: harness.tableName,
          TENANTS_FILE: tenantsFile,
          // Nothing listens there: an unreachable provider stops no follow-up.
          STRIPE_API_BASE: 'http://127.0.0.1:9',
        },
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    );
    const ended = once(child, 'exit');
    const order = await putPaidOrder(harness.ledger);
    await eventually(() => {
      expect(answer).toBeDefined();
    }, 40_000);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toContain('hitotsu_running_steps 1');
    child.kill('SIGTERM');
    answer?.();
    expect(await ended).toEqual([0, null]);
    expect((await reread(harness, order)).state).toBe('CONFIRMED');
  },
);
