import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_POST_LIMITS, notifyMerchant } from '../../../src/fulfilment/notify-merchant.ts';
import { recordEntry } from '../../../src/ledger/items/entry-writes.ts';
import { ledgerAccount } from '../../../src/ledger/model/entries/entry.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { paymentPosting } from '../../../src/ledger/model/orders/postings.ts';
import { putOrder } from '../../../src/ledger/items/order-writes.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { payOrder } from '../../../src/ledger/model/orders/payments.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { putPayment } from '../../../src/ledger/items/event-item.ts';
import { parseTenants } from '../../../src/config/tenants.ts';
import { customer, merchant, terminal } from '../../support/harness.ts';
import { ownedClock } from '../../support/owned-time.ts';
import { stripeDispute, stripeRefund } from '../../unit/provider/stripe/stripe-objects.ts';
import { type MerchantServer, startMerchantServer } from '../fulfilment/merchant-server.ts';
import { type FulfilmentHarness, eventually, makeFulfilment } from '../fulfilment/support.ts';
import { eventOf } from './support.ts';
import { openedOrder } from '../../support/sample-orders.ts';

/**
 * Stripe counts ISK in hundredths that must be 00, and yet tells of a bank's dispute over any amount. Facts are booked
 * as they are (docs/DESIGN.md §8), so the ledger then holds what is finer than the asset shows: it is printed so.
 */

let server: MerchantServer;
let harness: FulfilmentHarness;
beforeEach(async () => {
  server = await startMerchantServer();
  const notifyUrl = `${server.origin}/hook`;
  const tenants = parseTenants(
    {
      is: {
        name: 'Iceland',
        currency: 'ISK',
        assets: { ECOPAY: { scale: 0, cap: '100', pays: 'ISK' } },
        paymentMethods: ['card'],
        returnUrls: [],
        merchants: {
          m_1: { name: 'One', notifyUrl, notifySecrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] },
        },
      },
    },
    { production: false },
  );
  const clock = ownedClock();
  const limits = { ...DEFAULT_POST_LIMITS, allowPrivateAddresses: true };
  harness = await makeFulfilment(
    [notifyMerchant({ readMetadata: () => Promise.resolve([]), tenants, clock, limits })],
    { tenants, clock },
  );
});
afterEach(async () => {
  await harness.stop();
  await server.stop();
});

/** An order of `a` that payment `pi_1` paid at the provider. */
async function paidByCard(kind: Order['kind'], amount: string): Promise<{ order: Order; id: string }> {
  const { ledger } = harness;
  const atMs = ledger.clock.nowMs();
  const opened = openedOrder({
    tenant: 'is',
    accountId: 'a',
    orderId: ledger.ids.ulid(atMs),
    kind,
    merchantId: 'm_1',
    currency: 'ISK',
    amount,
    atMs,
  });
  const { tenant, accountId, orderId, currency } = opened;
  const order = payOrder(
    opened,
    'MONEY_ARRIVED',
    { method: 'CHECKOUT', atMs, paymentId: 'pi_1' },
    ledger.followUps({ kind: 'paid' }, opened),
    { cause: 'PAYMENT_RECEIVED', actor: 'stripe', atMs },
  );
  const recorded = { tenant, accountId, orderId, currency, amount: order.amount, atMs };
  const parts = [
    putPayment({ ...recorded, paymentId: 'pi_1', recordedAs: 'ORDER', attempt: 1 }),
    putOrder(order, ledger.settings),
    recordEntry({
      tenant,
      accountId,
      orderId,
      entryId: ledger.ids.ulid(atMs),
      operation: kind === 'TOP_UP' ? 'TOP_UP' : 'PAYMENT',
      postings: [paymentPosting(order, ledgerAccount.stripe)],
      providerId: 'pi_1',
      actor: 'stripe',
      atMs,
    }),
  ];
  const result = await commit(ledger, plan(ledger.ids.token(), ...parts));
  expect(result.kind).toBe('COMMITTED');
  return { order, id: encodeNodeId('Order', tenant, accountId, orderId) };
}

