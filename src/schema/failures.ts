import type { FieldMap } from '@pothos/core';
import { type Failure, type FailureKind, type InputIssue, retryAdvice } from '../ledger/model/outcomes.ts';
import { type BuilderTypes, builder } from './builder.ts';
import { RetryAdviceEnum } from './enums.ts';
import { OrderType, ProposalType } from './refs.ts';
import { outcomeOrder, outcomeProposal } from './results.ts';

/** What every refusal says. */
const FailureInterface = builder.interfaceRef<Failure>('Failure').implement({
  description:
    'What every refusal says. `message` is English, for developers; localise by the type and its fields.',
  resolveType: ({ kind }) => kind,
  fields: (t) => ({
    message: t.string({ description: 'English, for developers.', resolve: messageOf }),
    retry: t.field({
      description: 'What may come of asking again.',
      type: RetryAdviceEnum,
      resolve: retryAdvice,
    }),
    retryAfterMs: t.int({
      description:
        'How long to wait before asking again with the same key, in milliseconds. Null: there is nothing to wait for.',
      nullable: true,
      resolve: (failure) => ('retryAfterMs' in failure ? failure.retryAfterMs : null),
    }),
    replayed: t.boolean({
      description: 'This is the stored outcome of an earlier request with the same key.',
      resolve: (failure) => 'replayed' in failure && failure.replayed,
    }),
  }),
});

/** The failure of a kind, as the operations give it. */
type FailureOf<Kind extends FailureKind> = Extract<Failure, { readonly kind: Kind }>;

/** A failure, with the fields that it has beside those of every failure. */
function failureType<Kind extends FailureKind>(
  kind: Kind,
  description: string,
  fields: (t: PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, FailureOf<Kind>>) => FieldMap = () => ({}),
) {
  return builder
    .objectRef<FailureOf<Kind>>(kind)
    .implement({ description, interfaces: [FailureInterface], fields });
}

type OrderFailureKind = 'OrderNotPayable' | 'OrderNotRefundable' | 'OrderNotCancelable';

/** A failure because of an order's state, which comes with it as it stands now. */
function orderFailure(kind: OrderFailureKind, description: string) {
  return failureType<OrderFailureKind>(kind, description, (t) => ({
    order: t.field({ description: 'As it is now.', type: OrderType, resolve: outcomeOrder }),
  }));
}

