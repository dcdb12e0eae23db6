import { findRefund } from '../../ledger/orders/order.ts';
import type { Answered } from '../../ledger/outcomes.ts';
import { builder } from '../builder.ts';
import {
  IdempotencyInProgress,
  IdempotencyKeyReused,
  InsufficientBalance,
  InvalidInput,
  NotFound,
  OrderDisputed,
  OrderNotRefundable,
  ProviderRefused,
  ProviderUnavailable,
  RefundExceedsRefundable,
  Throttled,
  TransactionConflict,
} from '../failures.ts';
import { present } from '../present.ts';
import { BalanceType, EntryType, OrderType, RefundType } from '../refs.ts';
import { ORDER_NOW, REPLAYED, outcomeEntryIfAny, outcomeOrder } from './outcome-fields.ts';

const RefundSuccess = builder.objectRef<Answered<'RefundSuccess'>>('RefundSuccess').implement({
  description:
    'It is done, now or by an earlier request with the same key. What it names is shown as it is now.',
  fields: (t) => ({
    refund: t.field({
      type: RefundType,
      description: 'The refund, as it is now.',
      resolve: async (outcome, args, context) => {
        const order = await outcomeOrder(outcome, args, context);
        return { order, refund: present(findRefund(order, outcome.refundId), "an outcome's refund") };
      },
    }),
    order: t.field({ type: OrderType, description: ORDER_NOW, resolve: outcomeOrder }),
    entry: t.field({
      type: EntryType,
      nullable: true,
      description: 'What it booked. Null: nothing yet, since the refund of a card payment is PENDING.',
      resolve: outcomeEntryIfAny,
    }),
    balance: t.field({
      type: BalanceType,
      nullable: true,
      description: 'Of the wallet, as it is now. Null: no wallet takes part, or the viewer does not see it.',
      // A merchant refunds to wallets that it doesn't see.
      resolve: ({ accountId, asset }, _args, { load, viewer }) =>
        asset === undefined ? null : load.balance({ tenant: viewer.tenant, accountId, asset }),
    }),
    replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
  }),
});

export const RefundResult = builder.unionType('RefundResult', {
  description:
    'What came of `refund`. More members may come: one that a client does not know is an unknown outcome.',
  types: [
    RefundSuccess,
    RefundExceedsRefundable,
    OrderNotRefundable,
    OrderDisputed,
    InsufficientBalance,
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
