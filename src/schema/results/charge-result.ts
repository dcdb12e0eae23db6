import type { Answered } from '../../ledger/outcomes.ts';
import { builder } from '../builder.ts';
import {
  IdempotencyKeyReused,
  InsufficientBalance,
  InvalidInput,
  NotFound,
  OrderNotPayable,
  Throttled,
  TransactionConflict,
} from '../failures.ts';
import { BalanceType, EntryType, OrderType } from '../refs.ts';
import { outcomeBalance, outcomeEntry, outcomeOrder } from './outcome-fields.ts';

const ChargeSuccess = builder.objectRef<Answered<'ChargeSuccess'>>('ChargeSuccess').implement({
  description:
    '`replayed`: this is the stored outcome of an earlier request with the same key. Entities are read live.',
  fields: (t) => ({
    order: t.field({ type: OrderType, resolve: (outcome, _args, context) => outcomeOrder(outcome, context) }),
    entry: t.field({ type: EntryType, resolve: (outcome, _args, context) => outcomeEntry(outcome, context) }),
    balance: t.field({
      type: BalanceType,
      resolve: (outcome, _args, context) => outcomeBalance(outcome, context),
    }),
    replayed: t.exposeBoolean('replayed'),
  }),
});

export const ChargeResult = builder.unionType('ChargeResult', {
  types: [
    ChargeSuccess,
    InsufficientBalance,
    OrderNotPayable,
    IdempotencyKeyReused,
    TransactionConflict,
    Throttled,
    InvalidInput,
    NotFound,
  ],
  resolveType: ({ kind }) => kind,
});
