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
import { outcomeOrder } from './outcome-fields.ts';

const CheckoutSuccess = builder.objectRef<Answered<'CheckoutSuccess'>>('CheckoutSuccess').implement({
  description:
    '`replayed`: this is the stored outcome of an earlier request with the same key. Entities are read live.',
  fields: (t) => ({
    order: t.field({ type: OrderType, resolve: (outcome, _args, context) => outcomeOrder(outcome, context) }),
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
