import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startChildServer } from '../../../dev/engine/child-server.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { systemClock } from '../../../src/ledger/kernel/clock.ts';
import { startServer } from '../../../src/main/listen.ts';
import { GOD_RECORD } from '../../../src/migrations/manifests.ts';
import { takeStep } from '../../../src/migrations/steps.ts';
import { readFleet } from '../../../src/migrations/toolkit.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { step, toolkitOf } from '../../support/migrating-fleet.ts';

let harness: Harness;
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await startFaultProxy({ target: inject('engineEndpoint') });
  const clock = { ...systemClock, advance: () => undefined };
  harness = await makeHarness({ endpoint: inject('engineEndpoint'), clock });
  await step(toolkitOf(harness), GOD_RECORD, 'FORWARD', []);
});
afterAll(async () => {
  harness.close();
  await proxy.stop();
});

function environment(): Record<string, string> {
  return {
    PORT: '0',
    LOG_LEVEL: 'silent',
    DYNAMODB_ENDPOINT: proxy.endpoint,
    TABLE_NAME: harness.tableName,
  };
}

async function heartbeats(): Promise<number> {
  return (await readFleet(harness.ledger.store, 0)).length;
}

describe('a process that leaves the fleet in the middle of a migration', () => {
  it('has withdrawn its heartbeat once its server is closed, and holds no step up', async () => {
    const server = await startServer(loadConfig(environment()));
    await server.app.ledger.store.get([{ uuid: 'demo#alice', type: 'PROFILE' }]);
    expect(await heartbeats()).toBe(1);
    // What takes a second try is what a close that doesn't wait would leave behind.
    proxy.next({ operation: 'TransactWriteItems', fault: { kind: 'ERROR', name: 'ThrottlingException' } });
    await server.close();
    expect(await heartbeats()).toBe(0);
    const toolkit = toolkitOf(harness);
    await step(toolkit, GOD_RECORD, 'FORWARD', []);
    expect(await takeStep(toolkit, GOD_RECORD, 'BACK')).toMatchObject({ kind: 'TAKEN' });
  });

  it('has withdrawn it before a worker that was told to end has ended', { timeout: 60_000 }, async () => {
    const worker = await startChildServer({
      name: 'the worker',
      command: 'env',
      args: (port) => [
        ...Object.entries({ ...environment(), PORT: String(port) }).map(([name, text]) => `${name}=${text}`),
        process.execPath,
        '--import',
        'tsx',
        'src/worker.ts',
      ],
      answers: async () => (await heartbeats()) === 1,
      startTimeoutMs: 60_000,
    });
    await worker.stop();
    expect(await heartbeats()).toBe(0);
  });
});
