import { type Failure, type InputIssue, retryAdvice } from '../ledger/outcomes.ts';
import { builder } from './builder.ts';
import { RetryAdviceEnum } from './enums.ts';

/** What every refusal says. */
export const FailureInterface = builder.interfaceRef<Failure>('Failure').implement({
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
