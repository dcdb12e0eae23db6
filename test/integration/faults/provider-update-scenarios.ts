import { recordEntry } from '../../../src/ledger/items/entry-writes.ts';
import { ledgerAccount } from '../../../src/ledger/model/entries/entry.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { paymentPosting } from '../../../src/ledger/model/orders/postings.ts';
import { putOrder } from '../../../src/ledger/items/order-writes.ts';
import { putRefund } from '../../../src/ledger/items/refund-item.ts';
import type { Order, Refund } from '../../../src/ledger/model/orders/order.ts';
import { payOrder } from '../../../src/ledger/model/orders/payments.ts';
import { beginRefund } from '../../../src/ledger/model/orders/refunds.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { putPayment } from '../../../src/ledger/items/event-item.ts';
import { admin } from '../../support/harness.ts';
import { stripeDispute, stripeRefund, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { eventOf, metadataOf } from '../webhooks/support.ts';
import type { FaultyWorld } from './faulty-world.ts';
import { delivered } from './provider-scenarios.ts';
import type { Prepared, Scenario } from './scenarios.ts';
import { openedOrder, sampleRefund } from '../../support/sample-orders.ts';

/** An order that payment `pi_{account}` paid, as the ledger booked it, or as `change` has it since. */
export async function paidAtProvider(
  world: FaultyWorld,
  kind: Order['kind'],
  change: (paid: Order) => { readonly order: Order; readonly refund?: Refund } = (order) => ({ order }),
): Promise<Order> {
  const { ledger } = world;
  const [accountId, atMs] = [world.account(), ledger.clock.nowMs()];
  const opened = openedOrder({
    tenant: 't_1',
    accountId,
    orderId: ledger.ids.ulid(atMs),
    kind,
    merchantId: 'm_1',
    currency: 'USD',
    amount: '30.00',
    atMs,
  });
  const paymentId = paymentOf(opened);
  const paid = payOrder(
    opened,
    'MONEY_ARRIVED',
    { method: 'CHECKOUT', atMs, paymentId },
    ledger.followUps({ kind: 'paid' }, opened),
    { cause: 'PAYMENT_RECEIVED', actor: 'stripe', atMs },
  );
  const { order: changed, refund } = change(paid);
  const { tenant, orderId, currency, amount } = opened;
  const parts = [
    putPayment({
      tenant,
      accountId,
      orderId,
      paymentId,
      recordedAs: 'ORDER',
      attempt: 1,
      currency,
      amount,
      atMs,
    }),
    putOrder(changed, ledger.settings),
    ...(refund === undefined ? [] : [putRefund({ order: changed, refund })]),
    recordEntry({
      tenant,
      accountId,
      orderId,
      entryId: ledger.ids.ulid(atMs),
      operation: kind === 'TOP_UP' ? 'TOP_UP' : 'PAYMENT',
      postings: [paymentPosting(paid, ledgerAccount.stripe)],
      providerId: paymentId,
      actor: 'stripe',
      atMs,
    }),
  ];
  const { kind: result } = await commit(ledger, plan(ledger.ids.token(), ...parts));
  if (result !== 'COMMITTED') throw new Error(`not booked: ${result}`);
  return changed;
}

function paymentOf({ accountId }: Pick<Order, 'accountId'>): string {
  return `pi_${accountId}`;
}

/** Of a top-up of 30 the wallet has 4 left: what is told takes those, and the rest is owed. */
async function spentTopUp(world: FaultyWorld): Promise<Order> {
  const order = await paidAtProvider(world, 'TOP_UP');
  const { accountId } = order;
  const spent = { accountId, asset: 'ECOPAY', amount: '-26.00', reason: 'spent' };
  const outcome = await adjustBalance(world.ledger, admin(), world.key(), spent);
  if (outcome.kind !== 'AdjustBalanceSuccess') throw new Error(`not spent: ${outcome.kind}`);
  return order;
}

/** The provider tells of this, as often as it is asked to. */
function telling(
  world: FaultyWorld,
  { accountId }: Order,
  type: string,
  object: Readonly<Record<string, unknown>>,
): Prepared {
  const event = eventOf(world, type, object);
  return { accountId, send: () => delivered(world, event) };
}

const TEN_USD = { amount: 1_000, currency: 'usd' };

const OUR_REFUND = '01HZY3V9QK7F0B6W8N4T2D5XRF';

const settlesOurRefund: Scenario = {
  name: 'the event of a refund of ours',
  prepare: async (world) => {
    const order = await paidAtProvider(world, 'PURCHASE', (paid) => {
      const { updatedAtMs: atMs } = paid;
      const { tenant, accountId, orderId } = paid;
      const refund = { ...sampleRefund(OUR_REFUND, '10.00'), tenant, accountId, orderId };
      return beginRefund(paid, { ...refund, paymentId: paymentOf(paid) }, { actor: 'm_1', atMs });
    });
    const metadata = { ...metadataOf(order), refund_id: OUR_REFUND };
    const reported = { ...TEN_USD, payment_intent: paymentOf(order), metadata };
    return telling(world, order, 'refund.updated', stripeRefund(reported));
  },
  // The payment with its order, then the refund.
  readsEach: 2,
  answer: 'APPLIED',
  leaves: { balances: {}, entries: ['PAYMENT', 'REFUND'], orders: ['PAID v4 refundable 20'] },
};

const recordsDashboardRefund: Scenario = {
  name: "the event of a dashboard's refund of a top-up that is spent",
  prepare: async (world) => {
    const order = await spentTopUp(world);
    const reported = { ...TEN_USD, payment_intent: paymentOf(order), metadata: {} };
    return telling(world, order, 'refund.created', stripeRefund(reported));
  },
  // The payment, its order, its wallet.
  readsEach: 3,
  answer: 'APPLIED',
  leaves: {
    balances: { ECOPAY: '0' },
    entries: ['TOP_UP', 'ADJUSTMENT', 'REFUND'],
    orders: ['PAID v3 refundable 20'],
  },
};

const losesDispute: Scenario = {
  name: 'the event of a lost dispute over a top-up that is spent',
  prepare: async (world) => {
    const order = await spentTopUp(world);
    const reported = { ...TEN_USD, status: 'lost', payment_intent: paymentOf(order) };
    return telling(world, order, 'charge.dispute.closed', stripeDispute(reported));
  },
  // The payment, its order, its wallet.
  readsEach: 3,
  answer: 'APPLIED',
  leaves: {
    balances: { ECOPAY: '0' },
    entries: ['TOP_UP', 'ADJUSTMENT', 'DISPUTE'],
    orders: ['PAID v3 refundable 30'],
  },
};

const takesOverpayment: Scenario = {
  name: 'the event of a second payment of a paid order',
  prepare: async (world) => {
    const order = await paidAtProvider(world, 'PURCHASE', (paid) => ({
      order: {
        ...paid,
        attempts: [
          {
            number: 1,
            state: 'OPEN',
            sessionId: `cs_${paid.accountId}`,
            successUrl: 'https://shop.example',
            cancelUrl: 'https://shop.example',
            paymentMethodTypes: ['card'],
            itemized: false,
            expiresAtMs: paid.updatedAtMs + 3_600_000,
            tries: 0,
          },
        ],
      },
    }));
    const reported = {
      id: `cs_${order.accountId}`,
      status: 'complete',
      payment_status: 'paid',
      payment_intent: `${paymentOf(order)}_again`,
      amount_total: 3_000,
      currency: 'usd',
      metadata: metadataOf(order),
    };
    return telling(world, order, 'checkout.session.completed', stripeSession(reported));
  },
  answer: 'APPLIED',
  leaves: { balances: {}, entries: ['PAYMENT', 'SURPLUS'], orders: ['PAID v3 refundable 30'] },
};

/** Facts of the provider beside the first payment of an order. */
export const PROVIDER_UPDATE_SCENARIOS: readonly Scenario[] = [
  settlesOurRefund,
  recordsDashboardRefund,
  losesDispute,
  takesOverpayment,
];
