import { describe, expect, it } from 'vitest';
import { stripeDispute } from '../../unit/provider/stripe/stripe-objects.ts';
import { merchant } from '../../support/harness.ts';
import { currency } from '../../../src/ledger/kernel/currencies.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import type { StepNames } from '../../../src/ledger/model/orders/follow-up-trigger.ts';
import { isDisputed } from '../../../src/ledger/model/orders/order.ts';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { eventOf, makeWorld } from './support.ts';
import {
  reportedDispute,
  idOf,
  made,
  paid,
  reportedRefund,
  tellPaid,
  withRefunds,
} from './reported-refunds.ts';

/**
 * Disputes as the provider tells them, and what is told of overpayments, on the engine (docs/DESIGN.md §8,
 * FIELD-CASES C54).
 */

describe('a dispute', () => {
  it('forbids refunds while it is open or lost, and a lost one is booked once', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, () => Promise.reject(new Error('the provider was asked for a refund')));
    const ask = () => refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order) });
    await reportedDispute(world, 'created', {
      status: 'needs_response',
      reason: 'product_not_received',
      evidence_details: { due_by: 1_900_000_000 },
    });
    expect(await ask()).toMatchObject({ kind: 'OrderDisputed' });
    await reportedDispute(world, 'closed', { status: 'lost', evidence_details: { due_by: null } });
    expect((await world.now(order)).disputes).toMatchObject([
      { reason: 'product_not_received', dueByMs: 1_900_000_000_000 },
    ]);
    await reportedDispute(world, 'funds_withdrawn', { status: 'lost' });
    expect(await ask()).toMatchObject({ kind: 'OrderDisputed' });
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('0');
    const after = await world.now(order);
    expect(after.state).toBe('PAID');
    expect(after.timeline.slice(-2).map(({ cause }) => cause)).toEqual(['DISPUTE_OPENED', 'DISPUTE_LOST']);
  });

  it('that is an inquiry forbids nothing and is not shown; one that is won allows refunds again', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, (request) => Promise.resolve(made(request, 'succeeded')));
    await reportedDispute(world, 'created', { status: 'warning_needs_response' });
    expect(await world.now(order)).toMatchObject({ version: 3, disputes: [{ status: 'inquiry' }] });
    const half = { orderId: idOf(order), amount: '250' };
    expect(await refund(ledger, merchant('cafe', 'demo'), world.key(), half)).toMatchObject({
      kind: 'RefundSuccess',
    });
    await reportedDispute(world, 'updated', { status: 'needs_response' });
    await reportedDispute(world, 'closed', { status: 'won' });
    expect(isDisputed(await world.now(order))).toBe(false);
    const second = withRefunds(world, (request) =>
      Promise.resolve({ ...made(request, 'succeeded'), providerRefundId: 're_2' }),
    );
    expect(await refund(second, merchant('cafe', 'demo'), world.key(), half)).toMatchObject({
      kind: 'RefundSuccess',
    });
    expect((await world.now(order)).state).toBe('REFUNDED');
  });

  it('of an order refunded in full never reopens it; its loss is booked, with an alert', async () => {
    const { world, order } = await paid();
    await reportedRefund(world, 'created', { amount: 500 });
    await reportedDispute(world, 'created', { status: 'needs_response' });
    await reportedDispute(world, 'closed', { status: 'lost' });
    expect((await world.now(order)).state).toBe('REFUNDED');
    expect(world.counted.get('RefundBeyondRefundable')).toBe(1);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('-500');
  });

  it.each([
    ['two that are lost, of more than was paid', ['dispute', 'dispute']],
    ['a refund after a loss', ['dispute', 'refund']],
  ])('%s: booked, with an alert', async (_what, returns) => {
    const { world } = await paid();
    for (const [index, kind] of returns.entries()) {
      const fields = { id: `re_${String(index)}`, amount: 300 };
      if (kind === 'refund') await reportedRefund(world, 'created', fields);
      else await reportedDispute(world, 'closed', { ...fields, status: 'lost' });
      expect(world.counted.get('RefundBeyondRefundable')).toBe(index === 0 ? undefined : 1);
    }
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('-100');
  });

  it.each(['dispute', 'refund'])(
    'and the refund of one overpayment, the %s first: alerted, and found',
    async (first) => {
      const world = await makeWorld();
      const waiting = await world.waitingOrder({ sessionIds: ['cs_1', 'cs_2'] });
      await tellPaid(world, waiting, 1);
      await tellPaid(world, waiting, 2);
      const ofSecond = { payment_intent: 'pi_2', amount: 500 };
      const lose = () => reportedDispute(world, 'closed', { ...ofSecond, status: 'lost' });
      const refundIt = () => reportedRefund(world, 'created', ofSecond);
      for (const next of first === 'dispute' ? [lose, refundIt] : [refundIt, lose]) {
        expect(world.counted.get('RefundBeyondRefundable')).toBeUndefined();
        expect(await next()).toMatchObject({ outcome: 'APPLIED' });
      }
      expect(world.counted.get('RefundBeyondRefundable')).toBe(1);
      expect(await world.recorded('alice', `surplus:${waiting.orderId}`)).toBe('-500');
      const { problems } = await auditTable(world.ledger.store, {
        segments: 1,
        wait: () => Promise.resolve(),
      });
      expect(problems).toMatchObject([
        { promise: 'I4', what: 'surplus payment pi_2, given back at most', expected: '500', found: '1000' },
      ]);
    },
  );

  it('beside another on the same payment: disputed until both are over', async () => {
    const { world, order } = await paid();
    await reportedDispute(world, 'created', { id: 'du_1', amount: 200 });
    await reportedDispute(world, 'created', { id: 'du_2', amount: 300 });
    await reportedDispute(world, 'closed', { id: 'du_1', amount: 200, status: 'won' });
    expect(isDisputed(await world.now(order))).toBe(true);
    await reportedDispute(world, 'closed', { id: 'du_2', amount: 300, status: 'won' });
    expect(isDisputed(await world.now(order))).toBe(false);
  });

  it('that closed anew is settled by asking, and comes again while nobody answers', async () => {
    const { world, order } = await paid();
    await reportedDispute(world, 'closed', { status: 'lost' });
    world.account.down = true;
    expect(await reportedDispute(world, 'closed', { status: 'won' })).toEqual({
      kind: 'RETRY_LATER',
      reason: 'PROVIDER',
    });
    world.account.down = false;
    expect(await reportedDispute(world, 'closed', { status: 'won' })).toMatchObject({
      outcome: 'MISMATCH',
      detail: 'no such dispute',
    });
    world.account.disputes.set('du_1', {
      disputeId: 'du_1',
      paymentId: 'pi_1',
      status: 'won',
      amountMinor: 500,
      currency: currency('JPY').code,
      livemode: false,
      createdS: 1,
    });
    await reportedDispute(world, 'closed', { status: 'won' });
    await reportedDispute(world, 'closed', { status: 'lost' });
    expect(isDisputed(await world.now(order))).toBe(false);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('500');
    const disputes = (await world.entries('demo', 'alice')).filter(
      ({ operation }) => operation === 'DISPUTE',
    );
    expect(disputes).toHaveLength(2);
  });
});

