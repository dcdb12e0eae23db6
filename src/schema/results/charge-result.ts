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
import { ORDER_NOW, REPLAYED, outcomeBalance, outcomeEntry, outcomeOrder } from './outcome-fields.ts';

const ChargeSuccess = builder.objectRef<Answered<'ChargeSuccess'>>('ChargeSuccess').implement({
  description:
    'It is done, now or by an earlier request with the same key. What it names is shown as it is now.',
  fields: (t) => ({
    order: t.field({ type: OrderType, description: ORDER_NOW, resolve: outcomeOrder }),
    entry: t.field({ type: EntryType, description: 'What it booked.', resolve: outcomeEntry }),
    balance: t.field({
      type: BalanceType,
      description: 'As it is now, on a replay too.',
      resolve: outcomeBalance,
    }),
    replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
  }),
});

export const ChargeResult = builder.unionType('ChargeResult', {
  description:
    'What came of `charge`. More members may come: one that a client does not know is an unknown outcome.',
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
