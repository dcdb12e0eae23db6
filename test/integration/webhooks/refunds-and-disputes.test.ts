import { describe, expect, it } from 'vitest';
import {
  stripeDispute,
  stripePayment,
  stripeRefund,
  stripeSession,
} from '../../unit/stripe/stripe-objects.ts';
import { admin, merchant } from '../../support/harness.ts';
import { currency } from '../../../src/ledger/currencies.ts';
import { encodeNodeId } from '../../../src/ledger/node-ids.ts';
import { adjustBalance } from '../../../src/ledger/operations/adjust-balance.ts';
import { applyEvent } from '../../../src/ledger/operations/apply-event.ts';
import type { Ledger } from '../../../src/ledger/operations/ledger.ts';
import { refund } from '../../../src/ledger/operations/refund.ts';
import type { Order } from '../../../src/ledger/orders/order.ts';
import { isDisputed } from '../../../src/ledger/orders/order.ts';
import { readRefund } from '../../../src/stripe/mapping.ts';
import type { ProviderEvent, ProviderRefund, RefundRequest } from '../../../src/stripe/port.ts';
import { type WaitingOptions, type World, eventOf, makeWorld, metadataOf } from './support.ts';

/** Refunds and disputes as the provider tells them, on the engine (docs/DESIGN.md §8, FIELD-CASES C52 and C54). */

async function paid(options: WaitingOptions = {}): Promise<{ world: World; order: Order }> {
  const world = await makeWorld();
  const order = await world.waitingOrder(options);
  await tellPaid(world, order);
  return { world, order };
}

async function tellPaid(world: World, order: Order, attempt = 1): Promise<void> {
  const session = stripeSession({
    id: `cs_${String(attempt)}`,
    status: 'complete',
    payment_status: 'paid',
    payment_intent: `pi_${String(attempt)}`,
    url: null,
    metadata: metadataOf(order, attempt),
  });
  await world.apply(eventOf(world, 'checkout.session.completed', session));
}

function refundTold(world: World, type: string, fields: Readonly<Record<string, unknown>>) {
  return world.apply(eventOf(world, `refund.${type}`, stripeRefund({ metadata: {}, ...fields })));
}

function disputeTold(world: World, type: string, fields: Readonly<Record<string, unknown>>) {
  return world.apply(eventOf(world, `charge.dispute.${type}`, stripeDispute(fields)));
}

function asProvider(object: unknown): ProviderRefund {
  const reading = readRefund(object);
  if (reading.kind !== 'READ') throw new Error('unreadable refund');
  return reading.value;
}

/** A refund as the provider makes it for a request of ours. */
function made(request: RefundRequest, status: string): ProviderRefund {
  return asProvider(rawMade(request, status));
}

function rawMade(request: RefundRequest, status: string): Record<string, unknown> {
  return stripeRefund({
    status,
    amount: request.amountMinor,
    metadata: { tenant: request.tenant, order_id: request.orderId, refund_id: request.refundId },
  });
}

function withRefunds(
  world: World,
  createRefund: (request: RefundRequest) => Promise<ProviderRefund>,
): Ledger {
  return {
    ...world.ledger,
    provider: {
      ...world.ledger.provider,
      createRefund: async (request) => ({ kind: 'DONE', value: await createRefund(request) }),
    },
  };
}

const idOf = (order: Order): string => encodeNodeId('Order', order.tenant, order.accountId, order.orderId);

