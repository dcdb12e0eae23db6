import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import { paymentPage, payableWith } from '../../../src/ledger/model/orders/order-view.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import type { ProviderEvent } from '../../../src/provider/port.ts';
import { customer } from '../../support/harness.ts';
import {
  type ProviderHarness,
  URLS,
  applyEvents,
  checkedOut,
  makeProviderHarness,
  sessionOf,
  sessionsMade,
} from './support.ts';

/** A payment that was under way and failed while its session can still be paid: the customer gets the page again. */

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const alice = customer('u_1');

function orderNow(orderId: string): Promise<Order> {
  return harness.order('t_1', 'u_1', orderId);
}

async function checkoutAgain(id: string): Promise<string> {
  return (await checkout(harness.ledger, alice, harness.key(), { orderId: id, ...URLS })).kind;
}

interface Opened {
  readonly id: string;
  readonly orderId: string;
  readonly sessionId: string;
}

/** An order that was told of its payment's processing, and whose payment then failed. */
async function failedAfterProcessing(): Promise<Opened> {
  const opened = await checkedOut(harness);
  await harness.simulator.startCardProcessing({ session: opened.sessionId });
  await applyEvents(harness);
  expect((await orderNow(opened.orderId)).state).toBe('PENDING_PAYMENT');
  await harness.simulator.declineCard({ session: opened.sessionId, declineCode: 'insufficient_funds' });
  return opened;
}

/** The events of an order's payment, oldest first. */
async function paymentEventsOf({ sessionId }: Opened): Promise<readonly ProviderEvent[]> {
  const session = await harness.ledger.provider.retrieveSession(sessionId);
  const paymentId = session.kind === 'DONE' ? session.value.paymentId : undefined;
  const listed = await harness.ledger.provider.listEvents({ limit: 100 });
  if (listed.kind !== 'DONE') throw new Error(listed.kind);
  return listed.value.items
    .filter(({ object }) => object.kind === 'payment' && object.payment.paymentId === paymentId)
    .reverse();
}

