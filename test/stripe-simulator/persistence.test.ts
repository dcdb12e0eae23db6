import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startStripeSimulator } from '../../dev/stripe-simulator/server.ts';
import {
  SECRET_KEY,
  sdk,
  sessionParams,
  simulator,
  testClock,
  WEBHOOK_SECRET,
  webhookReceiver,
} from './support.ts';

async function stateFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'stripe-simulator-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, 'kept', 'stripe.json');
}

describe('a state file', () => {
  it('keeps sessions, keys and the clock over a restart', async () => {
    const file = await stateFile();
    const before = await simulator({ stateFile: file });
    const session = await sdk(before).checkout.sessions.create(sessionParams(), { idempotencyKey: 'k1' });
    await before.advanceClock({ ms: 60_000 });
    await before.close();

    const after = await simulator({ stateFile: file, port: before.port });
    const replayed = await sdk(after).checkout.sessions.create(sessionParams(), { idempotencyKey: 'k1' });
    expect(replayed.id).toBe(session.id);
    const { paymentIntent } = await after.payByCard({ session: session.id });
    expect(paymentIntent?.created).toBe(session.created + 60);
    expect(paymentIntent?.metadata).toEqual({ tenant: 'demo', order_id: 'ord_1', attempt: '1' });
  });

  it('has what was answered, though the process is killed without a word', async () => {
    const file = await stateFile();
    const killed = await simulator({ stateFile: file });
    const sessions = await Promise.all(
      Array.from({ length: 10 }, () => sdk(killed).checkout.sessions.create(sessionParams())),
    );
    const survivor = await simulator({ stateFile: file });
    const { data } = await sdk(survivor).checkout.sessions.list({ limit: 100 });
    expect(data.map(({ id }) => id).toSorted()).toEqual(sessions.map(({ id }) => id).toSorted());
    expect(await readdir(join(file, '..'))).toEqual(['stripe.json']);
  });

  it('sends after a restart what was not delivered before', async () => {
    const file = await stateFile();
    const receiver = await webhookReceiver();
    const before = await simulator({ stateFile: file, webhookUrl: receiver.url });
    await before.hold();
    const { id } = await sdk(before).checkout.sessions.create(sessionParams());
    await before.expireSession({ session: id });
    await before.close();
    const after = await simulator({ stateFile: file, webhookUrl: receiver.url });
    await after.idle();
    expect(receiver.types()).toEqual(['checkout.session.expired']);
  });

  it('with the same seed makes no id twice', async () => {
    const file = await stateFile();
    const before = await simulator({ stateFile: file, seed: 'a seed' });
    const first = await sdk(before).checkout.sessions.create(sessionParams());
    await before.close();
    const after = await simulator({ stateFile: file, seed: 'a seed' });
    const second = await sdk(after).checkout.sessions.create(sessionParams());
    expect(second.id).not.toBe(first.id);
  });

  it('of another form stops the start', async () => {
    const file = await stateFile();
    await (await simulator({ stateFile: file })).close();
    await writeFile(file, '{"format":0}');
    await expect(startOn(file)).rejects.toThrow(`${file} was written by another version; remove it`);
  });

  it.each(['', '{"format":1,"ses', 'null'])('that holds %j stops the start, and is named', async (text) => {
    const file = await stateFile();
    await mkdir(dirname(file));
    await writeFile(file, text);
    await expect(startOn(file)).rejects.toThrow(`${file} is no state of the simulator; remove it`);
  });
});

function startOn(file: string): Promise<unknown> {
  return startStripeSimulator({
    secretKey: SECRET_KEY,
    webhookSecret: WEBHOOK_SECRET,
    clock: testClock(),
    stateFile: file,
  });
}

describe('starting', () => {
  it('on a taken port is refused', async () => {
    const { port } = await simulator();
    await expect(simulator({ port })).rejects.toThrow('EADDRINUSE');
  });
});
