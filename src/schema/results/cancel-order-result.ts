import type { Answered } from '../../ledger/outcomes.ts';
import { builder } from '../builder.ts';
import {
  IdempotencyInProgress,
  IdempotencyKeyReused,
  InvalidInput,
  NotFound,
  OrderNotCancelable,
  ProviderUnavailable,
  Throttled,
  TransactionConflict,
} from '../failures.ts';
import { OrderType } from '../refs.ts';
import { outcomeOrder } from './outcome-fields.ts';

const CancelOrderSuccess = builder.objectRef<Answered<'CancelOrderSuccess'>>('CancelOrderSuccess').implement({
  description:
    '`replayed`: this is the stored outcome of an earlier request with the same key. Entities are read live.',
  fields: (t) => ({
    order: t.field({ type: OrderType, resolve: (outcome, _args, context) => outcomeOrder(outcome, context) }),
    replayed: t.exposeBoolean('replayed'),
  }),
});

export const CancelOrderResult = builder.unionType('CancelOrderResult', {
  types: [
    CancelOrderSuccess,
    OrderNotCancelable,
    ProviderUnavailable,
    IdempotencyKeyReused,
    IdempotencyInProgress,
    TransactionConflict,
    Throttled,
    InvalidInput,
    NotFound,
  ],
  resolveType: ({ kind }) => kind,
});
