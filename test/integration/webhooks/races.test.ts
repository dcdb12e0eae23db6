import { describe, expect, it } from 'vitest';
import {
  stripeDispute,
  stripePayment,
  stripeRefund,
  stripeSession,
} from '../../unit/provider/stripe/stripe-objects.ts';
import { admin, customer, merchant } from '../../support/harness.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import {
  readProviderPayment,
  readProviderRefund,
  readProviderSession,
} from '../../../src/provider/stripe/mapping.ts';
import type { ProviderEvent } from '../../../src/provider/port.ts';
import { type World, eventOf, makeWorld, metadataOf } from './support.ts';

/** Events that arrive at the same moment as each other, and as what we do ourselves, on the engine. */

/** Delivers all of them twice at once, and again what must come again, as the provider does. */
async function deliverTogether(world: World, events: readonly ProviderEvent[]): Promise<void> {
  let left = [...events, ...events];
  for (let rounds = 0; left.length > 0; rounds += 1) {
    if (rounds > 20) throw new Error('some event comes again for ever');
    const settled = await Promise.all(left.map((event) => world.apply(event)));
    left = left.filter((_, index) => settled[index]?.kind === 'RETRY_LATER');
  }
}

function reportedSession(
  world: World,
  order: Order,
  attempt: number,
  type: string,
  paymentStatus: 'paid' | 'unpaid',
): ProviderEvent {
  return eventOf(
    world,
    `checkout.session.${type}`,
    stripeSession({
      id: `cs_${String(attempt)}`,
      status: 'complete',
      payment_status: paymentStatus,
      payment_intent: `pi_${String(attempt)}`,
      metadata: metadataOf(order, attempt),
    }),
  );
}

function reportedPayment(world: World, order: Order, attempt: number): ProviderEvent {
  const payment = stripePayment({ id: `pi_${String(attempt)}`, metadata: metadataOf(order, attempt) });
  const reading = readProviderPayment(payment);
  if (reading.kind === 'READ') world.account.payments.set(reading.value.paymentId, reading.value);
  const session = readProviderSession(
    stripeSession({
      id: `cs_${String(attempt)}`,
      status: 'complete',
      payment_status: 'paid',
      payment_intent: `pi_${String(attempt)}`,
      metadata: metadataOf(order, attempt),
    }),
  );
  if (session.kind === 'READ') world.account.sessions.set(session.value.sessionId, session.value);
  return eventOf(world, 'payment_intent.succeeded', payment);
}

const idOf = (order: Order): string => encodeNodeId('Order', order.tenant, order.accountId, order.orderId);

describe('events at the same moment', () => {
  it('of a konbini payment: paid once', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    await deliverTogether(world, [
      reportedSession(world, order, 1, 'completed', 'unpaid'),
      reportedSession(world, order, 1, 'async_payment_succeeded', 'paid'),
      reportedPayment(world, order, 1),
    ]);
    expect((await world.now(order)).state).toBe('PAID');
    expect(await world.entries('demo', 'alice')).toHaveLength(1);
  });

  it('of two payments of one order: one pays, one is surplus', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ sessionIds: ['cs_1', 'cs_2'] });
    await deliverTogether(world, [
      reportedSession(world, order, 1, 'completed', 'paid'),
      reportedSession(world, order, 2, 'completed', 'paid'),
      reportedPayment(world, order, 1),
      reportedPayment(world, order, 2),
    ]);
    const after = await world.now(order);
    expect([after.state, after.overpayments.length]).toEqual(['PAID', 1]);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('500');
    expect(await world.recorded('alice', `surplus:${order.orderId}`)).toBe('500');
    expect(world.counted.get('SurplusPayment')).toBe(1);
  });

  it('of a payment, two dashboard refunds and a lost dispute of a top-up: each is booked once', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ kind: 'TOP_UP' });
    await deliverTogether(world, [
      reportedPayment(world, order, 1),
      eventOf(world, 'refund.created', stripeRefund({ metadata: {}, amount: 200 })),
      eventOf(world, 'refund.updated', stripeRefund({ metadata: {}, amount: 200 })),
      eventOf(world, 'refund.created', stripeRefund({ id: 're_2', metadata: {}, amount: 100 })),
      eventOf(world, 'charge.dispute.closed', stripeDispute({ status: 'lost', amount: 500 })),
    ]);
    const after = await world.now(order);
    // 800 went out of the 500 that came in.
    expect(await world.balance('demo', 'alice')).toBe('0');
    expect(after.receivable.toFixed()).toBe('300');
    expect(await world.recorded('alice', 'receivable:alice', 'ECOPAY')).toBe('-300');
    expect(await world.recorded('alice', 'stripe', 'ECOPAY')).toBe('300');
    expect((await world.refundsOf(order)).map(({ state }) => state)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  });
});