describe('a refund of ours', () => {
  it('that pends and fails days later releases its amount once, and another may follow', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, (request) => Promise.resolve(made(request, 'pending')));
    const asked = await refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order) });
    expect(asked).toMatchObject({ kind: 'RefundSuccess' });
    expect(await world.now(order)).toMatchObject({ state: 'PAID', refunds: [{ state: 'PENDING' }] });
    const [pending] = (await world.now(order)).refunds;
    world.clock.advance(3 * 86_400_000);
    const failed = {
      status: 'failed',
      amount: 500,
      failure_reason: 'expired_or_canceled_card',
      metadata: { refund_id: pending?.refundId },
    };
    expect(await refundTold(world, 'failed', failed)).toMatchObject({ outcome: 'APPLIED' });
    expect(await refundTold(world, 'updated', failed)).toMatchObject({ outcome: 'STALE' });
    const after = await world.now(order);
    expect(after).toMatchObject({
      state: 'PAID',
      refunds: [{ state: 'FAILED', failureReason: 'expired_or_canceled_card' }],
    });
    expect(after.refundable.toFixed()).toBe('500');
    expect(after.timeline.at(-1)).toMatchObject({ cause: 'REFUND_FAILED' });
    const second = withRefunds(world, (request) =>
      Promise.resolve({ ...made(request, 'succeeded'), providerRefundId: 're_2' }),
    );
    await refund(second, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order) });
    expect((await world.now(order)).state).toBe('REFUNDED');
    expect(await world.booked('alice', 'merchant:cafe')).toBe('0');
  });

  it('that fails after it had succeeded brings the order back from REFUNDED', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, (request) => Promise.resolve(made(request, 'succeeded')));
    await refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order) });
    expect((await world.now(order)).state).toBe('REFUNDED');
    await refundTold(world, 'failed', { status: 'failed', amount: 500 });
    const after = await world.now(order);
    expect(after.state).not.toBe('REFUNDED');
    expect(after.timeline.at(-1)).toMatchObject({ from: 'REFUNDED', cause: 'REFUND_FAILED' });
    expect([after.refundable.toFixed(), after.refunded.toFixed()]).toEqual(['500', '0']);
    expect(await world.booked('alice', 'merchant:cafe')).toBe('500');
    expect(await world.booked('alice', 'stripe')).toBe('-500');
  });

  it('whose webhook comes before the call is answered is booked once, and the caller gets its success', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, async (request) => {
      const event = eventOf(world, 'refund.created', rawMade(request, 'succeeded'));
      expect(await applyEvent(world.ledger, event)).toMatchObject({ outcome: 'APPLIED' });
      return made(request, 'succeeded');
    });
    const answer = await refund(ledger, merchant('cafe', 'demo'), world.key(), {
      orderId: idOf(order),
      amount: '200',
    });
    expect(answer).toMatchObject({ kind: 'RefundSuccess' });
    const after = await world.now(order);
    expect(after.refunds).toHaveLength(1);
    expect(after.refunds[0]).toMatchObject({ state: 'SUCCEEDED', providerRefundId: 're_1' });
    expect(after.refunds[0]?.claim).toBeUndefined();
    expect(after.refundable.toFixed()).toBe('300');
    expect(await world.booked('alice', 'merchant:cafe')).toBe('300');
  });

  it('that is told of as pending while the call goes on has its id, and whoever called completes it', async () => {
    const { world, order } = await paid();
    let meanwhile: Order['refunds'] = [];
    const ledger = withRefunds(world, async (request) => {
      const created = eventOf(world, 'refund.created', rawMade(request, 'pending'));
      expect(await world.apply(created)).toMatchObject({ outcome: 'APPLIED' });
      meanwhile = (await world.now(order)).refunds;
      return made(request, 'pending');
    });
    const asked = await refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order) });
    expect(asked).toMatchObject({ kind: 'RefundSuccess' });
    expect(meanwhile).toMatchObject([{ state: 'PENDING', providerRefundId: 're_1' }]);
    expect(meanwhile[0]?.claim).toBeDefined();
    const [after] = (await world.now(order)).refunds;
    expect(after).toMatchObject({ state: 'PENDING', providerRefundId: 're_1' });
    expect(after?.claim).toBeUndefined();
  });

  it('that its event tells as failed before the call is answered was refused, also when it is asked for again', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, async (request) => {
      const failed = { ...rawMade(request, 'failed'), failure_reason: 'lost_or_stolen_card' };
      expect(await world.apply(eventOf(world, 'refund.failed', failed))).toMatchObject({
        outcome: 'APPLIED',
      });
      return made(request, 'pending');
    });
    const key = world.key();
    const ask = () => refund(ledger, merchant('cafe', 'demo'), key, { orderId: idOf(order) });
    const refused = { kind: 'ProviderRefused', code: 'lost_or_stolen_card' };
    expect(await ask()).toEqual({ ...refused, replayed: false });
    expect(await ask()).toEqual({ ...refused, replayed: true });
    expect((await world.now(order)).refundable.toFixed()).toBe('500');
  });

  it('whose answer was lost is found on whatever page lists it, and not made twice', async () => {
    const { world, order } = await paid();
    const requests: RefundRequest[] = [];
    const provider: Ledger['provider'] = {
      ...world.ledger.provider,
      createRefund: (request) => {
        requests.push(request);
        return Promise.resolve({ kind: 'UNKNOWN', reason: 'timeout' });
      },
      listRefunds: ({ after }) => {
        const others = asProvider(stripeRefund({ id: 're_others', metadata: {}, amount: 1 }));
        const ours = requests.slice(0, 1).map((request) => made(request, 'succeeded'));
        const value =
          after === undefined ? { items: [others], hasMore: true } : { items: ours, hasMore: false };
        return Promise.resolve({ kind: 'DONE', value });
      },
    };
    const input = { orderId: idOf(order), amount: '200' };
    expect(
      await refund({ ...world.ledger, provider }, merchant('cafe', 'demo'), world.key(), input),
    ).toMatchObject({ kind: 'RefundSuccess' });
    expect(requests).toHaveLength(1);
    expect((await world.now(order)).refunds).toMatchObject([
      { state: 'SUCCEEDED', providerRefundId: 're_1' },
    ]);
  });

  it('whose amount is not what we asked for is a mismatch', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, (request) => Promise.resolve(made(request, 'pending')));
    await refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order), amount: '200' });
    const before = await world.now(order);
    expect(await refundTold(world, 'updated', { status: 'succeeded', amount: 201 })).toMatchObject({
      outcome: 'MISMATCH',
    });
    expect(await world.now(order)).toEqual(before);
  });
});

