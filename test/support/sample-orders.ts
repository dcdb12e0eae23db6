import fc from 'fast-check';
import { type Decimal, decimal } from '../../src/ledger/kernel/money.ts';
import { ORDER_STATES } from '../../src/ledger/model/orders/order-states.ts';
import {
  type Order,
  type Refund,
  TRANSITION_CAUSES,
  closedAttempt,
} from '../../src/ledger/model/orders/order.ts';
import { type OrderOpening, openOrder, payOrder } from '../../src/ledger/model/orders/payments.ts';

export const SAMPLE_ORDER_ID = '01HZY3V9QK7F0B6W8N4T2D5XCM';
export const SAMPLE_AT_MS = 1_900_000_000_000;

/** What an order may be opened with instead of what `openedOrder` has; an amount may be text. */
export type OrderFields = Partial<Omit<OrderOpening, 'amount'>> & { readonly amount?: string | Decimal };

/**
 * The one place where tests open an order by hand, so that a new field of orders changes no other test: alice's purchase
 * of 480 JPY at the café without lines, but for the fields given. A top-up has an asset and no merchant.
 */
export function openedOrder(fields: OrderFields = {}): Order {
  const { kind = 'PURCHASE', amount = '480', merchantId = 'cafe', asset = 'ECOPAY', ...others } = fields;
  return openOrder({
    tenant: 'demo',
    accountId: 'alice',
    orderId: SAMPLE_ORDER_ID,
    kind,
    ...(kind === 'TOP_UP' ? { asset } : { merchantId }),
    currency: 'JPY',
    amount: typeof amount === 'string' ? decimal(amount) : amount,
    lines: [],
    actor: fields.accountId ?? 'alice',
    consented: false,
    hasMetadata: false,
    atMs: SAMPLE_AT_MS,
    ...others,
  });
}

/** A purchase of 480 JPY at the café with one line, just opened. */
export function sampleOrder(amount = '480'): Order {
  const price = decimal(amount);
  return openedOrder({
    amount,
    lines: [{ sku: 'coffee', name: 'Coffee', quantity: 1, unitPrice: price, amount: price }],
  });
}

/** The same, paid from the wallet, with what the charge gave beside the goods. */
export function samplePaidOrder(amount = '480', reward = { points: '4', co2Kg: '4.8' }): Order {
  return payOrder(
    sampleOrder(amount),
    'WALLET_CHARGE',
    {
      method: 'WALLET',
      atMs: SAMPLE_AT_MS,
      asset: 'ECOPAY',
      points: decimal(reward.points),
      co2Kg: decimal(reward.co2Kg),
    },
    ['notify-merchant'],
    { cause: 'WALLET_CHARGED', actor: 'alice', atMs: SAMPLE_AT_MS },
  );
}

export function sampleRefund(refundId: string, amount: string): Refund {
  return {
    tenant: 'demo',
    accountId: 'alice',
    orderId: SAMPLE_ORDER_ID,
    refundId,
    rev: 0,
    amount: decimal(amount),
    state: 'PENDING',
    source: 'REQUESTED',
    actor: 'cafe-office',
    createdAtMs: SAMPLE_AT_MS,
  };
}

const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.:|-]{0,20}$/);
const tenants = id.filter((name) => name !== 'stripe' && name !== 'system');
const text = fc.string({ minLength: 1, maxLength: 30 });
const whole = fc.integer({ min: 0, max: 2 ** 50 });
const amounts = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 17n }), fc.integer({ min: 0, max: 8 }))
  .map(([units, scale]) => decimal(String(units)).times(decimal('1').dividedBy(10 ** scale)));
const signedAmounts = fc
  .tuple(amounts, fc.boolean())
  .map(([amount, below]) => (below ? amount.negated() : amount));
const ulids = fc.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);

function optional<Fields extends object>(fields: {
  readonly [Name in keyof Fields]: fc.Arbitrary<Fields[Name]>;
}) {
  return fc.record<Fields, never>(fields, { requiredKeys: [] });
}

function joined<One extends object, Other extends object>(
  one: fc.Arbitrary<One>,
  other: fc.Arbitrary<Other>,
): fc.Arbitrary<One & Other> {
  return fc.tuple(one, other).map(([left, right]) => ({ ...left, ...right }));
}

const leases = joined(
  fc.record({
    owner: text,
    request: fc.record({ principal: id, operation: fc.constantFrom('checkout', 'refund'), key: text }),
    recordTtlS: fc.integer({ min: 0, max: 2 ** 36 }),
  }),
  optional({ leaseEndMs: whole }),
);

