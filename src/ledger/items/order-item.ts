import {
  type AttributeInput,
  type StoredItem,
  optionalDecimal,
  optionalInteger,
  optionalMap,
  optionalString,
  readBoolean,
  readDecimal,
  readInteger,
  readMaps,
  readOneOf,
  readString,
} from '../kernel/attributes.ts';
import { defined } from '../kernel/defined.ts';
import { type DuePolicy, dueAtMs, dueShard } from '../model/orders/due.ts';
import { integer } from '../kernel/integers.ts';
import { type ItemKey, orderKey, partition } from '../kernel/keys.ts';
import { type Decimal, ZERO } from '../kernel/money.ts';
import {
  readOverflow,
  readAttempt,
  readDispute,
  readRefund,
  readStep,
  readOverpayment,
} from './order-parts.ts';
import { overflowMap, attemptMap, disputeMap, refundMap, stepMap, overpaymentMap } from './order-parts.ts';
import { ORDER_STATES } from '../model/orders/order-states.ts';
import {
  type Order,
  type OrderLine,
  type OrderPayment,
  TRANSITION_CAUSES,
  type Transition,
} from '../model/orders/order.ts';

type Attributes = Readonly<Record<string, AttributeInput | undefined>>;

/** An order as the table holds it, the index attributes included; what is empty or zero is left out, to stay small. */
export function orderAttributes(
  order: Order,
  policy: DuePolicy,
): ItemKey & Readonly<Record<string, AttributeInput | undefined>> {
  const dueMs = dueAtMs(order, policy);
  const dead = order.steps.some((step) => step.state === 'DEAD');
  return {
    ...orderKey(order),
    kind: order.kind,
    state: order.state,
    version: integer(order.version),
    rev: integer(order.rev),
    merchant: order.merchantId === undefined ? undefined : partition(order.tenant, order.merchantId),
    created: integer(order.createdAtMs),
    updated: integer(order.updatedAtMs),
    currency: order.currency,
    amount: order.amount,
    asset: order.asset,
    actor: order.actor,
    consented: order.consented ? true : undefined,
    payment: order.payment === undefined ? undefined : paymentMap(order.payment),
    refundable: unlessZero(order.refundable),
    refunded: unlessZero(order.refunded),
    refund_pending: unlessZero(order.refundPending),
    owed: unlessZero(order.receivable),
    lines: unlessEmpty(order.lines.map(lineMap)),
    attempts: unlessEmpty(order.attempts.map(attemptMap)),
    refunds: unlessEmpty(order.refunds.map(refundMap)),
    disputes: unlessEmpty(order.disputes.map(disputeMap)),
    surplus: unlessEmpty(order.overpayments.map(overpaymentMap)),
    aside: order.overflow === undefined ? undefined : overflowMap(order.overflow),
    steps: unlessEmpty(order.steps.map(stepMap)),
    slip:
      order.voucher === undefined
        ? undefined
        : { u: order.voucher.url, x: integer(order.voucher.expiresAtMs) },
    checks:
      order.checks === undefined
        ? undefined
        : { n: integer(order.checks.count), t: integer(order.checks.lastAtMs) },
    timeline: order.timeline.map(transitionMap),
    unlisted: order.unlistedNotes === 0 ? undefined : integer(order.unlistedNotes),
    due_shard: dueMs === undefined ? undefined : dueShard(order),
    due_at: dueMs === undefined ? undefined : integer(dueMs),
    listed: dead ? `dead#${order.tenant}` : undefined,
    listed_at: dead ? integer(order.updatedAtMs) : undefined,
  };
}

