import { describe, expect, it } from 'vitest';
import type { StripeSimulator } from '../../dev/stripe-simulator/server.ts';
import { refusalOf, sdk, sessionParams, simulator, START_S } from './support.ts';

async function konbiniSession(target: StripeSimulator): Promise<{ session: string; paymentIntent: string }> {
  const { id } = await sdk(target).checkout.sessions.create(sessionParams());
  const { paymentIntent } = await target.startKonbini({ session: id });
  return { session: id, paymentIntent: paymentIntent?.id ?? '' };
}

function types(target: StripeSimulator): string[] {
  return target.events().map(({ type }) => type);
}

describe('a konbini payment', () => {
  it('completes the session unpaid and shows a slip with its deadline', async () => {
    const target = await simulator();
    const { session, paymentIntent } = await konbiniSession(target);
    expect(await sdk(target).checkout.sessions.retrieve(session)).toMatchObject({
      status: 'complete',
      payment_status: 'unpaid',
      payment_intent: paymentIntent,
    });
    expect(await sdk(target).paymentIntents.retrieve(paymentIntent)).toMatchObject({
      status: 'requires_action',
      amount_received: 0,
      latest_charge: null,
      metadata: { tenant: 'demo', order_id: 'ord_1', attempt: '1' },
      next_action: {
        type: 'konbini_display_details',
        konbini_display_details: {
          expires_at: START_S + 3 * 86_400,
          hosted_voucher_url: `${target.url}/konbini/${paymentIntent}`,
        },
      },
    });
    expect(types(target)).toEqual([
      'payment_intent.created',
      'payment_intent.requires_action',
      'checkout.session.completed',
    ]);
    expect(target.events()[2]?.data.object).toMatchObject({ payment_status: 'unpaid' });
  });

  it('is paid at the store days later', async () => {
    const target = await simulator();
    const { session, paymentIntent } = await konbiniSession(target);
    await target.advanceClock({ ms: 2 * 86_400_000 });
    await target.completeAsyncPayment({ session });
    expect(await sdk(target).checkout.sessions.retrieve(session)).toMatchObject({ payment_status: 'paid' });
    const intent = await sdk(target).paymentIntents.retrieve(paymentIntent, { expand: ['latest_charge'] });
    expect(intent).toMatchObject({
      status: 'succeeded',
      amount_received: 960,
      next_action: null,
      latest_charge: { payment_method_details: { type: 'konbini' }, created: START_S + 2 * 86_400 },
    });
    expect(types(target).slice(3)).toEqual([
      'charge.succeeded',
      'payment_intent.succeeded',
      'checkout.session.async_payment_succeeded',
    ]);
    await expect(target.completeAsyncPayment({ session })).rejects.toThrow('no waiting payment');
  });

  it('lapses by itself when nobody pays in time', async () => {
    const target = await simulator();
    const { session, paymentIntent } = await konbiniSession(target);
    await target.advanceClock({ ms: 3 * 86_400_000 });
    expect(await sdk(target).checkout.sessions.retrieve(session)).toMatchObject({
      status: 'complete',
      payment_status: 'unpaid',
    });
    expect(await sdk(target).paymentIntents.retrieve(paymentIntent)).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { code: 'payment_intent_payment_attempt_expired' },
    });
    expect(types(target).slice(3)).toEqual([
      'payment_intent.payment_failed',
      'checkout.session.async_payment_failed',
    ]);
  });

  it('can be canceled while it waits', async () => {
    const target = await simulator();
    const { paymentIntent } = await konbiniSession(target);
    expect(await target.cancelPaymentIntent({ paymentIntent })).toMatchObject({
      status: 'canceled',
      canceled_at: START_S,
      cancellation_reason: 'requested_by_customer',
    });
    await expect(target.cancelPaymentIntent({ paymentIntent })).rejects.toThrow('status of canceled');
    await target.advanceClock({ ms: 4 * 86_400_000 });
    expect(types(target).slice(3)).toEqual(['payment_intent.canceled']);
  });

  it('is refunded to a bank account that the customer has yet to name', async () => {
    const target = await simulator();
    const { session, paymentIntent } = await konbiniSession(target);
    await target.completeAsyncPayment({ session });
    const refund = await sdk(target).refunds.create({ payment_intent: paymentIntent });
    expect(refund.status).toBe('requires_action');
  });

  it('is refused where the session does not take it', async () => {
    const target = await simulator();
    const cardOnly = sessionParams({ allowed_payment_method_types: ['card'] });
    const { id } = await sdk(target).checkout.sessions.create(cardOnly);
    await expect(target.startKonbini({ session: id })).rejects.toThrow('does not accept konbini');
    expect((await refusalOf(sdk(target).checkout.sessions.retrieve('cs_other'))).statusCode).toBe(404);
  });
});

describe('a bank debit', () => {
  it('is processing until the money arrives', async () => {
    const target = await simulator();
    const { id } = await sdk(target).checkout.sessions.create(sessionParams());
    const { paymentIntent } = await target.startBankDebit({ session: id });
    expect(paymentIntent).toMatchObject({ status: 'processing', next_action: null });
    await target.completeAsyncPayment({ session: id });
    expect(types(target)).toEqual([
      'payment_intent.created',
      'charge.pending',
      'payment_intent.processing',
      'checkout.session.completed',
      'charge.succeeded',
      'payment_intent.succeeded',
      'checkout.session.async_payment_succeeded',
    ]);
  });

  it('can be returned', async () => {
    const target = await simulator();
    const { id } = await sdk(target).checkout.sessions.create(sessionParams());
    await target.startBankDebit({ session: id });
    await target.failAsyncPayment({ session: id });
    expect(types(target).slice(4)).toEqual([
      'charge.failed',
      'payment_intent.payment_failed',
      'checkout.session.async_payment_failed',
    ]);
  });
});
