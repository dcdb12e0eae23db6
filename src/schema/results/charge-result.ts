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
import { REPLAYABLE, outcomeBalance, outcomeEntry, outcomeOrder } from './outcome-fields.ts';

const ChargeSuccess = builder.objectRef<Answered<'ChargeSuccess'>>('ChargeSuccess').implement({
  description: REPLAYABLE,
  fields: (t) => ({
    order: t.field({ type: OrderType, resolve: outcomeOrder }),
    entry: t.field({ type: EntryType, resolve: outcomeEntry }),
    balance: t.field({
      type: BalanceType,
      resolve: outcomeBalance,
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
