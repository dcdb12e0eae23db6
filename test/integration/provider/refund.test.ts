import { principalOf } from '../../../src/auth/viewer.ts';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idempotencyRecordKey } from '../../../src/ledger/kernel/keys.ts';
import { decimal, plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { admin, customer, merchant } from '../../support/harness.ts';
import {
  LEASE_MS,
  type ProviderHarness,
  URLS,
  applyEvents,
  claimOn,
  makeProviderHarness,
  idempotencyRecordOf,
  paidByCard,
  sessionOf,
} from './support.ts';

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const seller = merchant();
const REFUNDS = { method: 'POST', path: '/v1/refunds' } as const;

interface Amounts {
  readonly state: string;
  readonly refundable: string;
  readonly pending: string;
  readonly refunded: string;
}

async function amounts(orderId: string): Promise<Amounts> {
  const { state, refundable, refundPending, refunded } = await harness.order('t_1', 'u_1', orderId);
  return {
    state,
    refundable: plainDecimal(refundable),
    pending: plainDecimal(refundPending),
    refunded: plainDecimal(refunded),
  };
}

/** How many refunds of a payment Stripe has made. */
async function refundsAtStripe(paymentId: string): Promise<readonly number[]> {
  const listed = await harness.ledger.provider.listRefunds({ paymentId, limit: 100 });
  if (listed.kind !== 'DONE') throw new Error(listed.kind);
  return listed.value.items.map(({ amountMinor }) => amountMinor);
}

async function refundEntries(orderId: string): Promise<number> {
  const entries = await harness.entries('t_1', 'u_1');
  return entries.filter((entry) => entry.orderId === orderId && entry.operation === 'REFUND').length;
}

describe('a refund of a card payment', () => {
  it('goes back at Stripe, books one entry, and makes the order REFUNDED once it is in full', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '100.00');
    const part = await refund(harness.ledger, seller, harness.key(), { orderId: id, amount: '40.00' });
    expect(part).toMatchObject({ kind: 'RefundSuccess', replayed: false });
    expect(await amounts(orderId)).toEqual({ state: 'PAID', refundable: '60', pending: '0', refunded: '40' });
    await refund(harness.ledger, seller, harness.key(), { orderId: id });
    expect(await amounts(orderId)).toEqual({
      state: 'REFUNDED',
      refundable: '0',
      pending: '0',
      refunded: '100',
    });
    expect(await refundsAtStripe(paymentId)).toEqual([6000, 4000]);
    // The events tell what is known already.
    await applyEvents(harness);
    expect(await refundEntries(orderId)).toBe(2);
  });

  it('of 60 beside another of 60 on 100: one is made, the other refused, Stripe asked once', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '100.00');
    const outcomes = await Promise.all(
      [1, 2].map(() => refund(harness.ledger, seller, harness.key(), { orderId: id, amount: '60.00' })),
    );
    const kinds = outcomes.map(({ kind }) => kind).sort();
    expect(kinds).toEqual(['RefundExceedsRefundable', 'RefundSuccess']);
    expect(await refundsAtStripe(paymentId)).toEqual([6000]);
    expect(await amounts(orderId)).toEqual({ state: 'PAID', refundable: '40', pending: '0', refunded: '60' });
  });

  it('of the same amount twice is two refunds, and a retry of the second none', async () => {
    const { id, paymentId } = await paidByCard(harness, '100.00');
    const second = harness.key();
    await refund(harness.ledger, seller, harness.key(), { orderId: id, amount: '5.00' });
    const input = { orderId: id, amount: '5.00' };
    const made = await refund(harness.ledger, seller, second, input);
    expect(await refund(harness.ledger, seller, second, input)).toEqual({ ...made, replayed: true });
    expect(await refundsAtStripe(paymentId)).toEqual([500, 500]);
  });

  it('that stays pending is a success that waits; when it fails later its amount may be refunded again', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '20.00');
    await harness.simulator.nextRefunds({ status: 'pending', count: 1 });
    const made = await refund(harness.ledger, seller, harness.key(), { orderId: id });
    expect(made.kind).toBe('RefundSuccess');
    expect(await amounts(orderId)).toEqual({ state: 'PAID', refundable: '0', pending: '20', refunded: '0' });
    expect(await refundEntries(orderId)).toBe(0);

    const [known] = await harness.refunds('t_1', 'u_1', orderId);
    await harness.simulator.settleRefund({ refund: known?.providerRefundId ?? '', status: 'failed' });
    await applyEvents(harness);
    await applyEvents(harness);
    expect(await amounts(orderId)).toEqual({ state: 'PAID', refundable: '20', pending: '0', refunded: '0' });

    await refund(harness.ledger, seller, harness.key(), { orderId: id });
    expect((await amounts(orderId)).state).toBe('REFUNDED');
    expect(await refundsAtStripe(paymentId)).toEqual([2000, 2000]);
    expect(await refundEntries(orderId)).toBe(1);
  });

  it('that Stripe refuses releases the amount, and the no sticks to the key', async () => {
    const { id, orderId } = await paidByCard(harness, '20.00');
    const key = harness.key();
    await harness.simulator.failNextRequests({
      ...REFUNDS,
      count: 1,
      status: 400,
      type: 'invalid_request_error',
      code: 'charge_disputed',
    });
    const refused = { kind: 'ProviderRefused', code: 'charge_disputed' };
    const input = { orderId: id };
    expect(await refund(harness.ledger, seller, key, input)).toEqual({ ...refused, replayed: false });
    expect(await refund(harness.ledger, seller, key, input)).toEqual({ ...refused, replayed: true });
    expect(await amounts(orderId)).toEqual({ state: 'PAID', refundable: '20', pending: '0', refunded: '0' });
  });

  it('that Stripe did not take up releases the amount, and the key stays usable', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '20.00');
    const key = harness.key();
    await harness.simulator.failNextRequests({ ...REFUNDS, count: 1, status: 429, type: 'api_error' });
    const input = { orderId: id };
    expect(await refund(harness.ledger, seller, key, input)).toMatchObject({ kind: 'ProviderUnavailable' });
    expect((await amounts(orderId)).refundable).toBe('20');
    const released = await harness.order('t_1', 'u_1', orderId);
    // Only the timeline tells of it: an outage must not use up the refunds that an order may have.
    expect([released.refundCount, released.pendingRefundCount]).toEqual([0, 0]);
    expect(await harness.refunds('t_1', 'u_1', orderId)).toEqual([]);
    expect(released.timeline.slice(-2).map(({ cause, detail }) => [cause, detail])).toEqual([
      ['REFUND_STARTED', undefined],
      ['REFUND_FAILED', 'provider_unavailable'],
    ]);
    expect(await idempotencyRecordOf(harness, 'refund', key, principalOf(seller))).toBeUndefined();
    expect(await refund(harness.ledger, seller, key, input)).toMatchObject({
      kind: 'RefundSuccess',
      replayed: false,
    });
    expect(await refundsAtStripe(paymentId)).toEqual([2000]);
  });
});