describe('a refund made in the dashboard', () => {
  it('is booked even beyond what was refundable, with an alert', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, (request) => Promise.resolve(made(request, 'pending')));
    await refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order), amount: '400' });
    await refundTold(world, 'created', { id: 're_9', amount: 300 });
    const after = await world.now(order);
    expect(after.refundable.toFixed()).toBe('-200');
    expect(after.state).toBe('PAID');
    expect(world.counted.get('RefundBeyondRefundable')).toBe(1);
    expect(await world.booked('alice', 'merchant:cafe')).toBe('200');
  });

  it('is found by `charge.refunded` too, each in its own transaction, once', async () => {
    const { world, order } = await paid();
    world.account.refunds.set('re_1', asProvider(stripeRefund({ metadata: {}, amount: 200 })));
    world.account.refunds.set('re_2', asProvider(stripeRefund({ id: 're_2', metadata: {}, amount: 100 })));
    const charge = { object: 'charge', payment_intent: 'pi_1', metadata: metadataOf(order) };
    const event = eventOf(world, 'charge.refunded', charge);
    expect(await world.apply(event)).toMatchObject({ outcome: 'APPLIED', duplicate: false });
    expect(await refundTold(world, 'created', { amount: 200 })).toMatchObject({ outcome: 'STALE' });
    expect((await world.now(order)).refunded.toFixed()).toBe('300');
    const asked = world.account.asked;
    expect(await world.apply(event)).toMatchObject({ duplicate: true });
    expect(world.account.asked).toBe(asked);
  });

  it('is found on every page of them, and one in another currency makes the event a mismatch', async () => {
    const { world, order } = await paid();
    const refunds = [
      stripeRefund({ id: 're_1', metadata: {}, amount: 100, currency: 'usd' }),
      stripeRefund({ id: 're_2', metadata: {}, amount: 200 }),
      stripeRefund({ id: 're_3', metadata: {}, amount: 50 }),
    ].map(asProvider);
    const listRefunds: Ledger['provider']['listRefunds'] = ({ after }) => {
      const start = refunds.findIndex(({ providerRefundId }) => providerRefundId === after) + 1;
      const items = refunds.slice(start, start + 1);
      return Promise.resolve({ kind: 'DONE', value: { items, hasMore: start + 1 < refunds.length } });
    };
    const ledger = { ...world.ledger, provider: { ...world.ledger.provider, listRefunds } };
    const charge = { object: 'charge', payment_intent: 'pi_1', metadata: metadataOf(order) };
    expect(await applyEvent(ledger, eventOf(world, 'charge.refunded', charge))).toMatchObject({
      outcome: 'MISMATCH',
      detail: 'another currency than the order',
    });
    expect((await world.now(order)).refunded.toFixed()).toBe('250');
  });

  it('of a top-up takes what is there, and books the rest as owed until value is put back', async () => {
    const { world, order } = await paid({ kind: 'TOP_UP' });
    const spent = { accountId: 'alice', asset: 'ECOPAY', amount: '-350', reason: 'spent' };
    await adjustBalance(world.ledger, admin('demo'), world.key(), spent);
    await refundTold(world, 'created', { amount: 500 });
    expect(await world.balance('demo', 'alice')).toBe('0');
    expect((await world.now(order)).owed.toFixed()).toBe('350');
    expect(await world.booked('alice', 'receivable:alice', 'ECOPAY')).toBe('-350');
    await refundTold(world, 'failed', { status: 'failed', amount: 500 });
    expect(await world.balance('demo', 'alice')).toBe('150');
    const after = await world.now(order);
    expect(after.owed.toFixed()).toBe('0');
    expect(await world.booked('alice', 'receivable:alice', 'ECOPAY')).toBe('0');
  });

  it('of a top-up, while the wallet is being spent, never takes more than is there', async () => {
    const { world, order } = await paid({ kind: 'TOP_UP' });
    const spend = { accountId: 'alice', asset: 'ECOPAY', amount: '-100', reason: 'spent' };
    const [told, ...spendings] = await Promise.all([
      refundTold(world, 'created', { amount: 500 }),
      ...[1, 2, 3, 4].map(() => adjustBalance(world.ledger, admin('demo'), world.key(), spend)),
    ]);
    expect(told).toMatchObject({ outcome: 'APPLIED' });
    const spent = spendings.filter(({ kind }) => kind === 'AdjustBalanceSuccess').length;
    const after = await world.now(order);
    expect(await world.balance('demo', 'alice')).toBe('0');
    expect(after.owed.toFixed()).toBe(String(100 * spent));
    expect(await world.booked('alice', 'stripe', 'ECOPAY')).toBe('0');
  });
});

