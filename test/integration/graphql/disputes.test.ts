import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { orderKey } from '../../../src/ledger/kernel/keys.ts';
import { ZERO } from '../../../src/ledger/kernel/money.ts';
import { readOrder } from '../../../src/ledger/items/order-item.ts';
import { updateOrder } from '../../../src/ledger/items/order-writes.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { payOrder } from '../../../src/ledger/model/orders/payments.ts';
import { type DisputeDetails, decideDispute } from '../../../src/ledger/model/provider/disputes.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { orderRefOf } from '../../../src/ledger/usecases/runtime/input.ts';
import { ALICE, BOB, type Gateway, SELLER, codesOf, dataOf, startGateway } from '../../support/gateway.ts';
import { openOrder } from './money.ts';

/** What is told of disputes, and of what can be refunded beside them. */

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
});
afterAll(() => gateway.close());

async function change(id: string, next: (order: Order) => Order): Promise<void> {
  const { ledger } = gateway.server.app;
  const ref = orderRefOf('t_1', id);
  if (ref === undefined) throw new Error('no order');
  const [item] = await ledger.store.get([orderKey(ref)]);
  const order = readOrder(item ?? {});
  const part = updateOrder(order, next(order), ledger.settings);
  expect(await commit(ledger, plan(ledger.ids.token(), part))).toEqual({ kind: 'COMMITTED' });
}

/** An order of 13.10 that a card paid. */
async function paidByCard(): Promise<string> {
  const id = await openOrder(gateway, ALICE, '13.10');
  const atMs = gateway.clock.nowMs();
  await change(id, (order) =>
    payOrder(order, 'MONEY_ARRIVED', { method: 'CHECKOUT', atMs, paymentId: 'pi_1' }, [], {
      cause: 'PAYMENT_RECEIVED',
      actor: 'stripe',
      atMs,
    }),
  );
  return id;
}

async function dispute(id: string, details: Partial<DisputeDetails>): Promise<void> {
  await change(id, (order) => {
    const reported: DisputeDetails = {
      disputeId: 'du_1',
      paymentId: 'pi_1',
      status: 'open',
      amountMinor: 1_310,
      currency: 'USD',
      ofOverpayment: false,
      ...details,
    };
    const decided = decideDispute(order, reported, ZERO, true, {
      atMs: gateway.clock.nowMs(),
      entryId: '01HZY3V9QK7F0B6W8N4T2D5XCN',
      stepNames: gateway.server.app.ledger.followUps,
    });
    if (decided.kind !== 'CHANGE') throw new Error(decided.kind);
    return decided.after;
  });
}

const ORDER = `query($id: ID!) { order(id: $id) {
  refundableAmount disputed disputes { id amount currency reason status dueBy } } }`;

interface ShownOrder {
  readonly order: {
    readonly refundableAmount: string;
    readonly disputed: boolean;
    readonly disputes: readonly { readonly id: string }[];
  } | null;
}

async function shownOrder(id: string): Promise<NonNullable<ShownOrder['order']>> {
  const { order } = dataOf(await gateway.run<ShownOrder, { id: string }>(SELLER, ORDER, { id }));
  if (order === null) throw new Error('no order');
  return order;
}

const refund = (id: string, amount: string): string =>
  `mutation { refund(idempotencyKey: "${gateway.key()}", input: { orderId: "${id}", amount: "${amount}" }) { __typename } }`;

describe('an order whose payment is disputed', () => {
  it('has nothing to refund while the dispute is open or lost, in part as in full, as `refund` says', async () => {
    const id = await paidByCard();
    expect((await shownOrder(id)).refundableAmount).toBe('13.10');
    await dispute(id, { reason: 'fraudulent', dueByS: 1_900_000_000, amountMinor: 500 });
    expect(await shownOrder(id)).toEqual({
      refundableAmount: '0.00',
      disputed: true,
      disputes: [
        {
          id: expect.any(String) as string,
          amount: '5.00',
          currency: 'USD',
          reason: 'fraudulent',
          status: 'OPEN',
          dueBy: '2030-03-17T17:46:40.000Z',
        },
      ],
    });
    await dispute(id, { status: 'lost', amountMinor: 500 });
    expect(await shownOrder(id)).toMatchObject({
      refundableAmount: '0.00',
      disputes: [{ status: 'LOST', reason: 'fraudulent', dueBy: '2030-03-17T17:46:40.000Z' }],
    });
    expect(dataOf(await gateway.run<object, never>(SELLER, refund(id, '1.00')))).toEqual({
      refund: { __typename: 'OrderDisputed' },
    });
    await dispute(id, { status: 'won', amountMinor: 500 });
    expect(await shownOrder(id)).toMatchObject({
      refundableAmount: '13.10',
      disputed: false,
      disputes: [{ status: 'WON' }],
    });
  });

  it('keeps what can be refunded while the bank only asks', async () => {
    const id = await paidByCard();
    await dispute(id, { status: 'inquiry' });
    expect(await shownOrder(id)).toMatchObject({
      refundableAmount: '13.10',
      disputed: false,
      disputes: [{ amount: '13.10', reason: null, status: 'INQUIRY', dueBy: null }],
    });
  });

  it('shows a dispute by its id to whoever sees the order', async () => {
    const id = await paidByCard();
    await dispute(id, {});
    const [shown] = (await shownOrder(id)).disputes;
    const node = (principal: typeof ALICE) =>
      gateway.run<object, { id: string | undefined }>(
        principal,
        'query($id: ID!) { node(id: $id) { id ... on Dispute { status amount } } }',
        { id: shown?.id },
      );
    expect(dataOf(await node(ALICE))).toEqual({ node: { id: shown?.id, status: 'OPEN', amount: '13.10' } });
    expect(dataOf(await node(BOB))).toEqual({ node: null });
  });
});

describe('a refund', () => {
  it('says its currency and its order', async () => {
    const id = await openOrder(gateway, ALICE, '20.00');
    const atMs = gateway.clock.nowMs();
    await change(id, (order) =>
      payOrder(order, 'WALLET_CHARGE', { method: 'WALLET', atMs, asset: 'ECOPAY' }, [], {
        cause: 'WALLET_CHARGED',
        actor: 'alice',
        atMs,
      }),
    );
    const given = `mutation($id: ID!) { refund(idempotencyKey: "told", input: { orderId: $id, amount: "5.00" }) {
      ... on RefundSuccess { refund { amount currency order { id refundedAmount refunds { currency order { id } } } } } } }`;
    expect(codesOf(await gateway.run<unknown, { id: string }>(SELLER, given, { id }))).toEqual([]);
    const again = dataOf(await gateway.run<object, { id: string }>(SELLER, given, { id }));
    expect(again).toEqual({
      refund: {
        refund: {
          amount: '5.00',
          currency: 'USD',
          order: { id, refundedAmount: '5.00', refunds: [{ currency: 'USD', order: { id } }] },
        },
      },
    });
  });

  it('leads to no list of its order from the list of an order', async () => {
    const query = 'query($id: ID!) { order(id: $id) { refunds { order { disputes { id } } } } }';
    const answer = await gateway.run<unknown, { id: string }>(SELLER, query, { id: 'x' });
    expect(codesOf(answer)).toEqual(['BAD_REQUEST']);
    expect(answer.errors[0]?.message).toContain("can't be selected below");
  });
});
