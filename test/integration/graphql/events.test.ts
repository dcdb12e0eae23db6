import { print } from 'graphql';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { OrderTransitionsDocument } from '../../support/generated/documents.ts';
import {
  ALICE,
  BOB,
  type Gateway,
  type Principal,
  codesOf,
  readAnswer,
  startGateway,
} from '../../support/gateway.ts';
import { fund, openOrder } from './money.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
  await fund(gateway, ALICE, '50.00');
});
afterAll(() => gateway.close());

async function subscribe(principal: Principal, orderId: string, signal?: AbortSignal): Promise<Response> {
  return fetch(gateway.graphqlUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${await gateway.token(principal)}`,
    },
    body: JSON.stringify({ query: print(OrderTransitionsDocument), variables: { orderId } }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Reads a stream of events until it has said all of what is wanted. */
async function readUntil(response: Response, ...wanted: readonly string[]): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (reader !== undefined && !wanted.every((part) => text.includes(part))) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
  }
  return text;
}

async function liveSubscriptions(): Promise<string | undefined> {
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  return /^hitotsu_subscriptions (\d+)$/m.exec(metrics)?.[1];
}

describe('a subscription by server-sent events', () => {
  it('gets what was and what comes, and leaves nothing behind when its client goes', async () => {
    const id = await openOrder(gateway, ALICE, '20.00');
    const client = new AbortController();
    const response = await subscribe(ALICE, id, client.signal);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reading = readUntil(response, '"cause":"CREATED"', '"cause":"WALLET_CHARGED"');
    await vi.waitFor(async () => {
      expect(await liveSubscriptions()).toBe('1');
    });
    await gateway.run(
      ALICE,
      `mutation { charge(idempotencyKey: "pay", input: { orderId: "${id}" }) { __typename } }`,
    );
    const text = await reading;
    expect(text).toContain('"version":2');
    expect(text).toContain('"state":"PAID"');
    client.abort();
    await vi.waitFor(async () => {
      expect(await liveSubscriptions()).toBe('0');
    });
  });

  it("is FORBIDDEN for someone else's order, as for one that is not there", async () => {
    const id = await openOrder(gateway, ALICE, '20.00');
    const foreign = await readUntil(await subscribe(BOB, id), 'errors');
    const unknown = await readUntil(await subscribe(BOB, 'nonsense'), 'errors');
    expect(foreign).toContain('"code":"FORBIDDEN"');
    expect(unknown).toBe(foreign);
  });

  it('is cut when the gateway stops, not completed, and does not hold it up', async () => {
    const stopping = await startGateway({ endpoint: inject('engineEndpoint') });
    const id = await openOrder(stopping, ALICE, '20.00');
    const response = await fetch(stopping.graphqlUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${await stopping.token(ALICE)}`,
      },
      body: JSON.stringify({ query: print(OrderTransitionsDocument), variables: { orderId: id } }),
    });
    const reading = readUntil(response, 'event: complete');
    await stopping.close();
    await expect(reading).rejects.toThrow();
  });

  it('has one root field', async () => {
    const query =
      'subscription { a: orderTransitions(orderId: "x") { version } b: orderTransitions(orderId: "y") { version } }';
    const answer = await readAnswer(await gateway.post(ALICE, JSON.stringify({ query })));
    expect(codesOf(answer)).toEqual(['BAD_REQUEST']);
  });

  it.each([
    ['a field', 'subscription { orderTransitions(orderId: "x") @skip(if: true) { version } }'],
    [
      'what a fragment brings',
      'subscription { ... @include(if: false) { ...Watch } } fragment Watch on Subscription { orderTransitions(orderId: "x") { version } }',
    ],
    [
      'a field of a fragment',
      'subscription { ...Watch } fragment Watch on Subscription { orderTransitions(orderId: "x") @include(if: false) { version } }',
    ],
  ])('has it for certain: it can not be skipped, as %s', async (_, query) => {
    const answer = await readAnswer(
      await gateway.post(ALICE, JSON.stringify({ query }), {
        accept: 'application/json, text/event-stream;q=0.5',
      }),
    );
    expect([answer.status, answer.errors.map(({ message }) => message)]).toEqual([
      400,
      ['The field of a subscription can not be skipped: there would be nothing to watch.'],
    ]);
  });
});