/** A ledger in which money arrives on the wallet right after each of the next reads of its balance. */
function withArrivals(world: World, ...amounts: readonly string[]): Ledger {
  const left = [...amounts];
  const get: Ledger['store']['get'] = async (keys) => {
    const items = await world.ledger.store.get(keys);
    const amount = keys.some(({ type }) => type === 'BALANCE#ECOPAY') ? left.shift() : undefined;
    if (amount !== undefined) await world.fund('demo', 'alice', amount);
    return items;
  };
  return { ...world.ledger, store: { ...world.ledger.store, get } };
}

describe('a fact that takes back what a top-up gave and is all spent', () => {
  const refundOf = (world: World, amount: number): ProviderEvent =>
    eventOf(world, 'refund.created', stripeRefund({ metadata: {}, amount }));

  async function spentTopUp(): Promise<{ world: World; order: Order }> {
    const { world, order } = await paid({ kind: 'TOP_UP' });
    const spent = { accountId: 'alice', asset: 'ECOPAY', amount: '-500', reason: 'spent' };
    await adjustBalance(world.ledger, admin('demo'), world.key(), spent);
    expect(await world.balance('demo', 'alice')).toBe('0');
    return { world, order };
  }

  it('takes what arrives at that very instant before anything is owed', async () => {
    const { world, order } = await spentTopUp();
    const event = refundOf(world, 200);
    expect(await applyEvent(withArrivals(world, '300'), event)).toMatchObject({ outcome: 'APPLIED' });
    expect(await world.balance('demo', 'alice')).toBe('100');
    const after = await world.now(order);
    expect([after.owed.toFixed(), after.refunded.toFixed()]).toEqual(['0', '200']);
    expect(await world.booked('alice', 'receivable:alice', 'ECOPAY')).toBe('0');
    expect(await world.booked('alice', 'stripe', 'ECOPAY')).toBe('-300');
  });

  it('is lost in a dispute: takes what arrives at that very instant as well', async () => {
    const { world, order } = await spentTopUp();
    const event = eventOf(world, 'charge.dispute.closed', stripeDispute({ status: 'lost', amount: 500 }));
    expect(await applyEvent(withArrivals(world, '120'), event)).toMatchObject({ outcome: 'APPLIED' });
    expect(await world.balance('demo', 'alice')).toBe('0');
    expect((await world.now(order)).owed.toFixed()).toBe('380');
    expect(await world.booked('alice', 'receivable:alice', 'ECOPAY')).toBe('-380');
  });

  it('is booked in the end, however often the wallet moves: with what was there, and the rest owed', async () => {
    const { world, order } = await spentTopUp();
    const event = refundOf(world, 200);
    const ledger = withArrivals(world, '10', '10', '10', '10', '10', '10');
    expect(await applyEvent(ledger, event)).toMatchObject({ kind: 'DONE', outcome: 'APPLIED' });
    // Read five times, as 0, 10, 20, 30 and 40; what arrives after the last stays.
    expect(await world.balance('demo', 'alice')).toBe('10');
    expect((await world.now(order)).owed.toFixed()).toBe('160');
    expect(await world.booked('alice', 'receivable:alice', 'ECOPAY')).toBe('-160');
    expect(await world.booked('alice', 'stripe', 'ECOPAY')).toBe('-300');
    expect(
      (await world.entries('demo', 'alice')).filter(({ operation }) => operation === 'REFUND'),
    ).toHaveLength(1);
  });
});

