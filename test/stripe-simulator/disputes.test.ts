import { describe, expect, it } from 'vitest';
import type { StripeSimulator } from '../../dev/stripe-simulator/server.ts';
import { paidSession, refusalOf, sdk, simulator, START_S } from './support.ts';

function disputeEvents(target: StripeSimulator): string[] {
  return target
    .events()
    .map(({ type }) => type)
    .filter((type) => type.startsWith('charge.dispute.'));
}

describe('a dispute', () => {
  it('takes the money, forbids refunds, and gives both back when it is won', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const { paymentIntent } = await paidSession(target);
    const dispute = await target.openDispute({ paymentIntent, reason: 'product_not_received' });
    expect(await stripe.disputes.retrieve(dispute.id, { expand: ['charge'] })).toMatchObject({
      object: 'dispute',
      status: 'needs_response',
      amount: 960,
      currency: 'jpy',
      reason: 'product_not_received',
      payment_intent: paymentIntent,
      is_charge_refundable: false,
      evidence_details: { due_by: START_S + 604_800 },
      charge: { object: 'charge', disputed: true },
    });
    const whileOpen = await refusalOf(stripe.refunds.create({ payment_intent: paymentIntent }));
    expect(whileOpen).toMatchObject({ statusCode: 400, code: 'charge_disputed' });

    await target.updateDispute({ dispute: dispute.id, status: 'under_review' });
    await target.closeDispute({ dispute: dispute.id, status: 'won' });
    expect((await stripe.refunds.create({ payment_intent: paymentIntent })).status).toBe('succeeded');
    expect(disputeEvents(target)).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.updated',
      'charge.dispute.closed',
      'charge.dispute.funds_reinstated',
    ]);
  });

  it('that is lost keeps the money and the refusal, until it is won on appeal', async () => {
    const target = await simulator();
    const stripe = sdk(target);
    const { paymentIntent } = await paidSession(target);
    const { id } = await target.openDispute({ paymentIntent });
    expect((await target.closeDispute({ dispute: id, status: 'lost' })).status).toBe('lost');
    expect((await refusalOf(stripe.refunds.create({ payment_intent: paymentIntent }))).code).toBe(
      'charge_disputed',
    );
    await expect(target.closeDispute({ dispute: id, status: 'lost' })).rejects.toThrow('it is lost');
    expect((await target.closeDispute({ dispute: id, status: 'won' })).status).toBe('won');
    expect(disputeEvents(target)).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.closed',
      'charge.dispute.closed',
      'charge.dispute.funds_reinstated',
    ]);
  });

  it('that is an inquiry takes nothing and leaves the charge refundable', async () => {
    const target = await simulator();
    const { paymentIntent } = await paidSession(target);
    const { id, status } = await target.openDispute({ paymentIntent, inquiry: true });
    expect(status).toBe('warning_needs_response');
    const refund = await sdk(target).refunds.create({ payment_intent: paymentIntent, amount: 100 });
    expect(refund.status).toBe('succeeded');
    await expect(target.closeDispute({ dispute: id, status: 'won' })).rejects.toThrow("can't become won");
    await target.closeDispute({ dispute: id, status: 'warning_closed' });
    expect(disputeEvents(target)).toEqual(['charge.dispute.created', 'charge.dispute.closed']);
  });

  it('that grows out of an inquiry takes the money then', async () => {
    const target = await simulator();
    const { paymentIntent } = await paidSession(target);
    const { id } = await target.openDispute({ paymentIntent, inquiry: true });
    await target.updateDispute({ dispute: id, status: 'needs_response' });
    expect(disputeEvents(target)).toEqual([
      'charge.dispute.created',
      'charge.dispute.updated',
      'charge.dispute.funds_withdrawn',
    ]);
    const refusal = await refusalOf(sdk(target).refunds.create({ payment_intent: paymentIntent }));
    expect(refusal.code).toBe('charge_disputed');
  });

  it('can be prevented, be one of two, and is listed by payment', async () => {
    const target = await simulator();
    const { paymentIntent } = await paidSession(target);
    const other = await paidSession(target);
    const first = await target.openDispute({ paymentIntent, amount: 500 });
    const second = await target.openDispute({ paymentIntent, amount: 460 });
    await target.openDispute({ paymentIntent: other.paymentIntent });
    expect((await target.closeDispute({ dispute: first.id, status: 'prevented' })).status).toBe('prevented');
    const { data } = await sdk(target).disputes.list({ payment_intent: paymentIntent });
    expect(data.map(({ id, amount, status }) => [id, amount, status])).toEqual([
      [second.id, 460, 'needs_response'],
      [first.id, 500, 'prevented'],
    ]);
  });
});