describe('a payment that fails after it was processing, its session open', () => {
  it('gives the customer the same page at once, which can be paid', async () => {
    const opened = await failedAfterProcessing();
    await applyEvents(harness);
    const order = await orderNow(opened.orderId);
    expect(order.state).toBe('SESSION_CREATED');
    expect(order.timeline.at(-1)).toMatchObject({
      from: 'PENDING_PAYMENT',
      to: 'SESSION_CREATED',
      cause: 'PAYMENT_DECLINED',
      detail: 'insufficient_funds',
    });
    const nowMs = harness.clock.nowMs();
    expect(paymentPage(order, nowMs)?.url).toBe(order.attempts[0]?.url);
    expect(paymentPage(order, nowMs)?.url).toMatch(/^http/);
    expect(payableWith(order, nowMs)).toEqual(['CHECKOUT']);
    const made = await sessionsMade(harness);
    expect(await checkoutAgain(opened.id)).toBe('CheckoutSuccess');
    expect(await sessionsMade(harness)).toBe(made);
    await harness.simulator.payByCard({ session: opened.sessionId });
    await applyEvents(harness);
    const paid = await orderNow(opened.orderId);
    expect([paid.state, paid.overpayments]).toEqual(['PAID', []]);
    const entries = await harness.entries('t_1', 'u_1');
    expect(entries.filter(({ orderId }) => orderId === opened.orderId)).toHaveLength(1);
  });

  it('lets the customer cancel, which ends the session', async () => {
    const { id, orderId, sessionId } = await failedAfterProcessing();
    await applyEvents(harness);
    const canceled = await cancelOrder(harness.ledger, alice, harness.key(), { orderId: id });
    expect(canceled.kind).toBe('CancelOrderSuccess');
    expect((await orderNow(orderId)).state).toBe('CANCELED');
    const session = await harness.ledger.provider.retrieveSession(sessionId);
    expect(session).toMatchObject({ kind: 'DONE', value: { status: 'expired' } });
  });

  it('whose webhook is lost is found out by the next checkout', async () => {
    const { id, orderId, sessionId } = await failedAfterProcessing();
    expect(await checkoutAgain(id)).toBe('CheckoutSuccess');
    expect((await orderNow(orderId)).state).toBe('SESSION_CREATED');
    expect(await sessionOf(harness, orderId)).toBe(sessionId);
  });

  it('whose webhook is lost is found out by the sweeper', async () => {
    const { orderId } = await failedAfterProcessing();
    await harness.advance(31 * 60_000);
    const ref = { tenant: 't_1', accountId: 'u_1', orderId };
    expect(await sweepOrder(harness.ledger, ref)).toBe('WAITING');
    expect((await orderNow(orderId)).state).toBe('SESSION_CREATED');
  });

  it('ends there in whatever order its events come', async () => {
    const opened = await checkedOut(harness);
    await harness.simulator.startCardProcessing({ session: opened.sessionId });
    await harness.simulator.declineCard({ session: opened.sessionId });
    const events = (await paymentEventsOf(opened)).filter(({ type }) => /processing|failed/.test(type));
    expect(events.map(({ type }) => type)).toEqual([
      'payment_intent.processing',
      'payment_intent.payment_failed',
    ]);
    for (const event of [...events].reverse()) await applyEvent(harness.ledger, event);
    expect((await orderNow(opened.orderId)).state).toBe('SESSION_CREATED');
    expect(await checkoutAgain(opened.id)).toBe('CheckoutSuccess');
  });

  it('and is tried again: an earlier failure that comes late takes nothing back', async () => {
    const opened = await checkedOut(harness);
    await harness.simulator.declineCard({ session: opened.sessionId });
    await harness.simulator.startCardProcessing({ session: opened.sessionId });
    const events = await paymentEventsOf(opened);
    const processing = events.filter(({ type }) => type === 'payment_intent.processing');
    const failed = events.filter(({ type }) => type === 'payment_intent.payment_failed');
    for (const event of [...processing, ...failed]) await applyEvent(harness.ledger, event);
    const order = await orderNow(opened.orderId);
    expect([order.state, order.timeline.at(-1)?.cause]).toEqual(['PENDING_PAYMENT', 'PAYMENT_DECLINED']);
    await harness.simulator.payByCard({ session: opened.sessionId });
    await applyEvents(harness);
    expect((await orderNow(opened.orderId)).state).toBe('PAID');
  });

  it('or is canceled in the dashboard, with its webhook or without it', async () => {
    for (const byEvents of [true, false]) {
      const opened = await checkedOut(harness);
      const { paymentIntent } = await harness.simulator.startCardProcessing({ session: opened.sessionId });
      await applyEvents(harness);
      await harness.simulator.cancelPaymentIntent({ paymentIntent: paymentIntent?.id ?? '' });
      if (byEvents) await applyEvents(harness);
      expect((await orderNow(opened.orderId)).state).toBe(byEvents ? 'SESSION_CREATED' : 'PENDING_PAYMENT');
      expect(await checkoutAgain(opened.id)).toBe('CheckoutSuccess');
      const order = await orderNow(opened.orderId);
      expect([order.state, order.attempts.length]).toEqual(['SESSION_CREATED', 1]);
    }
  });

  it('while Stripe cannot be asked comes again, and nothing is guessed', async () => {
    const opened = await failedAfterProcessing();
    const failed = (await paymentEventsOf(opened)).filter(({ type }) => type.endsWith('payment_failed'));
    await harness.simulator.failNextRequests({ method: 'GET', count: 1, status: 500, type: 'api_error' });
    for (const event of failed) {
      expect(await applyEvent(harness.ledger, event)).toEqual({ kind: 'RETRY_LATER', reason: 'PROVIDER' });
      expect(await applyEvent(harness.ledger, event)).toMatchObject({ kind: 'DONE', outcome: 'APPLIED' });
    }
    expect(failed).toHaveLength(1);
    expect((await orderNow(opened.orderId)).state).toBe('SESSION_CREATED');
  });

  it('whose session has ended since gets a new page', async () => {
    const { id, orderId, sessionId } = await failedAfterProcessing();
    await harness.simulator.expireSession({ session: sessionId });
    const failed = (await paymentEventsOf({ id, orderId, sessionId })).filter(({ type }) =>
      type.endsWith('payment_failed'),
    );
    for (const event of failed) await applyEvent(harness.ledger, event);
    expect((await orderNow(orderId)).state).toBe('EXPIRED');
    expect(await checkoutAgain(id)).toBe('CheckoutSuccess');
    expect(await sessionOf(harness, orderId)).not.toBe(sessionId);
  });
});
