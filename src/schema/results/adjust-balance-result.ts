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
import { REPLAYED, outcomeBalance, outcomeEntry } from './outcome-fields.ts';

const AdjustBalanceSuccess = builder
  .objectRef<Answered<'AdjustBalanceSuccess'>>('AdjustBalanceSuccess')
  .implement({
    description:
      'It is done, now or by an earlier request with the same key. What it names is shown as it is now.',
    fields: (t) => ({
      entry: t.field({
        type: EntryType,
        description: 'What it booked.',
        resolve: outcomeEntry,
      }),
      balance: t.field({
        type: BalanceType,
        description: 'As it is now, on a replay too.',
        resolve: outcomeBalance,
      }),
      replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
    }),
  });

export const AdjustBalanceResult = builder.unionType('AdjustBalanceResult', {
  description:
    'What came of `adjustBalance`. More members may come: one that a client does not know is an unknown outcome.',
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
