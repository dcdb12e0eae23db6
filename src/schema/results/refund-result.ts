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
import { outcomeEntry, outcomeOrder } from './outcome-fields.ts';

const RefundSuccess = builder.objectRef<Answered<'RefundSuccess'>>('RefundSuccess').implement({
  description:
    '`replayed`: this is the stored outcome of an earlier request with the same key. Entities are read live.',
  fields: (t) => ({
    refund: t.field({
      type: RefundType,
      resolve: async (outcome, _args, context) => {
        const order = await outcomeOrder(outcome, context);
        return { order, refund: present(findRefund(order, outcome.refundId), "an outcome's refund") };
      },
    }),
    order: t.field({ type: OrderType, resolve: (outcome, _args, context) => outcomeOrder(outcome, context) }),
    entry: t.field({
      type: EntryType,
      nullable: true,
      resolve: ({ accountId, entryId }, _args, context) =>
        entryId === undefined ? null : outcomeEntry({ accountId, entryId }, context),
    }),
    balance: t.field({
      type: BalanceType,
      nullable: true,
      // A merchant refunds to wallets that it doesn't see.
      resolve: ({ accountId, asset }, _args, { load, viewer }) =>
        asset === undefined ? null : load.balance({ tenant: viewer.tenant, accountId, asset }),
    }),
    replayed: t.exposeBoolean('replayed'),
  }),
});

export const RefundResult = builder.unionType('RefundResult', {
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
