import type { Client } from '@urql/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Tunnel, openTunnel } from '../../../dev/demo/tunnel.ts';
import { createGatewayClient } from '../../client-example/client.ts';
import { type KeptKeys, type Storage, createKeptKeys } from '../../client-example/kept-keys.ts';
import { type PayOptions, pay } from '../../client-example/pay.ts';
import { type Transport, createTransport } from '../../client-example/transport.ts';
import { type Transition, WatchRefusedError, watchOrder } from '../../client-example/watch-order.ts';
import {
  ADMIN,
  ALICE,
  BOB,
  type Gateway,
  type Principal,
  SELLER,
  dataOf,
  startGateway,
} from '../../support/gateway.ts';
import { charge, fund, openOrder } from './support.ts';

let gateway: Gateway;
let tunnel: Tunnel;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
  await fund(gateway, ADMIN, 'alice');
});
afterAll(() => gateway.close());
beforeEach(async () => {
  tunnel = await openTunnel(gateway.url);
});
afterEach(() => tunnel.close());

/** A storage that outlives the app. */
function storage(): Storage & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (name) => Promise.resolve(kept.get(name) ?? null),
    setItem: (name, value) => Promise.resolve(void kept.set(name, value)),
    removeItem: (name) => Promise.resolve(void kept.delete(name)),
  };
}

function clientOf(principal: Principal): Client {
  return createGatewayClient({
    url: `${tunnel.url}/graphql`,
    token: () => gateway.token(principal),
    webSocketImpl: WebSocket,
  });
}

function app(keys: KeptKeys, changes: Partial<PayOptions> = {}): PayOptions {
  return {
    keys,
    transport: createTransport(clientOf(ALICE)),
    wait: () => Promise.resolve(),
    ...changes,
  };
}

async function balance(): Promise<string | undefined> {
  const answer = await gateway.run<
    { viewer: { wallet: { balances: { asset: string; amount: string }[] } } },
    object
  >(ALICE, '{ viewer { wallet { balances { asset amount } } } }');
  return dataOf(answer).viewer.wallet.balances.find(({ asset }) => asset === 'ECOPAY')?.amount;
}

describe('the example client', () => {
  it('pays once though the answer is lost and the app is restarted in between', async () => {
    const disk = storage();
    const before = Number(await balance());
    const orderId = await openOrder(gateway, SELLER, 'alice', '10.00');
    tunnel.loseAnswers();
    expect(await pay(app(createKeptKeys(disk), { tries: 2 }), orderId)).toEqual({ kind: 'UNKNOWN' });
    expect(disk.kept.size).toBe(1);
    tunnel.leave();
    // Another process, the same storage.
    const paid = await pay(app(createKeptKeys(disk)), orderId);
    expect(paid).toEqual({ kind: 'PAID', balance: (before - 10).toFixed(2) });
    expect(disk.kept.size).toBe(0);
    expect(await balance()).toBe((before - 10).toFixed(2));
  });

  it('keeps its key on a member that it does not know, and asks the order itself', async () => {
    const disk = storage();
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const { transport } = app(createKeptKeys(disk));
    const newer: Transport = {
      run: async (document, variables) => {
        const sent = await transport.run(document, variables);
        if (sent.kind !== 'DATA' || !JSON.stringify(sent.data).includes('ChargeSuccess')) return sent;
        return {
          kind: 'DATA',
          data: JSON.parse(
            JSON.stringify(sent.data).replace('ChargeSuccess', 'PaymentDeferred'),
          ) as typeof sent.data,
        };
      },
    };
    expect(await pay(app(createKeptKeys(disk), { transport: newer }), orderId)).toEqual({
      kind: 'PAID',
      balance: undefined,
    });
    expect(disk.kept.size).toBe(0);
  });

  it('tells the ends of a payment apart, and never asks again by itself where that is of no use', async () => {
    const disk = storage();
    const tooDear = await openOrder(gateway, SELLER, 'alice', '100000.00');
    expect(await pay(app(createKeptKeys(disk)), tooDear)).toMatchObject({
      kind: 'TOO_LITTLE_MONEY',
      missing: { required: '100000.00' },
    });
    const paid = await openOrder(gateway, SELLER, 'alice');
    await charge(gateway, ALICE, paid);
    expect(await pay(app(createKeptKeys(disk)), paid)).toEqual({ kind: 'NOT_PAYABLE', state: 'PAID' });
    expect(await pay(app(createKeptKeys(disk)), 'nonsense')).toMatchObject({ kind: 'REFUSED' });
    expect(disk.kept.size).toBe(0);
  });

  it('sees every transition once and in order through a tunnel', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const { seen, stop } = follow(clientOf(ALICE), orderId);
    await expect.poll(() => seen.map(({ version }) => version)).toEqual([1]);
    tunnel.enter();
    expect(await charge(gateway, ALICE, orderId)).toBe('ChargeSuccess');
    expect(seen.length).toBe(1);
    tunnel.leave();
    await expect
      .poll(() => seen.map(({ version, to }) => `${version} ${to}`), { timeout: 10_000 })
      .toEqual(['1 CREATED', '2 PAID']);
    stop();
  });

  it('gives a second watcher of the same order what was replayed before it came', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const client = clientOf(ALICE);
    const first = follow(client, orderId);
    await expect.poll(() => first.seen.map(({ version }) => version)).toEqual([1]);
    const second = follow(client, orderId);
    await expect.poll(() => second.seen.map(({ version }) => version)).toEqual([1]);
    first.stop();
    second.stop();
    expect(await Promise.all([first.failed, second.failed])).toEqual([undefined, undefined]);
  });

  it('stops asking for an order that it may not watch', async () => {
    const orderId = await openOrder(gateway, SELLER, 'alice');
    const { failed } = follow(clientOf(BOB), orderId);
    expect(await failed).toBeInstanceOf(WatchRefusedError);
  });
});

function follow(client: Client, orderId: string) {
  const controller = new AbortController();
  const seen: Transition[] = [];
  const options = {
    client,
    wait: () => new Promise<void>((resolve) => setTimeout(resolve, 10)),
  };
  const failed = (async (): Promise<unknown> => {
    try {
      for await (const transition of watchOrder(options, orderId, 0, controller.signal))
        seen.push(transition);
      return undefined;
    } catch (error) {
      return error;
    }
  })();
  return {
    seen,
    failed,
    stop: () => {
      controller.abort();
    },
  };
}
