import type { Answered } from '../../ledger/outcomes.ts';
import { builder } from '../builder.ts';
import {
  CapExceeded,
  IdempotencyKeyReused,
  InsufficientBalance,
  InvalidInput,
  NotFound,
  Throttled,
  TransactionConflict,
} from '../failures.ts';
import { BalanceType, EntryType } from '../refs.ts';
import { outcomeBalance, outcomeEntry } from './outcome-fields.ts';

const AdjustBalanceSuccess = builder
  .objectRef<Answered<'AdjustBalanceSuccess'>>('AdjustBalanceSuccess')
  .implement({
    description:
      '`replayed`: this is the stored outcome of an earlier request with the same key. Entities are read live.',
    fields: (t) => ({
      entry: t.field({
        type: EntryType,
        resolve: (outcome, _args, context) => outcomeEntry(outcome, context),
      }),
      balance: t.field({
        type: BalanceType,
        resolve: (outcome, _args, context) => outcomeBalance(outcome, context),
      }),
      replayed: t.exposeBoolean('replayed'),
    }),
  });

export const AdjustBalanceResult = builder.unionType('AdjustBalanceResult', {
  types: [
    AdjustBalanceSuccess,
    InsufficientBalance,
    CapExceeded,
    IdempotencyKeyReused,
    TransactionConflict,
    Throttled,
    InvalidInput,
    NotFound,
  ],
  resolveType: ({ kind }) => kind,
});
