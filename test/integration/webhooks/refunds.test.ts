import { describe, expect, it } from 'vitest';
import { stripePayment, stripeRefund } from '../../unit/provider/stripe/stripe-objects.ts';
import { admin, merchant } from '../../support/harness.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import type { Order, Refund } from '../../../src/ledger/model/orders/order.ts';
import type { RefundRequest } from '../../../src/provider/port.ts';
import { eventOf, metadataOf } from './support.ts';
import { asProvider, idOf, made, paid, rawMade, reportedRefund, withRefunds } from './reported-refunds.ts';

/** Refunds as the provider tells them, on the engine (docs/DESIGN.md §8, FIELD-CASES C52). */

describe('a refund of ours', () => {
  it('that pends and fails days later releases its amount once, and another may follow', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, (request) => Promise.resolve(made(request, 'pending')));
    const asked = await refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order) });
    expect(asked).toMatchObject({ kind: 'RefundSuccess' });
    expect(await world.now(order)).toMatchObject({ state: 'PAID', pendingRefundCount: 1 });
    const [pending] = await world.refundsOf(order);
    expect(pending?.state).toBe('PENDING');
    world.clock.advance(3 * 86_400_000);
    const failed = {
      status: 'failed',
      amount: 500,
      failure_reason: 'expired_or_canceled_card',
      metadata: { refund_id: pending?.refundId },
    };
    expect(await reportedRefund(world, 'failed', failed)).toMatchObject({ outcome: 'APPLIED' });
    expect(await reportedRefund(world, 'updated', failed)).toMatchObject({ outcome: 'STALE' });
    const after = await world.now(order);
    expect(after).toMatchObject({ state: 'PAID', refundCount: 1, pendingRefundCount: 0 });
    expect(await world.refundsOf(order)).toMatchObject([
      { state: 'FAILED', failureReason: 'expired_or_canceled_card' },
    ]);
    expect(after.refundable.toFixed()).toBe('500');
    expect(after.timeline.at(-1)).toMatchObject({ cause: 'REFUND_FAILED' });
    const second = withRefunds(world, (request) =>
      Promise.resolve({ ...made(request, 'succeeded'), providerRefundId: 're_2' }),
    );
    await refund(second, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order) });
    expect((await world.now(order)).state).toBe('REFUNDED');
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('0');
  });

  it('that fails after it had succeeded brings the order back from REFUNDED', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, (request) => Promise.resolve(made(request, 'succeeded')));
    await refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order) });
    expect((await world.now(order)).state).toBe('REFUNDED');
    await reportedRefund(world, 'failed', { status: 'failed', amount: 500 });
    const after = await world.now(order);
    expect(after.state).not.toBe('REFUNDED');
    expect(after.timeline.at(-1)).toMatchObject({ from: 'REFUNDED', cause: 'REFUND_FAILED' });
    expect([after.refundable.toFixed(), after.refunded.toFixed()]).toEqual(['500', '0']);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('500');
    expect(await world.recorded('alice', 'stripe')).toBe('-500');
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
    const refunds = await world.refundsOf(order);
    expect(refunds).toHaveLength(1);
    expect(refunds[0]).toMatchObject({ state: 'SUCCEEDED', providerRefundId: 're_1' });
    expect(after.refundClaims).toEqual([]);
    expect(after.refundable.toFixed()).toBe('300');
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('300');
  });

  it('that is told of as pending while the call goes on has its id, and whoever called completes it', async () => {
    const { world, order } = await paid();
    let meanwhile: readonly Refund[] = [];
    let claims: Order['refundClaims'] = [];
    const ledger = withRefunds(world, async (request) => {
      const created = eventOf(world, 'refund.created', rawMade(request, 'pending'));
      expect(await world.apply(created)).toMatchObject({ outcome: 'APPLIED' });
      meanwhile = await world.refundsOf(order);
      claims = (await world.now(order)).refundClaims;
      return made(request, 'pending');
    });
    const asked = await refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order) });
    expect(asked).toMatchObject({ kind: 'RefundSuccess' });
    expect(meanwhile).toMatchObject([{ state: 'PENDING', providerRefundId: 're_1' }]);
    expect(claims).toMatchObject([{ refundId: meanwhile[0]?.refundId }]);
    const [after] = await world.refundsOf(order);
    expect(after).toMatchObject({ state: 'PENDING', providerRefundId: 're_1' });
    expect((await world.now(order)).refundClaims).toEqual([]);
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
    expect(await world.refundsOf(order)).toMatchObject([{ state: 'SUCCEEDED', providerRefundId: 're_1' }]);
  });

  it('whose amount is not what we asked for is a mismatch', async () => {
    const { world, order } = await paid();
    const ledger = withRefunds(world, (request) => Promise.resolve(made(request, 'pending')));
    await refund(ledger, merchant('cafe', 'demo'), world.key(), { orderId: idOf(order), amount: '200' });
    const before = await world.now(order);
    expect(await reportedRefund(world, 'updated', { status: 'succeeded', amount: 201 })).toMatchObject({
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
    await reportedRefund(world, 'created', { id: 're_9', amount: 300 });
    const after = await world.now(order);
    expect(after.refundable.toFixed()).toBe('-200');
    expect(after.state).toBe('PAID');
    expect(world.counted.get('RefundBeyondRefundable')).toBe(1);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('200');
  });

  it('is found by `charge.refunded` too, each in its own transaction, once', async () => {
    const { world, order } = await paid();
    world.account.refunds.set('re_1', asProvider(stripeRefund({ metadata: {}, amount: 200 })));
    world.account.refunds.set('re_2', asProvider(stripeRefund({ id: 're_2', metadata: {}, amount: 100 })));
    const charge = { object: 'charge', payment_intent: 'pi_1', metadata: metadataOf(order) };
    const event = eventOf(world, 'charge.refunded', charge);
    expect(await world.apply(event)).toMatchObject({ outcome: 'APPLIED', duplicate: false });
    expect(await reportedRefund(world, 'created', { amount: 200 })).toMatchObject({ outcome: 'STALE' });
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
    await reportedRefund(world, 'created', { amount: 500 });
    expect(await world.balance('demo', 'alice')).toBe('0');
    expect((await world.now(order)).receivable.toFixed()).toBe('350');
    expect(await world.recorded('alice', 'receivable:alice', 'ECOPAY')).toBe('-350');
    await reportedRefund(world, 'failed', { status: 'failed', amount: 500 });
    expect(await world.balance('demo', 'alice')).toBe('150');
    const after = await world.now(order);
    expect(after.receivable.toFixed()).toBe('0');
    expect(await world.recorded('alice', 'receivable:alice', 'ECOPAY')).toBe('0');
  });

  it('of a top-up, while the wallet is being spent, never takes more than is there', async () => {
    const { world, order } = await paid({ kind: 'TOP_UP' });
    const spend = { accountId: 'alice', asset: 'ECOPAY', amount: '-100', reason: 'spent' };
    const [reported, ...spendings] = await Promise.all([
      reportedRefund(world, 'created', { amount: 500 }),
      ...[1, 2, 3, 4].map(() => adjustBalance(world.ledger, admin('demo'), world.key(), spend)),
    ]);
    expect(reported).toMatchObject({ outcome: 'APPLIED' });
    const spent = spendings.filter(({ kind }) => kind === 'AdjustBalanceSuccess').length;
    const after = await world.now(order);
    expect(await world.balance('demo', 'alice')).toBe('0');
    expect(after.receivable.toFixed()).toBe(String(100 * spent));
    expect(await world.recorded('alice', 'stripe', 'ECOPAY')).toBe('0');
  });
});

describe('a payment told again after everything', () => {
  it('stays booked once', async () => {
    const { world, order } = await paid();
    await reportedRefund(world, 'created', { amount: 500 });
    const again = eventOf(world, 'payment_intent.succeeded', stripePayment({ metadata: metadataOf(order) }));
    expect(await world.apply(again)).toMatchObject({ outcome: 'STALE' });
    expect((await world.now(order)).state).toBe('REFUNDED');
    expect(await world.recorded('alice', 'stripe')).toBe('0');
  });
});
