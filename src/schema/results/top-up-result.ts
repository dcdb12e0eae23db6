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
import { ORDER_NOW, REPLAYED, outcomeBalance, outcomeEntryIfAny, outcomeOrder } from './outcome-fields.ts';

const TopUpSuccess = builder.objectRef<Answered<'TopUpSuccess'>>('TopUpSuccess').implement({
  description:
    'It is done, now or by an earlier request with the same key. What it names is shown as it is now.',
  fields: (t) => ({
    order: t.field({ type: OrderType, description: ORDER_NOW, resolve: outcomeOrder }),
    entry: t.field({
      type: EntryType,
      nullable: true,
      description:
        'What it booked. Null for CHECKOUT: nothing is booked before the provider says that it is paid.',
      resolve: outcomeEntryIfAny,
    }),
    balance: t.field({
      type: BalanceType,
      description: 'As it is now, on a replay too.',
      resolve: outcomeBalance,
    }),
    replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
  }),
});

export const TopUpResult = builder.unionType('TopUpResult', {
  description:
    'What came of `topUp`. More members may come: one that a client does not know is an unknown outcome.',
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
