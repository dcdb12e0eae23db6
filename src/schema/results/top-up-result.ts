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
import { REPLAYABLE, outcomeBalance, outcomeEntryIfAny, outcomeOrder } from './outcome-fields.ts';

const TopUpSuccess = builder.objectRef<Answered<'TopUpSuccess'>>('TopUpSuccess').implement({
  description: REPLAYABLE,
  fields: (t) => ({
    order: t.field({ type: OrderType, resolve: outcomeOrder }),
    entry: t.field({
      type: EntryType,
      nullable: true,
      resolve: outcomeEntryIfAny,
    }),
    balance: t.field({
      type: BalanceType,
      resolve: outcomeBalance,
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
