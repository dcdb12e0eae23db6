import { describe, expect, it } from 'vitest';
import { paidSession, sdk, sessionParams, simulator, webhookReceiver } from './support.ts';

async function control(
  url: string,
  name: string,
  input: object = {},
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/_simulator/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  return { status: response.status, body: await response.json() };
}

describe('control requests', () => {
  it('do over HTTP what the methods do', async () => {
    const receiver = await webhookReceiver();
    const target = await simulator({ webhookUrl: receiver.url });
    const { id } = await sdk(target).checkout.sessions.create(sessionParams());
    const paid = await control(target.url, 'pay-by-card', { session: id });
    expect(paid).toMatchObject({ status: 200, body: { session: { id, payment_status: 'paid' } } });
    const idle = await fetch(`${target.url}/_simulator/idle?timeoutMs=5000`);
    expect([idle.status, await idle.json()]).toEqual([200, { idle: true }]);
    expect(receiver.received).toHaveLength(4);

    await control(target.url, 'hold');
    const { paymentIntent } = await paidSession(target);
    await control(target.url, 'dashboard-refund', { paymentIntent, amount: 100 });
    const held = await fetch(`${target.url}/_simulator/held`);
    expect(await held.json()).toEqual({
      events: target
        .events()
        .slice(4)
        .map((event) => event.id),
    });
    await control(target.url, 'release');
    expect(receiver.received).toHaveLength(10);
  });

  it('refuse what they do not understand, by name', async () => {
    const target = await simulator();
    expect(await control(target.url, 'pay-by-card')).toMatchObject({
      status: 400,
      body: { error: { code: 'parameter_missing', param: 'session' } },
    });
    expect(await control(target.url, 'pay-by-card', { session: 'cs_none' })).toMatchObject({
      status: 404,
      body: { error: { code: 'resource_missing' } },
    });
    expect(await control(target.url, 'set-chaos', { loss: 1.5 })).toMatchObject({
      status: 400,
      body: { error: { param: 'loss' } },
    });
    expect((await control(target.url, 'no-such-control')).status).toBe(404);
  });

  it('take JSON alone, so that no web page can post a form to them', async () => {
    const target = await simulator();
    const form = await fetch(`${target.url}/_simulator/hold`, {
      method: 'POST',
      body: new URLSearchParams(),
    });
    expect(form.status).toBe(400);
    const broken = await fetch(`${target.url}/_simulator/hold`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
    });
    expect(broken.status).toBe(400);
  });

  it('are listed', async () => {
    const target = await simulator();
    const response = await fetch(`${target.url}/_simulator`);
    expect(await response.json()).toMatchObject({
      controls: expect.arrayContaining(['pay-by-card', 'open-dispute', 'set-chaos']) as unknown,
    });
  });
});
