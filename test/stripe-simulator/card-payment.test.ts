import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { sdk, sessionParams, simulator, START_S, WEBHOOK_SECRET, webhookReceiver } from './support.ts';

describe('a card payment', () => {
  it('starts with an open session that has no payment intent yet', async () => {
    const target = await simulator();
    const session = await sdk(target).checkout.sessions.create(sessionParams());

    expect(session.id).toMatch(/^cs_test_[0-9A-Za-z]{24}$/);
    expect(session).toMatchObject({
      object: 'checkout.session',
      status: 'open',
      payment_status: 'unpaid',
      amount_total: 960,
      currency: 'jpy',
      client_reference_id: 'ord_1',
      metadata: { tenant: 'demo', order_id: 'ord_1', attempt: '1' },
      payment_intent: null,
      payment_method_types: ['card', 'konbini'],
      created: START_S,
      expires_at: START_S + 86_400,
      livemode: false,
      url: `${target.url}/pay/${session.id}`,
    });
    expect(target.events()).toEqual([]);
  });

  it('completes the session and tells of every step, signed, in order', async () => {
    const receiver = await webhookReceiver();
    const target = await simulator({ webhookUrl: receiver.url });
    const stripe = sdk(target);
    const { id } = await stripe.checkout.sessions.create(sessionParams());
    await target.payByCard({ session: id });
    await target.idle();

    const session = await stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent.latest_charge'] });
    expect(session).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
      url: null,
      customer_details: { email: 'taro.yamada@example.com' },
      payment_intent: {
        object: 'payment_intent',
        status: 'succeeded',
        amount: 960,
        amount_received: 960,
        currency: 'jpy',
        metadata: { tenant: 'demo', order_id: 'ord_1', attempt: '1' },
        latest_charge: { object: 'charge', amount: 960, paid: true, refunded: false, disputed: false },
      },
    });
    expect(receiver.types()).toEqual([
      'payment_intent.created',
      'charge.succeeded',
      'payment_intent.succeeded',
      'checkout.session.completed',
    ]);
    for (const { body, signature } of receiver.received) {
      const event = stripe.webhooks.constructEvent(
        body,
        signature,
        WEBHOOK_SECRET,
        300,
        undefined,
        START_S * 1000,
      );
      expect(event).toMatchObject({
        object: 'event',
        api_version: '2026-10-28.endive',
        created: START_S,
        livemode: false,
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
      });
    }
    expect(receiver.received[3]?.event.data.object).toMatchObject({ id, payment_status: 'paid' });
  });

  it('signs with the endpoint secret alone', async () => {
    const receiver = await webhookReceiver();
    const target = await simulator({ webhookUrl: receiver.url });
    const stripe = sdk(target);
    const { id } = await stripe.checkout.sessions.create(sessionParams());
    await target.payByCard({ session: id });
    await target.idle();

    const { body = '', signature = '' } = receiver.received[0] ?? {};
    expect(() => stripe.webhooks.constructEvent(body, signature, 'whsec_other')).toThrow(
      Stripe.errors.StripeSignatureVerificationError,
    );
  });

  it('that is declined leaves the session open, so that the next card works', async () => {
    const receiver = await webhookReceiver();
    const target = await simulator({ webhookUrl: receiver.url });
    const stripe = sdk(target);
    const { id } = await stripe.checkout.sessions.create(sessionParams());

    const declined = await target.declineCard({ session: id, declineCode: 'insufficient_funds' });
    const afterDecline = await stripe.checkout.sessions.retrieve(id);
    expect(afterDecline).toMatchObject({ status: 'open', payment_status: 'unpaid' });
    expect(declined.paymentIntent).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds' },
    });

    const paid = await target.payByCard({ session: id });
    expect(paid.paymentIntent?.id).toBe(declined.paymentIntent?.id);
    await target.idle();
    expect(receiver.types()).toEqual([
      'payment_intent.created',
      'charge.failed',
      'payment_intent.payment_failed',
      'charge.succeeded',
      'payment_intent.succeeded',
      'checkout.session.completed',
    ]);
  });

  it('that asks for 3-D Secure waits for the customer and then completes', async () => {
    const target = await simulator();
    const { id } = await sdk(target).checkout.sessions.create(sessionParams());
    const asked = await target.requireAuthentication({ session: id });
    expect(asked.paymentIntent).toMatchObject({
      status: 'requires_action',
      next_action: { type: 'redirect_to_url' },
    });
    expect(asked.session.status).toBe('open');
    await target.payByCard({ session: id });
    expect((await sdk(target).checkout.sessions.retrieve(id)).payment_status).toBe('paid');
  });

  it('a second time in the same session is refused', async () => {
    const target = await simulator();
    const { id } = await sdk(target).checkout.sessions.create(sessionParams());
    await target.payByCard({ session: id });
    await expect(target.payByCard({ session: id })).rejects.toThrow("can't be paid: it is complete");
    await expect(target.declineCard({ session: id })).rejects.toThrow("can't be paid: it is complete");
  });

  it('under way when the session expired arrives all the same when asked for', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const { id } = await stripe.checkout.sessions.create(sessionParams());
    await stripe.checkout.sessions.expire(id);
    await expect(target.payByCard({ session: id })).rejects.toThrow("can't be paid: it is expired");
    const late = await target.payByCard({ session: id, evenIfExpired: true });
    expect(late.session).toMatchObject({ status: 'complete', payment_status: 'paid' });
    expect(target.events().map(({ type }) => type)).toEqual([
      'checkout.session.expired',
      'payment_intent.created',
      'charge.succeeded',
      'payment_intent.succeeded',
      'checkout.session.completed',
    ]);
  });

  it('made again outside the session carries the same metadata and no session knows it', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const { id } = await stripe.checkout.sessions.create(sessionParams());
    const first = await target.payByCard({ session: id });
    const second = await target.payAgain({ session: id });
    expect(second.paymentIntent).toMatchObject({
      status: 'succeeded',
      amount: 960,
      metadata: { tenant: 'demo', order_id: 'ord_1', attempt: '1' },
    });
    expect(second.paymentIntent?.id).not.toBe(first.paymentIntent?.id);
    const { data } = await stripe.checkout.sessions.list({ payment_intent: second.paymentIntent?.id ?? '' });
    expect(data).toEqual([]);
  });

  it('of nothing completes without a payment intent', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const free = sessionParams({
      line_items: [
        { price_data: { currency: 'jpy', unit_amount: 0, product_data: { name: 'Sample' } }, quantity: 1 },
      ],
    });
    const { id } = await stripe.checkout.sessions.create(free);
    await target.payByCard({ session: id });
    const session = await stripe.checkout.sessions.retrieve(id);
    expect(session).toMatchObject({ payment_status: 'no_payment_required', payment_intent: null });
    expect(target.events().map(({ type }) => type)).toEqual(['checkout.session.completed']);
  });

  it('in live mode says so in every object and event', async () => {
    const target = await simulator({ livemode: true });
    const { id } = await sdk(target).checkout.sessions.create(sessionParams());
    const { session, paymentIntent } = await target.payByCard({ session: id });
    expect(id).toMatch(/^cs_live_/);
    expect([session.livemode, paymentIntent?.livemode]).toEqual([true, true]);
    expect(target.events().every(({ livemode }) => livemode)).toBe(true);
  });
});