describe('a dispute', () => {
  it('forbids refunds while it is open or lost, and a lost one is booked once', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, () => Promise.reject(new Error('the provider was asked for a refund')));
    const ask = () => refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order) });
    await disputeTold(world, 'created', { status: 'needs_response' });
    expect(await ask()).toMatchObject({ kind: 'OrderDisputed' });
    await disputeTold(world, 'closed', { status: 'lost' });
    await disputeTold(world, 'funds_withdrawn', { status: 'lost' });
    expect(await ask()).toMatchObject({ kind: 'OrderDisputed' });
    expect(await world.booked('alice', 'merchant:cafe')).toBe('0');
    const after = await world.now(order);
    expect(after.state).toBe('PAID');
    expect(after.timeline.slice(-2).map(({ cause }) => cause)).toEqual(['DISPUTE_OPENED', 'DISPUTE_LOST']);
  });

  it('that is an inquiry forbids nothing and is not shown; one that is won allows refunds again', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, (request) => Promise.resolve(made(request, 'succeeded')));
    await disputeTold(world, 'created', { status: 'warning_needs_response' });
    expect(await world.now(order)).toMatchObject({ version: 3, disputes: [{ status: 'inquiry' }] });
    const half = { orderId: idOf(order), amount: '250' };
    expect(await refund(ledger, merchant('cafe', 'demo'), world.key(), half)).toMatchObject({
      kind: 'RefundSuccess',
    });
    await disputeTold(world, 'updated', { status: 'needs_response' });
    await disputeTold(world, 'closed', { status: 'won' });
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
    await refundTold(world, 'created', { amount: 500 });
    await disputeTold(world, 'created', { status: 'needs_response' });
    await disputeTold(world, 'closed', { status: 'lost' });
    expect((await world.now(order)).state).toBe('REFUNDED');
    expect(world.counted.get('RefundBeyondRefundable')).toBe(1);
    expect(await world.booked('alice', 'merchant:cafe')).toBe('-500');
  });

  it('beside another on the same payment: disputed until both are over', async () => {
    const { world, order } = await paid();
    await disputeTold(world, 'created', { id: 'du_1', amount: 200 });
    await disputeTold(world, 'created', { id: 'du_2', amount: 300 });
    await disputeTold(world, 'closed', { id: 'du_1', amount: 200, status: 'won' });
    expect(isDisputed(await world.now(order))).toBe(true);
    await disputeTold(world, 'closed', { id: 'du_2', amount: 300, status: 'won' });
    expect(isDisputed(await world.now(order))).toBe(false);
  });

  it('that closed anew is settled by asking, and comes again while nobody answers', async () => {
    const { world, order } = await paid();
    await disputeTold(world, 'closed', { status: 'lost' });
    world.account.down = true;
    expect(await disputeTold(world, 'closed', { status: 'won' })).toEqual({
      kind: 'COME_AGAIN',
      reason: 'PROVIDER',
    });
    world.account.down = false;
    expect(await disputeTold(world, 'closed', { status: 'won' })).toMatchObject({
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
    await disputeTold(world, 'closed', { status: 'won' });
    await disputeTold(world, 'closed', { status: 'lost' });
    expect(isDisputed(await world.now(order))).toBe(false);
    expect(await world.booked('alice', 'merchant:cafe')).toBe('500');
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
    const ofSurplus = { payment_intent: 'pi_2', amount: 500 };
    await refundTold(world, 'created', { ...ofSurplus, status: 'pending' });
    await refundTold(world, 'updated', ofSurplus);
    expect(await refundTold(world, 'updated', ofSurplus)).toMatchObject({ outcome: 'STALE' });
    await disputeTold(world, 'created', { ...ofSurplus, status: 'needs_response' });
    const after = await world.now(order);
    expect(isDisputed(after)).toBe(false);
    expect([after.state, after.refundable.toFixed(), after.refunds.length]).toEqual(['PAID', '500', 0]);
    expect(after.surplus[0]?.refunded.toFixed()).toBe('500');
    expect(await world.booked('alice', `surplus:${order.orderId}`)).toBe('0');
    expect(await world.booked('alice', 'merchant:cafe')).toBe('500');
  });
});

