import { expect } from 'vitest';
import { toAttributes } from '../../../../../src/ledger/kernel/attributes.ts';
import { type Decimal, ZERO, decimal, plainDecimal } from '../../../../../src/ledger/kernel/money.ts';
import { orderAttributes } from '../../../../../src/ledger/items/order-item.ts';
import { hasRoomForAttempt, orderBytes } from '../../../../../src/ledger/model/orders/order-size.ts';
import type { Lease, Order, OrderLine, Refund } from '../../../../../src/ledger/model/orders/order.ts';
import { beginRefund, refundObjection } from '../../../../../src/ledger/model/orders/refunds.ts';
import { claimDueSteps, failStep } from '../../../../../src/ledger/model/orders/steps.ts';
import { claimAttempt, openSession } from '../../../../../src/ledger/model/provider/attempts.ts';
import { type DisputeDetails, decideDispute } from '../../../../../src/ledger/model/provider/disputes.ts';
import type {
  OrderUpdate,
  UpdateDecision,
  DecisionContext,
} from '../../../../../src/ledger/model/provider/update-decision.ts';
import { receivePayment } from '../../../../../src/ledger/model/provider/payments.ts';
import { type RefundDetails, decideRefund } from '../../../../../src/ledger/model/provider/refunds.ts';
import { decideOverpaymentRefund } from '../../../../../src/ledger/model/provider/overpayments.ts';
import { applyAttemptOutcome } from '../../../../../src/ledger/model/provider/attempt-outcomes.ts';
import { stepName } from '../../../../../src/fulfilment/follow-up.ts';
import { itemBytes } from '../../../../support/item-bytes.ts';
import { openedOrder } from '../../../../support/sample-orders.ts';

/** What the table takes in one item, and what has to stay free of it. */
export const MOST_BYTES = 400 * 1024;
export const SPARE_BYTES = 100 * 1024;

export const AT_MS = 1_900_000_000_000;
const POLICY = { sweepAfterMs: 1_800_000 };
export const AMOUNT = decimal('99999999');
/** An id of this platform, and one of the provider's, at their longest. */
const LONGEST_ID = 128;
const LONGEST_PROVIDER_ID = 255;
export const LONG_TEXT = '三'.repeat(200);
const WALLET = { balance: ZERO, shortfall: ZERO };
const FOLLOW_UPS = ['a', 'b'].map((name) => name.repeat(64));

export const context: DecisionContext = {
  atMs: AT_MS,
  entryId: '01HZY3V9QK7F0B6W8N4T2D5XCN',
  // As if no two were of the same moment.
  stepNames: (trigger, { rev }) =>
    FOLLOW_UPS.map((name) => stepName(name, 'atMs' in trigger ? { ...trigger, atMs: AT_MS + rev } : trigger)),
};

function idOf(name: string, length: number, number = 0): string {
  return `${name}${String(number)}`.padEnd(length, 'x');
}

function providerId(name: string, number: number): string {
  return idOf(name, LONGEST_PROVIDER_ID, number);
}

export const WORST_LINES: readonly OrderLine[] = Array.from({ length: 99 }, (_, number) => ({
  sku: idOf('sku', LONGEST_ID, number),
  name: LONG_TEXT,
  quantity: 9_999,
  unitPrice: decimal('999999.99'),
  amount: decimal('9998999999.01'),
}));

export function opened(lines: readonly OrderLine[]): Order {
  return openedOrder({
    tenant: idOf('tenant', LONGEST_ID),
    accountId: idOf('account', LONGEST_ID),
    merchantId: idOf('merchant', LONGEST_ID),
    amount: AMOUNT,
    consented: true,
    lines,
    actor: idOf('actor', LONGEST_ID),
    atMs: AT_MS,
  });
}

function leaseOf(operation: string, number: number): Lease {
  return {
    owner: `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`,
    leaseEndMs: AT_MS + 30_000,
    request: { principal: idOf('p', LONGEST_ID), operation, key: idOf('key', 255, number) },
    recordTtlS: 1_907_776_000,
  };
}

function urlOf(length: number): string {
  return 'https://shop.example/'.padEnd(length, 'u');
}

export function wireBytes(order: Order): number {
  return itemBytes(toAttributes(orderAttributes(order, POLICY)));
}

/** An order whose largest size is written down. */
export class Growing {
  largest = 0;
  private estimated = 0;
  order: Order;
  constructor(order: Order) {
    this.order = order;
    this.become(order);
  }

  become(order: Order): void {
    this.order = order;
    // What is estimated smaller than before isn't measured anew.
    if (orderBytes(order) <= this.estimated) return;
    this.estimated = orderBytes(order);
    this.largest = Math.max(this.largest, wireBytes(order));
  }

  apply(decide: (order: Order) => UpdateDecision | { readonly kind: 'ASK' }): OrderUpdate | undefined {
    const decision = decide(this.order);
    if (decision.kind !== 'CHANGE') return undefined;
    this.become(decision.after);
    return decision;
  }
}

