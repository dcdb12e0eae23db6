import type { Failure, FailureKind } from '../ledger/outcomes.ts';
import { builder } from './builder.ts';
import { FailureInterface } from './failure.ts';
import { present } from './present.ts';
import { InputIssueType, OrderType } from './refs.ts';

/** The failure of a kind, as the operations give it. */
type FailureOf<Kind extends FailureKind> = Extract<Failure, { readonly kind: Kind }>;

/** A failure that says no more than every failure does. */
function plainFailure<Kind extends FailureKind>(kind: Kind) {
  return builder.objectRef<FailureOf<Kind>>(kind).implement({ interfaces: [FailureInterface] });
}

type OrderFailureKind = 'OrderNotPayable' | 'OrderNotRefundable' | 'OrderNotCancelable';

/** A failure because of an order's state, which comes with it as it stands now. */
function orderFailure(kind: OrderFailureKind) {
  return builder.objectRef<FailureOf<OrderFailureKind>>(kind).implement({
    interfaces: [FailureInterface],
    fields: (t) => ({
      order: t.field({
        type: OrderType,
        resolve: async ({ accountId, orderId }, _args, { load, viewer }) =>
          present(await load.order({ tenant: viewer.tenant, accountId, orderId }), "a failure's order"),
      }),
    }),
  });
}

export const IdempotencyKeyReused = plainFailure('IdempotencyKeyReused');
export const IdempotencyInProgress = plainFailure('IdempotencyInProgress');
export const TransactionConflict = plainFailure('TransactionConflict');
export const Throttled = plainFailure('Throttled');
export const ProviderUnavailable = plainFailure('ProviderUnavailable');
export const NotFound = plainFailure('NotFound');
export const OrderDisputed = plainFailure('OrderDisputed');

export const OrderNotPayable = orderFailure('OrderNotPayable');
export const OrderNotRefundable = orderFailure('OrderNotRefundable');
export const OrderNotCancelable = orderFailure('OrderNotCancelable');

export const InsufficientBalance = builder
  .objectRef<FailureOf<'InsufficientBalance'>>('InsufficientBalance')
  .implement({
    interfaces: [FailureInterface],
    fields: (t) => ({
      asset: t.exposeString('asset'),
      required: t.expose('required', { type: 'Decimal' }),
      available: t.expose('available', { type: 'Decimal' }),
    }),
  });

export const CapExceeded = builder.objectRef<FailureOf<'CapExceeded'>>('CapExceeded').implement({
  description: '`room`: how much more fits.',
  interfaces: [FailureInterface],
  fields: (t) => ({
    asset: t.exposeString('asset'),
    cap: t.expose('cap', { type: 'Decimal' }),
    room: t.expose('room', { type: 'Decimal' }),
  }),
});

export const RefundExceedsRefundable = builder
  .objectRef<FailureOf<'RefundExceedsRefundable'>>('RefundExceedsRefundable')
  .implement({
    interfaces: [FailureInterface],
    fields: (t) => ({ refundable: t.expose('refundable', { type: 'Decimal' }) }),
  });

export const ProviderRefused = builder.objectRef<FailureOf<'ProviderRefused'>>('ProviderRefused').implement({
  description: 'The provider said no, definitely: its own code.',
  interfaces: [FailureInterface],
  fields: (t) => ({ code: t.exposeString('code') }),
});

export const InvalidInput = builder.objectRef<FailureOf<'InvalidInput'>>('InvalidInput').implement({
  interfaces: [FailureInterface],
  fields: (t) => ({
    issues: t.field({ type: [InputIssueType], resolve: ({ issues }) => issues }),
  }),
});