describe('a refund whose answer is lost', () => {
  it('is found by listing the refunds of its payment, and not made twice', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '20.00');
    await harness.simulator.failNextRequests({
      ...REFUNDS,
      count: 1,
      status: 500,
      type: 'api_error',
      when: 'after',
    });
    expect(await refund(harness.ledger, seller, harness.key(), { orderId: id })).toMatchObject({
      kind: 'RefundSuccess',
    });
    expect(await refundsAtStripe(paymentId)).toEqual([2000]);
    expect(await amounts(orderId)).toEqual({
      state: 'REFUNDED',
      refundable: '0',
      pending: '0',
      refunded: '20',
    });
  });

  it('and that was not made is asked for again under the same key', async () => {
    const { id, paymentId } = await paidByCard(harness, '20.00');
    await harness.simulator.failNextRequests({ ...REFUNDS, count: 1, status: 500, type: 'api_error' });
    expect(await refund(harness.ledger, seller, harness.key(), { orderId: id })).toMatchObject({
      kind: 'RefundSuccess',
    });
    expect(await refundsAtStripe(paymentId)).toEqual([2000]);
  });

  it('and that is refused when it is asked for again counts as made where Stripe lists it all the same', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '20.00');
    await harness.simulator.failNextRequests({ ...REFUNDS, count: 1, status: 500, type: 'api_error' });
    const refusedAfter = { status: 400, type: 'invalid_request_error', when: 'after' } as const;
    await harness.simulator.failNextRequests({ ...REFUNDS, count: 1, ...refusedAfter });
    expect(await refund(harness.ledger, seller, harness.key(), { orderId: id })).toMatchObject({
      kind: 'RefundSuccess',
    });
    expect(await refundsAtStripe(paymentId)).toEqual([2000]);
    expect((await amounts(orderId)).state).toBe('REFUNDED');
  });

  it('keeps its amount reserved while Stripe cannot tell; after the lease its key finds it', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '20.00');
    const key = harness.key();
    const input = { orderId: id };
    await harness.simulator.failNextRequests({
      ...REFUNDS,
      count: 1,
      status: 500,
      type: 'api_error',
      when: 'after',
    });
    await harness.simulator.failNextRequests({
      method: 'GET',
      path: '/v1/refunds',
      count: 1,
      status: 500,
      type: 'api_error',
    });
    expect(await refund(harness.ledger, seller, key, input)).toMatchObject({ kind: 'ProviderUnavailable' });
    expect(await amounts(orderId)).toEqual({ state: 'PAID', refundable: '0', pending: '20', refunded: '0' });
    expect(await refund(harness.ledger, seller, key, input)).toEqual({
      kind: 'IdempotencyInProgress',
      retryAfterMs: LEASE_MS,
    });
    await harness.advance(LEASE_MS);
    expect(await refund(harness.ledger, seller, key, input)).toMatchObject({ kind: 'RefundSuccess' });
    expect(await refundsAtStripe(paymentId)).toEqual([2000]);
    expect(await refundEntries(orderId)).toBe(1);
  });

  it("is settled alone where its key is another refund's by then: that one's marker waits on", async () => {
    const { id, orderId } = await paidByCard(harness, '20.00');
    const key = harness.key();
    const lost = { path: '/v1/refunds', count: 2, status: 500, type: 'api_error' } as const;
    await harness.simulator.failNextRequests(lost);
    expect(await refund(harness.ledger, seller, key, { orderId: id })).toMatchObject({
      kind: 'ProviderUnavailable',
    });
    const principal = principalOf(seller);
    const { uuid, type } = idempotencyRecordKey({ tenant: 't_1', principal, operation: 'refund', key });
    await harness.client.send(
      new UpdateItemCommand({
        TableName: harness.tableName,
        Key: { uuid: { S: uuid }, type: { S: type } },
        UpdateExpression: 'SET #claim.#refund = :other',
        ExpressionAttributeNames: { '#claim': 'claim_of', '#refund': 'r' },
        ExpressionAttributeValues: { ':other': { S: 'another-refund' } },
      }),
    );
    await harness.advance(LEASE_MS);
    await sweepOrder(harness.ledger, { tenant: 't_1', accountId: 'u_1', orderId });
    expect((await amounts(orderId)).state).toBe('REFUNDED');
    expect(await idempotencyRecordOf(harness, 'refund', key, principal)).toMatchObject({
      status: 'PROCESSING',
      claimOf: { orderId, refundId: 'another-refund' },
    });
  });

  it('between 23 and 25 hours is looked for, never made again; after 25 hours it is released', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '20.00');
    const key = harness.key();
    const input = { orderId: id };
    // Neither the refund nor the list: nobody knows.
    await harness.simulator.failNextRequests({
      path: '/v1/refunds',
      count: 2,
      status: 500,
      type: 'api_error',
    });
    expect(await refund(harness.ledger, seller, key, input)).toMatchObject({ kind: 'ProviderUnavailable' });
    await harness.advance(24 * 3_600_000);
    const before = harness.calls.length;
    expect(await refund(harness.ledger, seller, key, input)).toMatchObject({ kind: 'ProviderUnavailable' });
    expect(harness.calls.slice(before)).toEqual(['listRefunds']);
    expect((await amounts(orderId)).pending).toBe('20');
    // It rests, longer than a lease, for it is old.
    const { leaseEndMs = 0 } = claimOn(await harness.order('t_1', 'u_1', orderId));
    expect(leaseEndMs - harness.clock.nowMs()).toBe(600_000);

    await harness.advance(3_600_000 + 1);
    expect(await refund(harness.ledger, seller, key, input)).toMatchObject({ kind: 'ProviderUnavailable' });
    expect(await amounts(orderId)).toEqual({ state: 'PAID', refundable: '20', pending: '0', refunded: '0' });
    expect(await refundsAtStripe(paymentId)).toEqual([]);
    expect(await idempotencyRecordOf(harness, 'refund', key, principalOf(seller))).toBeUndefined();
    expect(await refund(harness.ledger, seller, key, input)).toMatchObject({ kind: 'RefundSuccess' });
    expect(await refundsAtStripe(paymentId)).toEqual([2000]);
  });

  it('while its event comes first: the key is answered from what the event settled, and nothing is booked twice', async () => {
    const { id, orderId, paymentId } = await paidByCard(harness, '20.00');
    const key = harness.key();
    await harness.simulator.delayNextResponses({ ...REFUNDS, count: 1 });
    const slow = refund(harness.ledger, seller, key, { orderId: id });
    await untilStripeHasActed();
    await applyEvents(harness);
    expect((await amounts(orderId)).state).toBe('REFUNDED');
    await harness.simulator.resumeResponses();
    expect(await slow).toMatchObject({ kind: 'RefundSuccess', replayed: false });
    expect(await refund(harness.ledger, seller, key, { orderId: id })).toMatchObject({
      kind: 'RefundSuccess',
      replayed: true,
    });
    expect(await refundEntries(orderId)).toBe(1);
    expect(await refundsAtStripe(paymentId)).toEqual([2000]);
  });
});

