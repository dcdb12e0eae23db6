import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Client } from 'graphql-ws';
import {
  ADMIN,
  ALICE,
  BOB,
  FOREIGN_ALICE,
  type Gateway,
  OTHER_SELLER,
  type Principal,
  SELLER,
  startGateway,
} from '../../support/gateway.ts';
import {
  LOW_LIMITS,
  TRANSITIONS,
  bareSocket,
  charge,
  clientOf,
  eventStream,
  fund,
  gauge,
  openOrder,
  signedIn,
  socketClient,
  upgradeStatus,
  watch,
  watchOrder,
} from './support.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({
    endpoint: inject('engineEndpoint'),
    environment: { CORS_ORIGINS: 'https://shop.example' },
    overrides: LOW_LIMITS,
  });
  await fund(gateway, ADMIN, 'alice');
});
afterAll(() => gateway.close());

const clients: Client[] = [];
function connect(principal: Principal, ttlS?: number): Client {
  const client = clientOf(gateway, principal, ttlS);
  clients.push(client);
  return client;
}
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose();
  await expect.poll(() => gauge(gateway, 'hitotsu_sockets')).toBe(0);
});

const init = async (principal: Principal): Promise<unknown> => ({
  type: 'connection_init',
  payload: { authorization: `Bearer ${await gateway.token(principal)}` },
});

describe('an order watched over WebSocket and over Server-Sent Events', () => {
  it('shows its customer and its merchant every transition once, in order, with the order as it then is', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const socket = watchOrder(connect(ALICE), orderId);
    const seller = watchOrder(connect(SELLER), orderId);
    const stream = await eventStream(gateway.graphqlUrl, await gateway.token(ALICE), TRANSITIONS, {
      orderId,
    });
    await expect
      .poll(() => [socket.seen.length, seller.seen.length, stream.events.length])
      .toEqual([1, 1, 1]);
    expect(await charge(gateway, ALICE, orderId)).toBe('ChargeSuccess');
    const expected = [
      { version: 1, to: 'CREATED', cause: 'CREATED', order: { id: orderId, state: 'CREATED' } },
      { version: 2, to: 'PAID', cause: 'WALLET_CHARGED', order: { id: orderId, state: 'PAID' } },
    ];
    await expect.poll(() => socket.seen).toEqual(expected);
    await expect.poll(() => seller.seen).toEqual(expected);
    await expect
      .poll(() => stream.events)
      .toEqual(expected.map((orderTransitions) => ({ event: 'next', data: { data: { orderTransitions } } })));
    expect([socket.completed(), stream.ended()]).toEqual([false, false]);
    stream.abort();
  });

  it('goes on from a version, also when it is long in its last state', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    await charge(gateway, ALICE, orderId);
    const resumed = watchOrder(connect(ALICE), orderId, 1);
    await expect.poll(() => resumed.seen.map(({ version }) => version)).toEqual([2]);
    expect(resumed.completed()).toBe(false);
  });

  it.each([
    ['another customer', BOB],
    ['a customer of the same name in another tenant', FOREIGN_ALICE],
    ['another merchant', OTHER_SELLER],
  ])('is refused to %s, in the same words as an order that does not exist', async (_who, principal) => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const refusal = [
      { message: 'You may not watch this.', path: ['orderTransitions'], extensions: { code: 'FORBIDDEN' } },
    ];
    const foreign = watchOrder(connect(principal), orderId);
    const unknown = watchOrder(connect(principal), 'T3JkZXI');
    await expect.poll(() => foreign.errors).toMatchObject(refusal);
    await expect.poll(() => unknown.errors).toMatchObject(refusal);
    // An identity that a header claims is none.
    const token = await gateway.token(principal);
    const stream = await eventStream(
      gateway.graphqlUrl,
      token,
      TRANSITIONS,
      { orderId },
      { 'x-user-id': 'alice' },
    );
    await expect
      .poll(() => stream.events)
      .toMatchObject([{ event: 'next', data: { errors: refusal } }, { event: 'complete' }]);
  });

  it('is never mixed up between two customers with the very same document', async () => {
    const [ofAlice, ofBob] = [
      await openOrder(gateway, SELLER, 'alice'),
      await openOrder(gateway, SELLER, 'bob'),
    ];
    const alice = watchOrder(connect(ALICE), ofAlice);
    const bob = watchOrder(connect(BOB), ofBob);
    await expect.poll(() => [alice.seen.length, bob.seen.length]).toEqual([1, 1]);
    await charge(gateway, ALICE, ofAlice);
    await expect.poll(() => alice.seen.length).toBe(2);
    expect(new Set(alice.seen.map(({ order }) => order.id))).toEqual(new Set([ofAlice]));
    expect(bob.seen.map(({ order }) => order.id)).toEqual([ofBob]);
  });
});