describe('refunds and disputes of a surplus payment', () => {
  it('post against the surplus alone', async () => {
    const { world, order } = await paid({ sessionIds: ['cs_1', 'cs_2'] });
    await tellPaid(world, order, 2);
    const ofOverpayment = { payment_intent: 'pi_2', amount: 500 };
    await reportedRefund(world, 'created', { ...ofOverpayment, status: 'pending' });
    await reportedRefund(world, 'updated', ofOverpayment);
    expect(await reportedRefund(world, 'updated', ofOverpayment)).toMatchObject({ outcome: 'STALE' });
    await reportedDispute(world, 'created', { ...ofOverpayment, status: 'needs_response' });
    const after = await world.now(order);
    expect(isDisputed(after)).toBe(false);
    expect([after.state, after.refundable.toFixed(), after.refundCount]).toEqual(['PAID', '500', 0]);
    expect(after.overpayments[0]?.refunded.toFixed()).toBe('500');
    expect(await world.recorded('alice', `surplus:${order.orderId}`)).toBe('0');
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('500');
  });
});

describe('a dispute of a surplus payment', () => {
  it('that is lost tells no merchant, and alerts of what goes beyond it', async () => {
    const { world, order } = await paid({ sessionIds: ['cs_1', 'cs_2'] });
    await tellPaid(world, order, 2);
    const followUps: StepNames = ({ kind }) => (kind === 'dispute-lost' ? ['notify:lost'] : []);
    for (const [disputeId, paymentId] of [
      ['du_2', 'pi_2'],
      ['du_1', 'pi_1'],
    ]) {
      const lost = { id: disputeId, payment_intent: paymentId, amount: 600, status: 'lost' };
      const event = eventOf(world, 'charge.dispute.closed', stripeDispute(lost));
      expect(await applyEvent({ ...world.ledger, followUps }, event)).toMatchObject({ outcome: 'APPLIED' });
      const { steps } = await world.now(order);
      const reported = steps.filter(({ name }) => name === 'notify:lost').length;
      const expected = disputeId === 'du_2' ? [0, 1] : [1, 2];
      expect([reported, world.counted.get('RefundBeyondRefundable')]).toEqual(expected);
    }
    expect(await world.recorded('alice', `surplus:${order.orderId}`)).toBe('-100');
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('-100');
  });
});