/** Checks the order out for as long as that is taken, every attempt with a voucher, declined cards and no end of time. */
export function checkOutAll(growing: Growing): number {
  let made = 0;
  while (hasRoomForAttempt(growing.order)) {
    made += 1;
    const terms = {
      successUrl: urlOf(2_048),
      cancelUrl: urlOf(2_048),
      paymentMethodTypes: ['card', 'konbini', 'customer_balance'],
    };
    growing.become(claimAttempt(growing.order, terms, leaseOf('checkout', made), AT_MS, (texts) => texts));
    const session = { sessionId: providerId('cs_', made), url: urlOf(4_096), expiresAtMs: AT_MS + 3_600_000 };
    const current = () => growing.order.attempts.at(-1) ?? expect.fail('no attempt');
    const actor = idOf('actor', LONGEST_ID);
    growing.become(openSession(growing.order, current(), session, { actor, atMs: AT_MS }));
    growing.apply((order) =>
      applyAttemptOutcome(
        order,
        current(),
        { kind: 'DECLINED', declineCode: 'd'.repeat(64) },
        { closed: false },
        context,
      ),
    );
    const voucher = { url: urlOf(4_096), expiresAtMs: AT_MS + 86_400_000 };
    growing.apply((order) =>
      applyAttemptOutcome(order, current(), { kind: 'WAITING', voucher }, { closed: false }, context),
    );
    growing.apply((order) =>
      applyAttemptOutcome(
        order,
        current(),
        { kind: 'FAILED', reason: 'r'.repeat(64) },
        { closed: true },
        context,
      ),
    );
  }
  return made;
}

export function payAll(growing: Growing): void {
  for (const { number } of growing.order.attempts) {
    growing.apply((order) => {
      const attempt = order.attempts.find((one) => one.number === number) ?? expect.fail('no attempt');
      return receivePayment(order, { attempt, paymentId: providerId('pi_', number) }, context);
    });
  }
}

/** Every step has run once, without success. */
export function failSteps(growing: Growing): void {
  const policy = { leaseMs: 60_000, maxAttempts: 18, firstRetryMs: 1_000, maxRetryMs: 21_600_000 };
  const owner = '00000000-0000-4000-8000-000000000001';
  growing.become(claimDueSteps(growing.order, owner, policy, AT_MS) ?? growing.order);
  for (const { name } of growing.order.steps) {
    const failure = { kind: 'RETRY', reason: 'e'.repeat(200) } as const;
    growing.become(failStep(growing.order, name, owner, failure, policy, AT_MS, 1) ?? growing.order);
  }
  growing.become(claimDueSteps(growing.order, owner, policy, AT_MS + 86_400_000) ?? growing.order);
}

/** Asks for refunds of one yen for as long as that is taken, then has every one of them made. */
export function refundAll(growing: Growing): number {
  const begun: Refund[] = [];
  const amount = decimal('1');
  while (refundObjection(growing.order, amount) === undefined) {
    const made = begun.length + 1;
    const { tenant, accountId, orderId } = growing.order;
    const refund: Refund = {
      tenant,
      accountId,
      orderId,
      rev: 0,
      refundId: `01HZY3V9QK7F0B6W8N4T2D${String(made).padStart(4, '0')}`,
      amount,
      state: 'PENDING',
      source: 'REQUESTED',
      reason: LONG_TEXT,
      actor: idOf('actor', LONGEST_ID),
      createdAtMs: AT_MS,
      paymentId: providerId('pi_', 1),
    };
    const what = { actor: refund.actor, atMs: AT_MS };
    const change = beginRefund(growing.order, refund, what, leaseOf('refund', made));
    growing.become(change.order);
    begun.push(change.refund);
  }
  for (const [index, refund] of begun.entries()) {
    const reported = reportedRefund(providerId('re_own', index), 'SUCCEEDED', amount);
    growing.apply((order) => decideRefund(order, refund, reported, WALLET, context));
  }
  return begun.length;
}

export function reportedRefund(
  providerRefundId: string,
  state: Refund['state'],
  amount: Decimal,
): RefundDetails {
  const amountMinor = Number.parseInt(plainDecimal(amount), 10);
  return {
    providerRefundId,
    paymentId: providerId('pi_', 1),
    state,
    amountMinor,
    currency: 'JPY',
    failureReason: 'f'.repeat(64),
  };
}

/** Refunds made at the provider: of each payment many, of one yen; some fail after they had succeeded. */
export function refundInDashboard(growing: Growing, count: number): void {
  for (let number = 0; number < count; number += 1) {
    const reported = reportedRefund(providerId('re_dash', number), 'SUCCEEDED', decimal('1'));
    const first = growing.apply((order) => decideRefund(order, undefined, reported, WALLET, context));
    const failed = { ...reported, state: 'FAILED' } as const;
    if (number % 2 === 0)
      growing.apply((order) => decideRefund(order, first?.refund, failed, WALLET, context));
    const overpayment = growing.order.overpayments[number % Math.max(growing.order.overpayments.length, 1)];
    if (overpayment === undefined) continue;
    const ofOverpayment = {
      ...reportedRefund(providerId('re_surplus', number), 'SUCCEEDED', decimal('1')),
      paymentId: overpayment.paymentId,
    };
    growing.apply((order) => decideOverpaymentRefund(order, undefined, ofOverpayment, context));
  }
}

/** A dispute of every payment, through all that may become of it. */
export function disputeAll(growing: Growing): void {
  const payments = growing.order.attempts.length;
  for (let number = 0; number < payments; number += 1) {
    for (const status of ['inquiry', 'open', 'lost', 'won'] as const) {
      const reported = reportedDispute(providerId('dp_', number), number, status);
      growing.apply((order) => decideDispute(order, reported, ZERO, true, context));
    }
  }
}

export function reportedDispute(
  disputeId: string,
  payment: number,
  status: DisputeDetails['status'],
): DisputeDetails {
  const paymentId = providerId('pi_', payment);
  return {
    disputeId,
    paymentId,
    status,
    amountMinor: 99_999_999,
    currency: 'JPY',
    ofOverpayment: payment > 1,
  };
}
