import {
  type AttributeInput,
  type StoredItem,
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
import { integer } from '../kernel/integers.ts';
import {
  type Attempt,
  type Lease,
  type Dispute,
  type Refund,
  type OverflowTotals,
  type Step,
  type Overpayment,
  closedAttempt,
} from '../model/orders/order.ts';

/** How the parts of an order that come after its opening are kept inside its item. */
type Attributes = Readonly<Record<string, AttributeInput | undefined>>;

function optionalInt(value: number | undefined): AttributeInput | undefined {
  return value === undefined ? undefined : integer(value);
}

function leaseMap(lease: Lease): Attributes {
  const { principal, operation, key } = lease.request;
  return {
    o: lease.owner,
    l: optionalInt(lease.leaseEndMs),
    p: principal,
    m: operation,
    k: key,
    x: integer(lease.recordTtlS),
  };
}

function readLease(map: StoredItem | undefined): Lease | undefined {
  if (map === undefined) return undefined;
  return {
    owner: readString(map, 'o'),
    request: { principal: readString(map, 'p'), operation: readString(map, 'm'), key: readString(map, 'k') },
    recordTtlS: readInteger(map, 'x'),
    ...defined({ leaseEndMs: optionalInteger(map, 'l') }),
  };
}

export function attemptMap(attempt: Attempt): Attributes {
  return {
    n: integer(attempt.number),
    s: attempt.state,
    c: attempt.lease === undefined ? undefined : leaseMap(attempt.lease),
    r: integer(attempt.tries),
    su: attempt.successUrl,
    cu: attempt.cancelUrl,
    pm: attempt.paymentMethodTypes.join(','),
    x: integer(attempt.expiresAtMs),
    i: attempt.sessionId,
    u: attempt.url,
    p: attempt.paymentId,
  };
}

/** One that an earlier release closed still has what was asked for. */
export function readAttempt(map: StoredItem): Attempt {
  const methods = readString(map, 'pm');
  const attempt: Attempt = {
    number: readInteger(map, 'n'),
    state: readOneOf(map, 's', ['CLAIMED', 'OPEN', 'CLOSED']),
    tries: readInteger(map, 'r'),
    successUrl: readString(map, 'su'),
    cancelUrl: readString(map, 'cu'),
    paymentMethodTypes: methods === '' ? [] : methods.split(','),
    expiresAtMs: readInteger(map, 'x'),
    ...defined({
      lease: readLease(optionalMap(map, 'c')),
      sessionId: optionalString(map, 'i'),
      url: optionalString(map, 'u'),
      paymentId: optionalString(map, 'p'),
    }),
  };
  return attempt.state === 'CLOSED' ? closedAttempt(attempt) : attempt;
}

export function refundMap(refund: Refund): Attributes {
  return {
    i: refund.refundId,
    a: refund.amount,
    s: refund.state,
    o: refund.source,
    r: refund.reason,
    f: refund.failureReason,
    w: refund.actor,
    t: integer(refund.createdAtMs),
    c: refund.lease === undefined ? undefined : leaseMap(refund.lease),
    y: integer(refund.tries),
    p: refund.paymentId,
    v: refund.providerRefundId,
    e: refund.entryId,
  };
}

export function readRefund(map: StoredItem): Refund {
  return {
    refundId: readString(map, 'i'),
    amount: readDecimal(map, 'a'),
    state: readOneOf(map, 's', ['PENDING', 'SUCCEEDED', 'FAILED']),
    source: readOneOf(map, 'o', ['REQUESTED', 'DASHBOARD']),
    actor: readString(map, 'w'),
    createdAtMs: readInteger(map, 't'),
    tries: readInteger(map, 'y'),
    ...defined({
      reason: optionalString(map, 'r'),
      failureReason: optionalString(map, 'f'),
      lease: readLease(optionalMap(map, 'c')),
      paymentId: optionalString(map, 'p'),
      providerRefundId: optionalString(map, 'v'),
      entryId: optionalString(map, 'e'),
    }),
  };
}

export function disputeMap(dispute: Dispute): Attributes {
  return {
    i: dispute.disputeId,
    p: dispute.paymentId,
    s: dispute.status,
    a: dispute.amount,
    b: dispute.recorded ? true : undefined,
    z: dispute.ofOverpayment ? true : undefined,
  };
}

export function readDispute(map: StoredItem): Dispute {
  return {
    disputeId: readString(map, 'i'),
    paymentId: readString(map, 'p'),
    status: readOneOf(map, 's', ['inquiry', 'open', 'lost', 'won', 'cleared']),
    amount: readDecimal(map, 'a'),
    recorded: readBoolean(map, 'b'),
    ofOverpayment: readBoolean(map, 'z'),
  };
}

export function overpaymentMap(overpayment: Overpayment): Attributes {
  const refunds = overpayment.refunds.map((refund) => ({
    v: refund.providerRefundId,
    a: refund.amount,
    s: refund.state,
  }));
  return {
    p: overpayment.paymentId,
    a: overpayment.amount,
    r: overpayment.refunded,
    n: optionalInt(overpayment.asked),
    c: optionalInt(overpayment.overflow?.count),
    w: overpayment.overflow?.pending,
    f: refunds.length === 0 ? undefined : refunds,
  };
}

export function readOverpayment(map: StoredItem): Overpayment {
  const overflowCount = optionalInteger(map, 'c');
  const overflow =
    overflowCount === undefined ? undefined : { count: overflowCount, pending: readDecimal(map, 'w') };
  return {
    paymentId: readString(map, 'p'),
    amount: readDecimal(map, 'a'),
    refunded: readDecimal(map, 'r'),
    refunds: readMaps(map, 'f').map((refund) => ({
      providerRefundId: readString(refund, 'v'),
      amount: readDecimal(refund, 'a'),
      state: readOneOf(refund, 's', ['PENDING', 'SUCCEEDED', 'FAILED']),
    })),
    ...defined({ overflow, asked: optionalInteger(map, 'n') }),
  };
}

export function overflowMap({ count, succeeded, pending }: OverflowTotals): Attributes {
  return { n: integer(count), s: succeeded, p: pending };
}

export function readOverflow(map: StoredItem): OverflowTotals {
  return {
    count: readInteger(map, 'n'),
    succeeded: readDecimal(map, 's'),
    pending: readDecimal(map, 'p'),
  };
}

export function stepMap(step: Step): Attributes {
  return {
    n: step.name,
    s: step.state,
    a: integer(step.attempts),
    t: integer(step.nextAttemptAtMs),
    o: step.owner,
    l: optionalInt(step.leaseEndMs),
    e: step.lastError,
  };
}

export function readStep(map: StoredItem): Step {
  return {
    name: readString(map, 'n'),
    state: readOneOf(map, 's', ['PENDING', 'DONE', 'DEAD']),
    attempts: readInteger(map, 'a'),
    nextAttemptAtMs: readInteger(map, 't'),
    ...defined({
      owner: optionalString(map, 'o'),
      leaseEndMs: optionalInteger(map, 'l'),
      lastError: optionalString(map, 'e'),
    }),
  };
}
