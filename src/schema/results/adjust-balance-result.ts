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
import { REPLAYABLE, outcomeBalance, outcomeEntry } from './outcome-fields.ts';

const AdjustBalanceSuccess = builder
  .objectRef<Answered<'AdjustBalanceSuccess'>>('AdjustBalanceSuccess')
  .implement({
    description: REPLAYABLE,
    fields: (t) => ({
      entry: t.field({
        type: EntryType,
        resolve: outcomeEntry,
      }),
      balance: t.field({
        type: BalanceType,
        resolve: outcomeBalance,
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