/** The provider tells of this. */
async function reported(type: string, object: Readonly<Record<string, unknown>>): Promise<void> {
  expect(await applyEvent(harness.ledger, eventOf(harness, type, object))).toMatchObject({
    kind: 'DONE',
    outcome: 'APPLIED',
  });
}

const LOST = stripeDispute({ amount: 1050, currency: 'isk', status: 'lost' });

async function expectCleanAudit(): Promise<void> {
  const report = await auditTable(harness.ledger.store, { segments: 2, wait: () => Promise.resolve() });
  expect(report.problems).toEqual([]);
}

describe('a wallet of which a dispute took 10.50 out of 20 ISK', () => {
  async function disputedTopUp(): Promise<void> {
    await paidByCard('TOP_UP', '20');
    await reported('charge.dispute.closed', LOST);
    expect(await harness.balance('is', 'a')).toBe('9.5');
  }

  it('says what it holds when a charge asks for more, and the rest can be spent', async () => {
    await disputedTopUp();
    const { ledger, key } = harness;
    const dear = await harness.openOrder('is', 'a', '10');
    expect(await charge(ledger, customer('a', 'is'), key(), { orderId: dear.id })).toMatchObject({
      kind: 'InsufficientBalance',
      required: '10',
      available: '9.5',
    });
    const cheap = await harness.openOrder('is', 'a', '9');
    expect((await charge(ledger, customer('a', 'is'), key(), { orderId: cheap.id })).kind).toBe(
      'ChargeSuccess',
    );
    expect(await harness.balance('is', 'a')).toBe('0.5');
    await expectCleanAudit();
  });

  it('says how much more it may hold when cash is too much', async () => {
    await disputedTopUp();
    const cash = { accountId: 'a', amount: '91', method: 'CASH' as const };
    expect(await topUp(harness.ledger, terminal('m_1', 'is'), harness.key(), cash)).toMatchObject({
      kind: 'CapExceeded',
      cap: '100',
      room: '90.5',
    });
    expect(await harness.balance('is', 'a')).toBe('9.5');
  });
});

describe('a purchase of 1000 ISK of which the dashboard refunded 10.50', () => {
  const DASHBOARD = stripeRefund({ amount: 1050, currency: 'isk', metadata: {} });

  it('says what may still be refunded', async () => {
    const { id } = await paidByCard('PURCHASE', '1000');
    await reported('refund.created', DASHBOARD);
    const asked = { orderId: id, amount: '990' };
    expect(await refund(harness.ledger, merchant('m_1', 'is'), harness.key(), asked)).toEqual({
      kind: 'RefundExceedsRefundable',
      refundable: '989.5',
      replayed: false,
    });
  });

  it('and a dispute over 10.50 are told to its merchant as they are', async () => {
    const { order } = await paidByCard('PURCHASE', '1000');
    await reported('refund.created', DASHBOARD);
    await reported('charge.dispute.closed', LOST);
    harness.startWorker();
    const now = await eventually(async () => {
      const read = await harness.order('is', 'a', order.orderId);
      expect(read.steps.map(({ state }) => state)).toEqual(['DONE', 'DONE', 'DONE']);
      return read;
    });
    expect([now.state, now.steps.map(({ attempts }) => attempts)]).toEqual(['CONFIRMED', [1, 1, 1]]);
    const bodies = server.received.map(({ body }) => JSON.parse(body) as { readonly type: string });
    const amounts = { amount: '1000', refundedAmount: '10.5', refundableAmount: '0' };
    expect([...bodies].sort((one, other) => one.type.localeCompare(other.type))).toMatchObject([
      { type: 'order.dispute_lost', data: { ...amounts, dispute: { amount: '10.5', status: 'lost' } } },
      { type: 'order.paid', data: amounts },
      { type: 'order.refunded', data: { ...amounts, refund: { amount: '10.5', state: 'SUCCEEDED' } } },
    ]);
    await expectCleanAudit();
  });
});