export const IdempotencyKeyReused = failureType(
  'IdempotencyKeyReused',
  'The key was used for another request before. Nothing was done, and nothing of that request is told.',
);
export const IdempotencyInProgress = failureType(
  'IdempotencyInProgress',
  'A request with this key, or another one for the same order, is under way at the provider.',
);
export const TransactionConflict = failureType(
  'TransactionConflict',
  'Others are changing the same wallet or order. Nothing was done.',
);
export const Throttled = failureType(
  'Throttled',
  'There was no capacity, or an answer of the table was lost: nobody knows yet whether it was done.',
);
export const ProviderUnavailable = failureType(
  'ProviderUnavailable',
  'The payment provider could not be reached, or did not answer: nobody knows yet whether it was done.',
);
export const NotFound = failureType(
  'NotFound',
  'There is no such thing, or it is not yours; nobody is told which.',
);
export const OrderDisputed = failureType(
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

export const InsufficientBalance = failureType(
  'InsufficientBalance',
  'The balance is below what is needed. Nothing was taken.',
  (t) => ({
    asset: t.exposeString('asset', { description: 'Of which balance.' }),
    required: t.expose('required', { type: 'Decimal', description: 'What was needed.' }),
    available: t.expose('available', {
      type: 'Decimal',
      description: 'What was there when it was judged.',
    }),
  }),
);

export const CapExceeded = failureType(
  'CapExceeded',
  'The balance may not become as high as that. Nothing was added.',
  (t) => ({
    asset: t.exposeString('asset', { description: 'Of which balance.' }),
    cap: t.expose('cap', { type: 'Decimal', description: 'The most that it may be brought to.' }),
    room: t.expose('room', { type: 'Decimal', description: 'How much more fits.' }),
  }),
);

export const RefundExceedsRefundable = failureType(
  'RefundExceedsRefundable',
  'More was asked for than is left of what was paid. Nothing was given back.',
  (t) => ({
    refundable: t.expose('refundable', {
      type: 'Decimal',
      description: "What is left, in the order's currency.",
    }),
  }),
);

export const ProviderRefused = failureType(
  'ProviderRefused',
  'The payment provider said no, definitely.',
  (t) => ({
    code: t.exposeString('code', { description: "The provider's own, such as `url_invalid`." }),
  }),
);

type ProposalFailureKind = 'ProposalNotOpen' | 'SecondAdminRequired';

/** A failure because of how a proposal stands, which comes with it. */
function proposalFailure(kind: ProposalFailureKind, description: string) {
  return failureType<ProposalFailureKind>(kind, description, (t) => ({
    proposal: t.field({ description: 'As it is now.', type: ProposalType, resolve: outcomeProposal }),
  }));
}

export const ProposalNotOpen = proposalFailure(
  'ProposalNotOpen',
  'It has been decided on, or nobody did in time: its `state` says which. Nothing was done.',
);
export const SecondAdminRequired = proposalFailure(
  'SecondAdminRequired',
  'Who proposed it can not approve it: another admin has to. Nothing was done.',
);

const InputIssueType = builder.objectRef<InputIssue>('InputIssue').implement({
  description: '`code` is for machines: unknown_sku, bad_scale, not_positive, …',
  fields: (t) => ({
    path: t.stringList({
      description:
        'Where in the input: names of fields, and positions in lists from 0. Empty: the input as a whole.',
      resolve: ({ path }) => path,
    }),
    code: t.exposeString('code', { description: 'For machines. More may come.' }),
    message: t.exposeString('message', {
      description: 'English, for developers; the value is never repeated.',
    }),
  }),
});

export const InvalidInput = failureType(
  'InvalidInput',
  'Something in the input is wrong. Nothing was done, and the key is still free.',
  (t) => ({
    issues: t.field({
      description: 'What is wrong, and where; one at least.',
      type: [InputIssueType],
      resolve: ({ issues }) => issues,
    }),
  }),
);

/** What may go wrong with every mutation that takes an input: a `PlainFailure`. */
export const PLAIN_FAILURES = [TransactionConflict, Throttled, InvalidInput, NotFound];
/** And where a key guards it: a `LedgerFailure`. */
export const LEDGER_FAILURES = [IdempotencyKeyReused, ...PLAIN_FAILURES];
/** And where it asks the provider: a `ProviderFailure`. */
export const PROVIDER_FAILURES = [
  ProviderUnavailable,
  IdempotencyKeyReused,
  IdempotencyInProgress,
  ...PLAIN_FAILURES,
];

function messageOf(failure: Failure): string {
  switch (failure.kind) {
    case 'InsufficientBalance':
      return `The balance of ${failure.asset} is ${failure.available}; ${failure.required} is needed.`;
    case 'CapExceeded':
      return `The balance of ${failure.asset} may not exceed ${failure.cap}; there is room for ${failure.room}.`;
    case 'OrderNotPayable':
      return `The order can't be paid in this way: it is ${failure.state}.`;
    case 'OrderNotRefundable':
      return `The order can't be refunded: it is ${failure.state}.`;
    case 'OrderNotCancelable':
      return `The order can't be canceled: it is ${failure.state}.`;
    case 'OrderDisputed':
      return 'The payment is disputed: the dispute decides where the money goes.';
    case 'RefundExceedsRefundable':
      return `The refund exceeds what can be refunded: ${failure.refundable}.`;
    case 'ProviderRefused':
      return `The payment provider refused: ${failure.code}.`;
    case 'ProposalNotOpen':
      return `The proposal can't be decided on: it is ${failure.state}.`;
    case 'SecondAdminRequired':
      return 'Another admin than the one who proposed it has to approve.';
    case 'IdempotencyKeyReused':
      return 'The idempotency key was used for another request.';
    case 'IdempotencyInProgress':
      return 'A request is in progress: ask again with the same key.';
    case 'TransactionConflict':
      return 'Something else is changing the same thing: ask again with the same key.';
    case 'Throttled':
      return 'The outcome is unknown or there is no capacity: ask again with the same key.';
    case 'ProviderUnavailable':
      return 'The payment provider is not available: ask again with the same key.';
    case 'NotFound':
      return 'There is no such thing, or it is not yours.';
    case 'InvalidInput':
      return `The input is not valid: ${failure.issues.map(issueText).join('; ')}.`;
  }
}

function issueText({ path, message }: InputIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}
