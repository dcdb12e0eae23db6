import type { Failure, FailureKind } from '../ledger/outcomes.ts';
import { builder } from './builder.ts';
import { FailureInterface } from './failure.ts';
import { present } from './present.ts';
import { InputIssueType, OrderType } from './refs.ts';

/** The failure of a kind, as the operations give it. */
type FailureOf<Kind extends FailureKind> = Extract<Failure, { readonly kind: Kind }>;

/** A failure that says no more than every failure does. */
function plainFailure<Kind extends FailureKind>(kind: Kind, description: string) {
  return builder.objectRef<FailureOf<Kind>>(kind).implement({ description, interfaces: [FailureInterface] });
}

type OrderFailureKind = 'OrderNotPayable' | 'OrderNotRefundable' | 'OrderNotCancelable';

/** A failure because of an order's state, which comes with it as it stands now. */
function orderFailure(kind: OrderFailureKind, description: string) {
  return builder.objectRef<FailureOf<OrderFailureKind>>(kind).implement({
    description,
    interfaces: [FailureInterface],
    fields: (t) => ({
      order: t.field({
        description: 'As it is now.',
        type: OrderType,
        resolve: async ({ accountId, orderId }, _args, { load, viewer }) =>
          present(await load.order({ tenant: viewer.tenant, accountId, orderId }), "a failure's order"),
      }),
    }),
  });
}

export const IdempotencyKeyReused = plainFailure(
  'IdempotencyKeyReused',
  'The key was used for another request before. Nothing was done, and nothing of that request is told.',
);
export const IdempotencyInProgress = plainFailure(
  'IdempotencyInProgress',
  'A request with this key, or another one for the same order, is under way at the provider.',
);
export const TransactionConflict = plainFailure(
  'TransactionConflict',
  'Others are changing the same wallet or order. Nothing was done.',
);
export const Throttled = plainFailure(
  'Throttled',
  'There was no capacity, or an answer of the table was lost: nobody knows yet whether it was done.',
);
export const ProviderUnavailable = plainFailure(
  'ProviderUnavailable',
  'The payment provider could not be reached, or did not answer: nobody knows yet whether it was done.',
);
export const NotFound = plainFailure(
  'NotFound',
  'There is no such thing, or it is not yours; nobody is told which.',
);
export const OrderDisputed = plainFailure(
  'OrderDisputed',
  "The cardholder's bank disputes the payment: the dispute decides where the money goes.",
);

export const OrderNotPayable = orderFailure(
  'OrderNotPayable',
  'It is paid, closed, or waits for a payment of another kind: its `state` and `payableWith` say which.',
);
export const OrderNotRefundable = orderFailure(
  'OrderNotRefundable',
  'It has nothing that could be given back in its state.',
);
export const OrderNotCancelable = orderFailure(
  'OrderNotCancelable',
  'It is paid, or closed already, or being paid just now.',
);

export const InsufficientBalance = builder
  .objectRef<FailureOf<'InsufficientBalance'>>('InsufficientBalance')
  .implement({
    description: 'The balance is below what is needed. Nothing was taken.',
    interfaces: [FailureInterface],
    fields: (t) => ({
      asset: t.exposeString('asset', { description: 'Of which balance.' }),
      required: t.expose('required', { type: 'Decimal', description: 'What was needed.' }),
      available: t.expose('available', {
        type: 'Decimal',
        description: 'What was there when it was judged.',
      }),
    }),
  });

export const CapExceeded = builder.objectRef<FailureOf<'CapExceeded'>>('CapExceeded').implement({
  description: 'The balance may not become as high as that. Nothing was added.',
  interfaces: [FailureInterface],
  fields: (t) => ({
    asset: t.exposeString('asset', { description: 'Of which balance.' }),
    cap: t.expose('cap', { type: 'Decimal', description: 'The most that it may be brought to.' }),
    room: t.expose('room', { type: 'Decimal', description: 'How much more fits.' }),
  }),
});

export const RefundExceedsRefundable = builder
  .objectRef<FailureOf<'RefundExceedsRefundable'>>('RefundExceedsRefundable')
  .implement({
    description: 'More was asked for than is left of what was paid. Nothing was given back.',
    interfaces: [FailureInterface],
    fields: (t) => ({
      refundable: t.expose('refundable', {
        type: 'Decimal',
        description: "What is left, in the order's currency.",
      }),
    }),
  });

export const ProviderRefused = builder.objectRef<FailureOf<'ProviderRefused'>>('ProviderRefused').implement({
  description: 'The payment provider said no, definitely.',
  interfaces: [FailureInterface],
  fields: (t) => ({
    code: t.exposeString('code', { description: "The provider's own, such as `url_invalid`." }),
  }),
});

export const InvalidInput = builder.objectRef<FailureOf<'InvalidInput'>>('InvalidInput').implement({
  description: 'Something in the input is wrong. Nothing was done, and the key is still free.',
  interfaces: [FailureInterface],
  fields: (t) => ({
    issues: t.field({
      description: 'What is wrong, and where; one at least.',
      type: [InputIssueType],
      resolve: ({ issues }) => issues,
    }),
  }),
});
