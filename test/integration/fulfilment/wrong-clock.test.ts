import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, expect, inject, it } from 'vitest';
import { freePort } from '../../../dev/engine/free-port.ts';
import { startWorker } from '../../../src/fulfilment/worker.ts';
import { EVENT_CURSOR_KEY } from '../../../src/ledger/items/event-cursor.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import {
  DONE,
  type FulfilmentHarness,
  eventually,
  followUp,
  isConfirmed,
  makeFulfilment,
  putPaidOrder,
  reread,
  until,
} from './support.ts';

let harness: FulfilmentHarness;
let child: ChildProcess | undefined;
afterEach(async () => {
  child?.kill('SIGKILL');
  await harness.stop();
});

it('a worker whose clock is wrong leaves due orders to others, and takes them up once it is right', async () => {
  let isRight = false;
  const rightAtRuns: boolean[] = [];
  const probe = followUp(() => {
    rightAtRuns.push(isRight);
    return DONE;
  });
  harness = await makeFulfilment([probe]);
  const order = await putPaidOrder(harness.ledger);
  const clock = { ...harness.clock, isRight: () => isRight };
  let looks = 0;
  const worker = startWorker({ ...harness.ledger, clock }, harness.registry, {
    sweep: () => Promise.resolve(),
    metrics: {
      ...harness.metrics,
      set: (name, value) => {
        if (name === 'dueOrders' && value > 0) looks += 1;
      },
    },
    logger: createLogger({ level: 'silent', clock }),
    settings: { busyPollMs: 5, idlePollMs: 80, restMs: 0 },
  });
  await eventually(() => {
    expect(looks).toBeGreaterThan(20);
  });
  expect((await reread(harness, order)).steps).toMatchObject([{ state: 'PENDING', attempts: 0 }]);
  isRight = true;
  await until(harness, order, isConfirmed);
  await worker.stop();
  expect(rightAtRuns).toEqual([true]);
});

it.each([
  [4_500, 'ahead'],
  [-600, 'behind'],
])(
  'npm run worker with a clock %d s off (%s) is not ready, says by how much, and moves no cursor',
  { timeout: 60_000 },
  async (aheadS) => {
    harness = await makeFulfilment([]);
    const port = await freePort();
    const logged: string[] = [];
    child = spawn(
      process.execPath,
      ['--import', './test/support/shifted-clock.mjs', '--import', 'tsx', 'src/worker.ts'],
      {
        env: {
          NODE_ENV: 'test',
          CLOCK_AHEAD_MS: String(aheadS * 1_000),
          PORT: String(port),
          LOG_LEVEL: 'error',
          AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
          DYNAMODB_ENDPOINT: inject('engineEndpoint'),
          TABLE_NAME: harness.tableName,
          STRIPE_API_BASE: 'http://127.0.0.1:9',
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    child.stdout?.on('data', (chunk: Buffer) => logged.push(chunk.toString()));
    const ready = await eventually(() => fetch(`http://127.0.0.1:${String(port)}/readyz`), 40_000);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: 'unavailable', clock: 'wrong' });
    const metrics = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
    const skewS = Number(/^hitotsu_clock_skew_seconds (.+)$/m.exec(metrics)?.[1]);
    expect(Math.abs(skewS - aheadS)).toBeLessThan(2);
    expect(logged.join('')).toContain("the clock is not the table's");
    expect(await harness.ledger.store.get([EVENT_CURSOR_KEY])).toEqual([undefined]);
  },
);
