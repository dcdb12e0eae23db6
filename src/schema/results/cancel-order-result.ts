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
import { REPLAYABLE, outcomeOrder } from './outcome-fields.ts';

const CancelOrderSuccess = builder.objectRef<Answered<'CancelOrderSuccess'>>('CancelOrderSuccess').implement({
  description: REPLAYABLE,
  fields: (t) => ({
    order: t.field({ type: OrderType, resolve: outcomeOrder }),
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