describe('a dispute of a surplus payment', () => {
  it('that is lost tells no merchant, and alerts of nothing that was refundable', async () => {
    const { world, order } = await paid({ sessionIds: ['cs_1', 'cs_2'] });
    await tellPaid(world, order, 2);
    const followUps = { ...world.ledger.followUps, afterDispute: () => ['notify:disputed'] };
    for (const [disputeId, paymentId] of [
      ['du_2', 'pi_2'],
      ['du_1', 'pi_1'],
    ]) {
      const lost = { id: disputeId, payment_intent: paymentId, amount: 600, status: 'lost' };
      const event = eventOf(world, 'charge.dispute.closed', stripeDispute(lost));
      expect(await applyEvent({ ...world.ledger, followUps }, event)).toMatchObject({ outcome: 'APPLIED' });
      const { steps } = await world.now(order);
      const told = steps.filter(({ name }) => name === 'notify:disputed').length;
      const expected = disputeId === 'du_2' ? [0, undefined] : [1, 1];
      expect([told, world.counted.get('RefundBeyondRefundable')]).toEqual(expected);
    }
    expect(await world.booked('alice', `surplus:${order.orderId}`)).toBe('-100');
    expect(await world.booked('alice', 'merchant:cafe')).toBe('-100');
  });
});

describe('a payment told again after everything', () => {
  it('stays booked once', async () => {
    const { world, order } = await paid();
    await refundTold(world, 'created', { amount: 500 });
    const again = eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata: metadataOf(order) }));
    expect(await world.apply(again)).toMatchObject({ outcome: 'STALE' });
    expect((await world.now(order)).state).toBe('REFUNDED');
    expect(await world.booked('alice', 'stripe')).toBe('0');
  });
});