describe('live feeds', () => {
  it("carry a merchant's transitions and an account's entries", async () => {
    const feed = watch<{ version: number; order: { id: string } }>(
      connect(SELLER),
      'subscription { merchantOrders(merchantId: "m_1") { version order { id } } }',
      {},
      (data) => data['merchantOrders'],
    );
    const entries = watch<{ operation: string; changes: unknown }>(
      connect(ALICE),
      'subscription { walletEntries(accountId: "alice") { operation changes { asset amount } } }',
      {},
      (data) => data['walletEntries'],
    );
    await expect.poll(() => gauge(gateway, 'hitotsu_subscriptions')).toBe(2);
    const orderId = await openOrder(gateway, SELLER, 'alice', '2.50');
    await charge(gateway, ALICE, orderId);
    await expect
      .poll(() => feed.seen)
      .toEqual([
        { version: 1, order: { id: orderId } },
        { version: 2, order: { id: orderId } },
      ]);
    await expect
      .poll(() => entries.seen)
      .toEqual([{ operation: 'CHARGE', changes: [{ asset: 'ECOPAY', amount: '-2.50' }] }]);
  });
});

describe('a socket', () => {
  it('runs queries, and refuses a mutation before anything of it happens', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const client = connect(ALICE);
    const state = watch<{ state: string }>(
      client,
      'query ($id: ID!) { order(id: $id) { state } }',
      { id: orderId },
      (data) => data['order'],
    );
    await expect.poll(() => state.seen).toEqual([{ state: 'CREATED' }]);
    const mutation = watch(
      client,
      'mutation ($key: IdempotencyKey!, $id: ID!) { charge(idempotencyKey: $key, input: { orderId: $id }) { __typename } }',
      { key: gateway.key(), id: orderId },
      (data) => data['charge'],
    );
    await expect
      .poll(() => mutation.errors)
      .toMatchObject([
        {
          message: 'A mutation is sent by HTTP POST, never over a socket.',
          extensions: { code: 'BAD_REQUEST' },
        },
      ]);
    const after = watch<{ state: string }>(
      client,
      'query ($id: ID!) { order(id: $id) { state } }',
      { id: orderId },
      (data) => data['order'],
    );
    await expect.poll(() => after.seen).toEqual([{ state: 'CREATED' }]);
  });

  it('is told what is wrong with its document, and nothing about HTTP', async () => {
    const wrong = watch(connect(ALICE), '{ nothing }', {}, (data) => data['nothing']);
    await expect.poll(() => wrong.errors.length).toBe(1);
    expect(wrong.errors).toEqual([
      {
        message: 'Cannot query field "nothing" on type "Query".',
        locations: [{ line: 1, column: 3 }],
        extensions: { code: 'BAD_REQUEST' },
      },
    ]);
  });

  it('is refused a version before the first', async () => {
    const early = watch(
      connect(ALICE),
      'subscription ($id: ID!) { orderTransitions(orderId: $id, afterVersion: -1) { version } }',
      { id: await openOrder(gateway, SELLER, 'alice') },
      (data) => data['orderTransitions'],
    );
    await expect
      .poll(() => early.errors)
      .toMatchObject([{ message: 'afterVersion is 0 or more.', extensions: { code: 'BAD_REQUEST' } }]);
  });

  it.each([
    ['a page of a foreign origin', '/graphql', { origin: 'https://evil.example' }, 403],
    ['a page of an allowed origin', '/graphql', { origin: 'https://shop.example' }, 101],
    ['a program without an origin', '/graphql', {}, 101],
    ['another path', '/other', {}, 404],
  ])('from %s: %s %o → %d', async (_who, path, options, status) => {
    expect(await upgradeStatus(`${gateway.url}${path}`, options)).toBe(status);
  });

  it('that does not say who it is, says it wrongly or says it twice is closed', async () => {
    const silent = await bareSocket(gateway.graphqlUrl);
    expect(await silent.closed).toEqual({ code: 4408, reason: 'Connection initialisation timeout' });
    const early = await bareSocket(gateway.graphqlUrl);
    early.send({ id: '1', type: 'subscribe', payload: { query: TRANSITIONS } });
    expect(await early.closed).toEqual({ code: 4401, reason: 'Unauthorized' });
    for (const payload of [
      undefined,
      {},
      { authorization: 'Bearer x.y.z' },
      { authorization: { toString: 'x' } },
    ]) {
      const stranger = await bareSocket(gateway.graphqlUrl);
      stranger.send({ type: 'connection_init', payload });
      expect(await stranger.closed).toEqual({ code: 4401, reason: 'Unauthorized' });
      expect(stranger.messages).toEqual([]);
    }
    const twice = await bareSocket(gateway.graphqlUrl);
    twice.send(await init(ALICE));
    twice.send(await init(BOB));
    expect(await twice.closed).toEqual({ code: 4429, reason: 'Too many initialisation requests' });
  });

  it.each([
    [-11_000, 4403, 'Token expired'],
    [10_000, 1013, 'Token not valid yet'],
  ])('with a token of %d ms from now is told to come again: %d %s', async (offsetMs, code, reason) => {
    gateway.clock.advance(offsetMs);
    const authorization = `Bearer ${await gateway.token(ALICE, 10)}`;
    gateway.clock.advance(-offsetMs);
    const refused = await bareSocket(gateway.graphqlUrl);
    refused.send({ type: 'connection_init', payload: { authorization } });
    expect(await refused.closed).toEqual({ code, reason });
  });

  it('may send messages of a bounded size', async () => {
    const loud = await signedIn(gateway, ALICE);
    loud.send({ type: 'ping', payload: { text: 'x'.repeat(4_096) } });
    expect((await loud.closed).code).toBe(1009);
  });

  it('runs a bounded number of operations, and one more when one has ended', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const client = connect(ALICE);
    const watches = Array.from({ length: 5 }, () => watchOrder(client, orderId));
    await expect.poll(() => watches.map(({ seen }) => seen.length)).toEqual([1, 1, 1, 1, 1]);
    const sixth = watchOrder(client, orderId);
    await expect.poll(() => sixth.errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
    watches[0]?.stop();
    await expect.poll(() => gauge(gateway, 'hitotsu_subscriptions')).toBe(4);
    const seventh = watchOrder(client, orderId);
    await expect.poll(() => seventh.seen.length).toBe(1);
  });

  it('is one of a bounded number for a principal; another is told to try later', async () => {
    const open = await Promise.all([0, 1, 2].map(() => bareSocket(gateway.graphqlUrl)));
    for (const socket of open) socket.send(await init(ALICE));
    await expect.poll(() => open.map(({ messages }) => messages.length)).toEqual([1, 1, 1]);
    const fourth = await bareSocket(gateway.graphqlUrl);
    fourth.send(await init(ALICE));
    expect(await fourth.closed).toEqual({ code: 1013, reason: 'Too many sockets' });
    const ofBob = await bareSocket(gateway.graphqlUrl);
    ofBob.send(await init(BOB));
    await expect.poll(() => ofBob.messages).toEqual([{ type: 'connection_ack' }]);
    open[0]?.socket.terminate();
    await expect.poll(() => gauge(gateway, 'hitotsu_sockets')).toBe(3);
    const again = await signedIn(gateway, ALICE);
    for (const { socket } of [...open, ofBob, again]) socket.terminate();
  });
});