async function untilStripeHasActed(): Promise<void> {
  await expect.poll(async () => (await harness.simulator.delayedResponses()).waiting).toBe(1);
}

describe('a refund of a card top-up', () => {
  async function toppedUp(amount: string): Promise<{ readonly id: string; readonly orderId: string }> {
    const outcome = await topUp(harness.ledger, customer('u_1'), harness.key(), {
      amount,
      method: 'CHECKOUT',
      ...URLS,
    });
    if (outcome.kind !== 'TopUpSuccess') throw new Error(outcome.kind);
    const { orderId } = outcome;
    await harness.simulator.payByCard({ session: await sessionOf(harness, orderId) });
    await applyEvents(harness);
    return { orderId, id: encodeNodeId('Order', 't_1', 'u_1', orderId) };
  }

  it('takes the value out of the wallet with its claim, and puts it back if Stripe refuses', async () => {
    const { id, orderId } = await toppedUp('30.00');
    const held = await harness.balance('t_1', 'u_1');
    await harness.simulator.nextRefunds({ status: 'failed', count: 1 });
    expect(await refund(harness.ledger, admin(), harness.key(), { orderId: id })).toMatchObject({
      kind: 'ProviderRefused',
    });
    expect(await harness.balance('t_1', 'u_1')).toBe(held);
    expect(await amounts(orderId)).toEqual({ state: 'PAID', refundable: '30', pending: '0', refunded: '0' });

    expect(await refund(harness.ledger, admin(), harness.key(), { orderId: id })).toMatchObject({
      kind: 'RefundSuccess',
      asset: 'ECOPAY',
    });
    expect((await amounts(orderId)).state).toBe('REFUNDED');
    await applyEvents(harness);
    expect(await harness.balance('t_1', 'u_1')).toBe(plainDecimal(decimal(held).minus('30')));
  });

  it('whose value is spent is refused before Stripe is asked', async () => {
    const { id, orderId } = await toppedUp('30.00');
    const spent = await harness.openOrder('t_1', 'u_1', await harness.balance('t_1', 'u_1'));
    await charge(harness.ledger, customer('u_1'), harness.key(), { orderId: spent.id });
    const before = harness.calls.length;
    expect(await refund(harness.ledger, admin(), harness.key(), { orderId: id })).toEqual({
      kind: 'InsufficientBalance',
      asset: 'ECOPAY',
      required: '30.00',
      available: '0.00',
      replayed: false,
    });
    expect(harness.calls.slice(before)).toEqual([]);
    expect((await amounts(orderId)).refundable).toBe('30');
  });
});