describe('an event and an operation of ours at the same moment', () => {
  it('a payment, and a wallet charge of the order after its session expired: paid once, the other way surplus', async () => {
    const world = await makeWorld();
    await world.fund('demo', 'alice', '500');
    const order = await world.waitingOrder();
    const expired = stripeSession({
      id: 'cs_1',
      status: 'expired',
      metadata: metadataOf(order),
    });
    await world.apply(eventOf(world, 'checkout.session.expired', expired));
    const [charged] = await Promise.all([
      charge(world.ledger, customer('alice', 'demo'), world.key(), { orderId: idOf(order), asset: 'ECOPAY' }),
      deliverTogether(world, [reportedPayment(world, order, 1)]),
    ]);
    const after = await world.now(order);
    expect(after.state).toBe('PAID');
    const byWallet = charged.kind === 'ChargeSuccess';
    expect(after.payment?.method).toBe(byWallet ? 'WALLET' : 'CHECKOUT');
    expect(after.overpayments).toHaveLength(byWallet ? 1 : 0);
    expect(await world.balance('demo', 'alice')).toBe(byWallet ? '0' : '500');
  });

  it('a dashboard refund and a refund of ours: what we request stays within what was left', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    await deliverTogether(world, [reportedPayment(world, order, 1)]);
    const ledger = {
      ...world.ledger,
      provider: {
        ...world.ledger.provider,
        createRefund: ({ refundId, amountMinor }: { refundId: string; amountMinor: number }) => {
          const made = readProviderRefund(
            stripeRefund({ id: 're_ours', amount: amountMinor, metadata: { refund_id: refundId } }),
          );
          if (made.kind !== 'READ') throw new Error('unreadable refund');
          return Promise.resolve({ kind: 'DONE', value: made.value } as const);
        },
      },
    };
    const input = { orderId: idOf(order), amount: '300' };
    const [asked] = await Promise.all([
      refund(ledger, merchant('cafe', 'demo'), world.key(), input),
      deliverTogether(world, [eventOf(world, 'refund.created', stripeRefund({ metadata: {}, amount: 300 }))]),
    ]);
    const after = await world.now(order);
    const ours = asked.kind === 'RefundSuccess';
    expect(ours || asked.kind === 'RefundExceedsRefundable').toBe(true);
    expect(await world.refundsOf(order)).toHaveLength(ours ? 2 : 1);
    expect(after.refundable.toFixed()).toBe(ours ? '-100' : '200');
    expect(await world.recorded('alice', 'merchant:cafe')).toBe(ours ? '-100' : '200');
  });

  it('a lost dispute and spending: the wallet never goes below zero, and what it lacks is owed', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder({ kind: 'TOP_UP' });
    await deliverTogether(world, [reportedPayment(world, order, 1)]);
    const spend = { accountId: 'alice', asset: 'ECOPAY', amount: '-150', reason: 'spent' };
    const [, ...spendings] = await Promise.all([
      deliverTogether(world, [
        eventOf(world, 'charge.dispute.closed', stripeDispute({ status: 'lost', amount: 500 })),
      ]),
      ...[1, 2, 3].map(() => adjustBalance(world.ledger, admin('demo'), world.key(), spend)),
    ]);
    const spent = 150 * spendings.filter(({ kind }) => kind === 'AdjustBalanceSuccess').length;
    expect(await world.balance('demo', 'alice')).toBe('0');
    expect((await world.now(order)).receivable.toFixed()).toBe(String(spent));
  });
});
