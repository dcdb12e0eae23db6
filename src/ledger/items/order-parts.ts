import {
  type Codec,
  converted,
  decimalAt,
  flagAt,
  integerAt,
  integerUnlessZeroAt,
  mapAt,
  oneOfAt,
  optionalField,
  record,
  textAt,
  textsAt,
} from '../kernel/codec.ts';
import { ORDER_STATES } from '../model/orders/order-states.ts';
import {
  type Attempt,
  type Dispute,
  type Lease,
  type Order,
  type OrderLine,
  type OrderPayment,
  type Overpayment,
  type PaymentPage,
  type RefundClaim,
  type Step,
  TRANSITION_CAUSES,
  type Transition,
  closedAttempt,
} from '../model/orders/order.ts';

/*
 * How the parts of an order are kept inside its item: each table is the legend of one part's short names, which mean
 * something else in each part. The order of the lines is the order of the stored bytes.
 */

export const LINE = record<OrderLine>({
  sku: optionalField(textAt('s')),
  name: textAt('n'),
  quantity: integerAt('q'),
  unitPrice: decimalAt('p'),
  amount: decimalAt('a'),
});

export const PAYMENT = record<OrderPayment>({
  method: oneOfAt('m', ['WALLET', 'CHECKOUT', 'CASH']),
  atMs: integerAt('t'),
  asset: optionalField(textAt('a')),
  paymentId: optionalField(textAt('i')),
  terminalId: optionalField(textAt('k')),
  points: optionalField(decimalAt('p')),
  co2Kg: optionalField(decimalAt('c')),
});

const LEASE = record<Lease>({
  owner: textAt('o'),
  leaseEndMs: optionalField(integerAt('l')),
  request: record<Lease['request']>({
    principal: textAt('p'),
    operation: textAt('m'),
    key: textAt('k'),
  }),
  recordTtlS: integerAt('x'),
});

/** One that an earlier release closed still has what was asked for. */
export const ATTEMPT: Codec<Attempt> = converted(
  record<Attempt>({
    number: integerAt('n'),
    state: oneOfAt('s', ['CLAIMED', 'OPEN', 'CLOSED']),
    lease: optionalField(mapAt('c', LEASE)),
    tries: integerAt('r'),
    successUrl: textAt('su'),
    cancelUrl: textAt('cu'),
    paymentMethodTypes: converted(
      textAt('pm'),
      (types) => types.join(','),
      (text) => (text === '' ? [] : text.split(',')),
    ),
    expiresAtMs: integerAt('x'),
    itemized: flagAt('l'),
    metadata: optionalField(textsAt('md')),
    sessionId: optionalField(textAt('i')),
    url: optionalField(textAt('u')),
    paymentId: optionalField(textAt('p')),
  }),
  (attempt) => attempt,
  (attempt) => (attempt.state === 'CLOSED' ? closedAttempt(attempt) : attempt),
);

export const REFUND_CLAIM = record<RefundClaim>({ refundId: textAt('i'), lease: mapAt('c', LEASE) });

export const DISPUTE = record<Dispute>({
  disputeId: textAt('i'),
  paymentId: textAt('p'),
  status: oneOfAt('s', ['inquiry', 'open', 'lost', 'won', 'cleared']),
  amount: decimalAt('a'),
  recorded: flagAt('b'),
  ofOverpayment: flagAt('z'),
  reason: optionalField(textAt('r')),
  dueByMs: optionalField(integerAt('d')),
});

export const OVERPAYMENT = record<Overpayment>({
  paymentId: textAt('p'),
  amount: decimalAt('a'),
  refunded: decimalAt('r'),
  asked: optionalField(integerAt('n')),
  refundCount: integerUnlessZeroAt('c'),
  pendingRefundCount: integerUnlessZeroAt('w'),
});

export const STEP = record<Step>({
  name: textAt('n'),
  state: oneOfAt('s', ['PENDING', 'DONE', 'DEAD', 'SKIPPED']),
  attempts: integerAt('a'),
  nextAttemptAtMs: integerAt('t'),
  owner: optionalField(textAt('o')),
  leaseEndMs: optionalField(integerAt('l')),
  lastError: optionalField(textAt('e')),
});

export const VOUCHER = record<PaymentPage>({ url: textAt('u'), expiresAtMs: integerAt('x') });

export const CHECKS = record<NonNullable<Order['checks']>>({
  count: integerAt('n'),
  lastAtMs: integerAt('t'),
});

export const TRANSITION = record<Transition>({
  version: integerAt('v'),
  from: optionalField(oneOfAt('f', ORDER_STATES)),
  to: oneOfAt('s', ORDER_STATES),
  cause: oneOfAt('c', TRANSITION_CAUSES),
  detail: optionalField(textAt('d')),
  actor: textAt('w'),
  atMs: integerAt('t'),
});