describe('a token that expires while its socket lives', () => {
  it('closes it with 4403 and says nothing more; the client comes again with a fresh one and misses nothing', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const codes: number[] = [];
    let tokens = 0;
    const client = socketClient(
      gateway.graphqlUrl,
      () => {
        tokens += 1;
        return gateway.token(ALICE, tokens === 1 ? 1 : 3_600);
      },
      { on: { closed: (event) => codes.push((event as { code: number }).code) } },
    );
    clients.push(client);
    const watched = watchOrder(client, orderId);
    await expect.poll(() => watched.seen.length).toBe(1);
    gateway.clock.advance(1_000);
    await charge(gateway, ALICE, orderId);
    await expect
      .poll(() => watched.seen.map(({ version }) => version), { timeout: 10_000 })
      .toEqual([1, 1, 2]);
    expect([codes[0], tokens, watched.completed(), watched.errors]).toEqual([4403, 2, false, []]);
  });

  it('ends a stream of Server-Sent Events', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const stream = await eventStream(gateway.graphqlUrl, await gateway.token(ALICE, 1), TRANSITIONS, {
      orderId,
    });
    await expect.poll(() => stream.events.length).toBe(1);
    gateway.clock.advance(1_000);
    await charge(gateway, ALICE, orderId);
    await expect.poll(() => stream.ended(), { timeout: 10_000 }).toBe(true);
    expect(stream.events.map(({ event }) => event)).toEqual(['next', 'complete']);
  });
});

