import type { Answered } from '../../ledger/outcomes.ts';
import { builder } from '../builder.ts';
import {
  IdempotencyInProgress,
  IdempotencyKeyReused,
  InvalidInput,
  NotFound,
  OrderNotPayable,
  ProviderRefused,
  ProviderUnavailable,
  Throttled,
  TransactionConflict,
} from '../failures.ts';
import { OrderType } from '../refs.ts';
import { REPLAYABLE, outcomeOrder } from './outcome-fields.ts';

const CheckoutSuccess = builder.objectRef<Answered<'CheckoutSuccess'>>('CheckoutSuccess').implement({
  description: REPLAYABLE,
  fields: (t) => ({
    order: t.field({ type: OrderType, resolve: outcomeOrder }),
    replayed: t.exposeBoolean('replayed'),
  }),
});

export const CheckoutResult = builder.unionType('CheckoutResult', {
  types: [
    CheckoutSuccess,
    OrderNotPayable,
    ProviderRefused,
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
