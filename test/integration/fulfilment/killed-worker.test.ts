import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { stepKey } from '../../../src/fulfilment/run-step.ts';
import { type MerchantServer, startMerchantServer } from './merchant-server.ts';
import {
  DONE,
  type FulfilmentHarness,
  followUp,
  makeFulfilment,
  putPaidOrder,
  reread,
  eventually,
} from './support.ts';
import { KILL_POINTS, type KillPoint } from './worker-process.ts';

let harness: FulfilmentHarness;
let server: MerchantServer;
beforeEach(async () => {
  server = await startMerchantServer();
});
afterEach(async () => {
  await harness.stop();
  await server.stop();
});

/** How often the effect happened before the kill, and whether the step had to be run again. */
const EXPECTED: Readonly<Record<KillPoint, { readonly effects: number; readonly attempts: number }>> = {
  'before the claim': { effects: 0, attempts: 1 },
  'after the claim': { effects: 0, attempts: 2 },
  'before the effect': { effects: 0, attempts: 2 },
  'after the effect': { effects: 1, attempts: 2 },
  'before the result is recorded': { effects: 1, attempts: 2 },
  'after the result is recorded': { effects: 1, attempts: 1 },
};

// Each starts a process, which takes its time on a busy machine.
describe('a worker that is killed', { timeout: 60_000 }, () => {
  it.each(KILL_POINTS)('%s leaves a step that another one finishes, recorded once', async (point) => {
    harness = await makeFulfilment([
      followUp(async ({ key }) => {
        await fetch(`${server.origin}/effect`, { method: 'POST', body: key });
        return DONE;
      }),
    ]);
    const order = await putPaidOrder(harness.ledger);
    await killAt(point);
    expect(server.received).toHaveLength(EXPECTED[point].effects);

    harness.startWorker();
    if (EXPECTED[point].attempts > 1) {
      // Nobody touches what the dead worker holds until its lease has passed.
      harness.clock.advance(59_999);
      const other = await putPaidOrder(harness.ledger);
      await eventually(async () => {
        expect((await reread(harness, other)).state).toBe('CONFIRMED');
      });
      expect((await reread(harness, order)).steps).toMatchObject([{ state: 'PENDING', attempts: 1 }]);
      harness.clock.advance(1);
    }
    await eventually(async () => {
      expect((await reread(harness, order)).state).toBe('CONFIRMED');
    });
    const { steps, timeline } = await reread(harness, order);
    expect(steps).toMatchObject([{ state: 'DONE', attempts: EXPECTED[point].attempts }]);
    expect(timeline.map(({ cause }) => cause)).toEqual([
      'CREATED',
      'WALLET_CHARGED',
      'STEP_DONE',
      'COMPLETED',
    ]);
    const keys = server.received
      .map(({ body }) => body)
      .filter((body) => body === stepKey(order, 'probe:paid'));
    expect(keys).toHaveLength(
      EXPECTED[point].effects + (steps[0]?.attempts === 2 || point === 'before the claim' ? 1 : 0),
    );
  });
});

async function killAt(point: KillPoint): Promise<void> {
  const file = fileURLToPath(new URL('worker-process.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', file, inject('engineEndpoint'), harness.tableName, `${server.origin}/effect`, point],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  const exited = once(child, 'exit');
  const reached = await Promise.race([once(child, 'message'), exited]);
  child.kill('SIGKILL');
  await exited;
  expect(reached).toEqual([point, undefined]);
}