describe('when a client goes, nothing of its subscriptions stays', () => {
  it('through a thousand rounds of subscribing and unsubscribing on one socket', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const bare = await signedIn(gateway, ALICE);
    for (let round = 0; round < 1_000; round += 1) {
      const id = String(round);
      bare.send({ id, type: 'subscribe', payload: { query: TRANSITIONS, variables: { orderId } } });
      // Every other one is given up before it could answer.
      if (round % 2 === 0) await bare.until((message) => message.id === id);
      bare.send({ id, type: 'complete' });
    }
    await expect.poll(() => gauge(gateway, 'hitotsu_subscriptions')).toBe(0);
    bare.socket.terminate();
  }, 60_000);

  it('when sockets are torn down while subscribing, while parked, and in the middle of events', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    for (let round = 0; round < 60; round += 1) {
      const bare = await signedIn(gateway, ALICE);
      for (const id of ['a', 'b']) {
        bare.send({ id, type: 'subscribe', payload: { query: TRANSITIONS, variables: { orderId } } });
      }
      // An engine that is too busy to answer in time makes it an error, which leaves no less behind.
      if (round % 3 === 0) await bare.until(({ type }) => type === 'next' || type === 'error');
      if (round % 3 === 1) await new Promise((resolve) => setImmediate(resolve));
      bare.socket.terminate();
    }
    await expect.poll(() => gauge(gateway, 'hitotsu_sockets')).toBe(0);
    await expect.poll(() => gauge(gateway, 'hitotsu_subscriptions')).toBe(0);
  }, 60_000);

  it('when Server-Sent Events are aborted, early or late', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const token = await gateway.token(ALICE);
    for (let round = 0; round < 60; round += 1) {
      const stream = await eventStream(gateway.graphqlUrl, token, TRANSITIONS, { orderId });
      if (round % 2 === 0) await expect.poll(() => stream.events.length, { interval: 1 }).toBe(1);
      stream.abort();
    }
    await expect.poll(() => gauge(gateway, 'hitotsu_subscriptions')).toBe(0);
  }, 60_000);
});

describe('a client that does not read', () => {
  it('slows nobody, and gets all of it once it reads again', async () => {
    const orderIds = await Promise.all(Array.from({ length: 3 }, () => openOrder(gateway, SELLER, 'alice')));
    const slow = await signedIn(gateway, ALICE);
    for (const orderId of orderIds) {
      slow.send({ id: orderId, type: 'subscribe', payload: { query: TRANSITIONS, variables: { orderId } } });
    }
    await expect.poll(() => slow.messages.length).toBe(4);
    slow.socket.pause();
    const seller = connect(SELLER);
    const watches = orderIds.map((orderId) => watchOrder(seller, orderId));
    for (const orderId of orderIds) await charge(gateway, ALICE, orderId);
    await expect.poll(() => watches.map(({ seen }) => seen.length)).toEqual([2, 2, 2]);
    expect(slow.messages.length).toBe(4);
    slow.socket.resume();
    await expect.poll(() => slow.messages.length).toBe(7);
    slow.socket.terminate();
  });
});
