import type { Answered } from '../../ledger/outcomes.ts';
import { builder } from '../builder.ts';
import {
  CapExceeded,
  IdempotencyInProgress,
  IdempotencyKeyReused,
  InvalidInput,
  NotFound,
  ProviderRefused,
  ProviderUnavailable,
  Throttled,
  TransactionConflict,
} from '../failures.ts';
import { BalanceType, EntryType, OrderType } from '../refs.ts';
import { outcomeBalance, outcomeEntry, outcomeOrder } from './outcome-fields.ts';

const TopUpSuccess = builder.objectRef<Answered<'TopUpSuccess'>>('TopUpSuccess').implement({
  description:
    '`replayed`: this is the stored outcome of an earlier request with the same key. Entities are read live.',
  fields: (t) => ({
    order: t.field({ type: OrderType, resolve: (outcome, _args, context) => outcomeOrder(outcome, context) }),
    entry: t.field({
      type: EntryType,
      nullable: true,
      resolve: ({ accountId, entryId }, _args, context) =>
        entryId === undefined ? null : outcomeEntry({ accountId, entryId }, context),
    }),
    balance: t.field({
      type: BalanceType,
      resolve: (outcome, _args, context) => outcomeBalance(outcome, context),
    }),
    replayed: t.exposeBoolean('replayed'),
  }),
});

export const TopUpResult = builder.unionType('TopUpResult', {
  types: [
    TopUpSuccess,
    CapExceeded,
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