const attempts = joined(
  fc.record({
    number: whole,
    state: fc.constantFrom('CLAIMED' as const, 'OPEN' as const, 'CLOSED' as const),
    tries: whole,
    successUrl: fc.webUrl(),
    cancelUrl: fc.webUrl(),
    paymentMethodTypes: fc.array(fc.constantFrom('card', 'konbini'), { minLength: 1, maxLength: 3 }),
    expiresAtMs: whole,
    itemized: fc.boolean(),
  }),
  optional({ lease: leases, sessionId: text, url: fc.webUrl(), paymentId: text }),
);

/** Any refund that has the shape of one. */
export const anyRefund: fc.Arbitrary<Refund> = joined(
  fc.record({
    tenant: tenants,
    accountId: id,
    orderId: ulids,
    refundId: fc.oneof(ulids, id),
    rev: fc.integer({ min: 1, max: 2 ** 50 }),
    amount: amounts,
    state: fc.constantFrom('PENDING' as const, 'SUCCEEDED' as const, 'FAILED' as const),
    source: fc.constantFrom('REQUESTED' as const, 'DASHBOARD' as const),
    actor: id,
    createdAtMs: whole,
  }),
  optional({
    reason: text,
    failureReason: text,
    paymentId: text,
    providerRefundId: text,
    entryId: ulids,
    tries: whole,
    triedAtMs: whole,
    lookedAtMs: whole,
  }),
);

const steps = joined(
  fc.record({
    name: text,
    state: fc.constantFrom('PENDING' as const, 'DONE' as const, 'DEAD' as const),
    attempts: whole,
    nextAttemptAtMs: whole,
  }),
  optional({ owner: text, leaseEndMs: whole, lastError: text }),
);

const transitions = joined(
  fc.record({
    version: whole,
    to: fc.constantFrom(...ORDER_STATES),
    cause: fc.constantFrom(...TRANSITION_CAUSES),
    actor: id,
    atMs: whole,
  }),
  optional({ from: fc.constantFrom(...ORDER_STATES), detail: text }),
);

/** Any order that has the shape of one, whether or not it could come to be. */
export const anyOrder: fc.Arbitrary<Order> = joined(
  fc.record({
    tenant: tenants,
    accountId: id,
    orderId: ulids,
    kind: fc.constantFrom('PURCHASE' as const, 'TOP_UP' as const),
    state: fc.constantFrom(...ORDER_STATES),
    version: whole,
    rev: whole,
    currency: fc.constantFrom('JPY', 'USD', 'KWD'),
    amount: amounts,
    lines: fc.array(
      joined(
        fc.record({ name: text, quantity: whole, unitPrice: amounts, amount: amounts }),
        optional({ sku: id }),
      ),
      { maxLength: 4 },
    ),
    actor: id,
    consented: fc.boolean(),
    refundable: signedAmounts,
    refunded: amounts,
    refundPending: amounts,
    hasMetadata: fc.boolean(),
    receivable: amounts,
    attempts: fc.array(
      attempts.map((attempt) => (attempt.state === 'CLOSED' ? closedAttempt(attempt) : attempt)),
      { maxLength: 3 },
    ),
    refundCount: whole,
    pendingRefundCount: whole,
    refundClaims: fc.array(fc.record({ refundId: ulids, lease: leases }), { maxLength: 3 }),
    disputes: fc.array(
      fc.record({
        reason: fc.option(text, { nil: undefined }),
        dueByMs: fc.option(whole, { nil: undefined }),
        disputeId: text,
        paymentId: text,
        status: fc.constantFrom(
          'inquiry' as const,
          'open' as const,
          'lost' as const,
          'won' as const,
          'cleared' as const,
        ),
        amount: amounts,
        recorded: fc.boolean(),
        ofOverpayment: fc.boolean(),
      }),
      { maxLength: 2 },
    ),
    overpayments: fc.array(
      fc.record({
        paymentId: text,
        amount: amounts,
        refunded: amounts,
        refundCount: whole,
        pendingRefundCount: whole,
      }),
      { maxLength: 2 },
    ),
    steps: fc.array(steps, { maxLength: 3 }),
    timeline: fc.array(transitions, { maxLength: 4 }),
    unlistedNotes: whole,
    createdAtMs: whole,
    updatedAtMs: whole,
  }),
  optional({
    reference: text,
    merchantId: id,
    asset: fc.constantFrom('ECOPAY', 'REGIONAL/kyoto'),
    payment: joined(
      fc.record({
        method: fc.constantFrom('WALLET' as const, 'CHECKOUT' as const, 'CASH' as const),
        atMs: whole,
      }),
      optional({
        asset: fc.constantFrom('ECOPAY', 'JCREDIT'),
        paymentId: text,
        terminalId: id,
        points: amounts,
        co2Kg: amounts,
      }),
    ),
    voucher: fc.record({ url: fc.webUrl(), expiresAtMs: whole }),
    checks: fc.record({ count: whole, lastAtMs: whole }),
  }),
);