/** Reads an order item. Throws MalformedItemError for what this code could not have written. */
export function readOrder(item: StoredItem): Order {
  const [tenant = '', accountId = ''] = readString(item, 'uuid').split('#');
  const payment = optionalMap(item, 'payment');
  const voucher = optionalMap(item, 'slip');
  const checks = optionalMap(item, 'checks');
  const overflow = optionalMap(item, 'aside');
  return {
    tenant,
    accountId,
    orderId: readString(item, 'type').slice('ORDER#'.length),
    kind: readOneOf(item, 'kind', ['PURCHASE', 'TOP_UP']),
    state: readOneOf(item, 'state', ORDER_STATES),
    version: readInteger(item, 'version'),
    rev: readInteger(item, 'rev'),
    currency: readString(item, 'currency'),
    amount: readDecimal(item, 'amount'),
    actor: readString(item, 'actor'),
    consented: readBoolean(item, 'consented'),
    refundable: optionalDecimal(item, 'refundable') ?? ZERO,
    refunded: optionalDecimal(item, 'refunded') ?? ZERO,
    refundPending: optionalDecimal(item, 'refund_pending') ?? ZERO,
    receivable: optionalDecimal(item, 'owed') ?? ZERO,
    lines: readMaps(item, 'lines').map(readLine),
    attempts: readMaps(item, 'attempts').map(readAttempt),
    refunds: readMaps(item, 'refunds').map(readRefund),
    disputes: readMaps(item, 'disputes').map(readDispute),
    overpayments: readMaps(item, 'surplus').map(readOverpayment),
    steps: readMaps(item, 'steps').map(readStep),
    timeline: readMaps(item, 'timeline').map(readTransition),
    unlistedNotes: optionalInteger(item, 'unlisted') ?? 0,
    createdAtMs: readInteger(item, 'created'),
    updatedAtMs: readInteger(item, 'updated'),
    ...defined({
      merchantId: optionalString(item, 'merchant')?.slice(tenant.length + 1),
      asset: optionalString(item, 'asset'),
      payment: payment === undefined ? undefined : readPayment(payment),
      overflow: overflow === undefined ? undefined : readOverflow(overflow),
      voucher:
        voucher === undefined
          ? undefined
          : { url: readString(voucher, 'u'), expiresAtMs: readInteger(voucher, 'x') },
      checks:
        checks === undefined
          ? undefined
          : { count: readInteger(checks, 'n'), lastAtMs: readInteger(checks, 't') },
    }),
  };
}

function unlessZero(amount: Decimal): Decimal | undefined {
  return amount.isZero() ? undefined : amount;
}

function unlessEmpty(list: readonly Attributes[]): readonly Attributes[] | undefined {
  return list.length === 0 ? undefined : list;
}

function lineMap(line: OrderLine): Attributes {
  return { s: line.sku, n: line.name, q: integer(line.quantity), p: line.unitPrice, a: line.amount };
}

function readLine(map: StoredItem): OrderLine {
  return {
    name: readString(map, 'n'),
    quantity: readInteger(map, 'q'),
    unitPrice: readDecimal(map, 'p'),
    amount: readDecimal(map, 'a'),
    ...defined({ sku: optionalString(map, 's') }),
  };
}

function paymentMap(payment: OrderPayment): Attributes {
  return {
    m: payment.method,
    t: integer(payment.atMs),
    a: payment.asset,
    i: payment.paymentId,
    k: payment.terminalId,
    p: payment.points,
    c: payment.co2Kg,
  };
}

function readPayment(map: StoredItem): OrderPayment {
  return {
    method: readOneOf(map, 'm', ['WALLET', 'CHECKOUT', 'CASH']),
    atMs: readInteger(map, 't'),
    ...defined({
      asset: optionalString(map, 'a'),
      paymentId: optionalString(map, 'i'),
      terminalId: optionalString(map, 'k'),
      points: optionalDecimal(map, 'p'),
      co2Kg: optionalDecimal(map, 'c'),
    }),
  };
}

function transitionMap(transition: Transition): Attributes {
  return {
    v: integer(transition.version),
    f: transition.from,
    s: transition.to,
    c: transition.cause,
    d: transition.detail,
    w: transition.actor,
    t: integer(transition.atMs),
  };
}

function readTransition(map: StoredItem): Transition {
  return {
    version: readInteger(map, 'v'),
    to: readOneOf(map, 's', ORDER_STATES),
    cause: readOneOf(map, 'c', TRANSITION_CAUSES),
    actor: readString(map, 'w'),
    atMs: readInteger(map, 't'),
    ...defined({
      from: ORDER_STATES.find((state) => state === optionalString(map, 'f')),
      detail: optionalString(map, 'd'),
    }),
  };
}
