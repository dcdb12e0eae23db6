import { describe, expect, it } from 'vitest';
import type { StripeSimulator } from '../../dev/stripe-simulator/server.ts';
import { paidSession, refusalOf, sdk, sessionParams, simulator, webhookReceiver } from './support.ts';

const AFTER_PAYMENT = 4;

function typesAfterPayment(target: StripeSimulator): string[] {
  return target
    .events()
    .slice(AFTER_PAYMENT)
    .map(({ type }) => type);
}

async function refundedMinor(target: StripeSimulator, paymentIntent: string): Promise<unknown> {
  const intent = await sdk(target).paymentIntents.retrieve(paymentIntent, { expand: ['latest_charge'] });
  const charge = intent.latest_charge;
  return charge === null || typeof charge === 'string' ? charge : [charge.amount_refunded, charge.refunded];
}

describe('a refund', () => {
  it('of a card succeeds at once, in two parts, and never above the charge', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const { paymentIntent } = await paidSession(target);

    const part = await stripe.refunds.create({
      payment_intent: paymentIntent,
      amount: 360,
      reason: 'requested_by_customer',
      metadata: { tenant: 'demo', order_id: 'ord_1', refund_id: 'r1' },
    });
    expect(part).toMatchObject({
      object: 'refund',
      status: 'succeeded',
      amount: 360,
      currency: 'jpy',
      payment_intent: paymentIntent,
      reason: 'requested_by_customer',
      metadata: { refund_id: 'r1' },
    });
    expect(await refundedMinor(target, paymentIntent)).toEqual([360, false]);

    const tooMuch = await refusalOf(stripe.refunds.create({ payment_intent: paymentIntent, amount: 601 }));
    expect(tooMuch).toMatchObject({ statusCode: 400, param: 'amount' });

    const rest = await stripe.refunds.create({ payment_intent: paymentIntent });
    expect(rest.amount).toBe(600);
    expect(await refundedMinor(target, paymentIntent)).toEqual([960, true]);
    const again = await refusalOf(stripe.refunds.create({ payment_intent: paymentIntent, amount: 1 }));
    expect(again).toMatchObject({ statusCode: 400, code: 'charge_already_refunded' });
    expect(typesAfterPayment(target)).toEqual([
      'refund.created',
      'charge.refunded',
      'refund.created',
      'charge.refunded',
    ]);
  });

  it('event names the request that caused it and what changed', async () => {
    const target = await simulator();
    const { paymentIntent } = await paidSession(target);
    const refund = await sdk(target).refunds.create(
      { payment_intent: paymentIntent, amount: 360 },
      { idempotencyKey: 'key-of-refund' },
    );
    const [created, charged] = target.events().slice(AFTER_PAYMENT);
    expect(created?.request).toEqual({
      id: refund.lastResponse.requestId,
      idempotency_key: 'key-of-refund',
    });
    expect(charged?.data.previous_attributes).toEqual({ amount_refunded: 0 });
    expect(charged?.data.object).toMatchObject({ object: 'charge', amount_refunded: 360 });
  });

  it('that waits reserves its amount and gives it back when it fails', async () => {
    const receiver = await webhookReceiver();
    const target = await simulator({ webhookUrl: receiver.url });
    const stripe = sdk(target);
    const { paymentIntent } = await paidSession(target);
    await target.nextRefunds({ status: 'pending', count: 1 });

    const waiting = await stripe.refunds.create({ payment_intent: paymentIntent, amount: 700 });
    expect(waiting).toMatchObject({ status: 'pending', pending_reason: 'processing' });
    await refusalOf(stripe.refunds.create({ payment_intent: paymentIntent, amount: 261 }));

    await target.settleRefund({ refund: waiting.id, status: 'failed', failureReason: 'insufficient_funds' });
    const failed = await stripe.refunds.retrieve(waiting.id);
    expect(failed).toMatchObject({ status: 'failed', failure_reason: 'insufficient_funds' });
    expect(failed.pending_reason).toBeUndefined();
    expect(await refundedMinor(target, paymentIntent)).toEqual([0, false]);
    await target.idle();
    expect(receiver.types().slice(AFTER_PAYMENT)).toEqual([
      'refund.created',
      'charge.refunded',
      'refund.updated',
      'charge.refund.updated',
      'refund.failed',
    ]);
    // The rule was for one refund.
    expect((await stripe.refunds.create({ payment_intent: paymentIntent })).status).toBe('succeeded');
  });

  it('that had succeeded can still fail, once', async () => {
    const target = await simulator();
    const { paymentIntent } = await paidSession(target);
    const { id } = await sdk(target).refunds.create({ payment_intent: paymentIntent });
    expect((await target.settleRefund({ refund: id, status: 'failed' })).status).toBe('failed');
    expect(await refundedMinor(target, paymentIntent)).toEqual([0, false]);
    await expect(target.settleRefund({ refund: id, status: 'failed' })).rejects.toThrow('it is failed');
    await expect(target.settleRefund({ refund: id, status: 'succeeded' })).rejects.toThrow('it is failed');
  });

  it('that waits can be canceled, or succeed', async () => {
    const target = await simulator();
    const { paymentIntent } = await paidSession(target);
    await target.nextRefunds({ status: 'requires_action', count: 2 });
    const { refunds } = sdk(target);
    const first = await refunds.create({ payment_intent: paymentIntent, amount: 100 });
    const second = await refunds.create({ payment_intent: paymentIntent, amount: 200 });
    expect(first).toMatchObject({
      status: 'requires_action',
      next_action: { display_details: { email_sent: { email_sent_to: 'taro.yamada@example.com' } } },
    });
    await target.settleRefund({ refund: first.id, status: 'canceled' });
    await target.settleRefund({ refund: second.id, status: 'succeeded' });
    expect(await refundedMinor(target, paymentIntent)).toEqual([200, false]);
    expect((await refunds.list()).data.map(({ status }) => status)).toEqual(['succeeded', 'canceled']);
  });

  it('that fails at once takes nothing', async () => {
    const target = await simulator();
    const { paymentIntent } = await paidSession(target);
    await target.nextRefunds({ status: 'failed' });
    const refund = await sdk(target).refunds.create({ payment_intent: paymentIntent });
    expect(refund.status).toBe('failed');
    expect(await refundedMinor(target, paymentIntent)).toEqual([0, false]);
    expect(typesAfterPayment(target)).toEqual(['refund.created', 'refund.failed']);
  });

  it('from the dashboard has no metadata and no request', async () => {
    const target = await simulator();
    const { paymentIntent } = await paidSession(target);
    const refund = await target.dashboardRefund({ paymentIntent, amount: 300, status: 'pending' });
    expect(refund).toMatchObject({ amount: 300, status: 'pending', metadata: {} });
    expect(target.events().at(AFTER_PAYMENT)?.request).toEqual({ id: null, idempotency_key: null });
  });

  it('of a payment that has not succeeded is refused', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const { id } = await stripe.checkout.sessions.create(sessionParams());
    const { paymentIntent } = await target.declineCard({ session: id });
    const refusal = await refusalOf(stripe.refunds.create({ payment_intent: paymentIntent?.id ?? '' }));
    expect(refusal).toMatchObject({ statusCode: 400, code: 'payment_intent_unexpected_state' });
    expect((await refusalOf(stripe.refunds.create({ amount: 5 }))).statusCode).toBe(400);
    expect(await refusalOf(stripe.refunds.create({ payment_intent: 'pi_x', amount: 0 }))).toMatchObject({
      param: 'amount',
    });
  });
});
