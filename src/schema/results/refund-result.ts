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
import { REPLAYABLE, outcomeEntryIfAny, outcomeOrder } from './outcome-fields.ts';

const RefundSuccess = builder.objectRef<Answered<'RefundSuccess'>>('RefundSuccess').implement({
  description: REPLAYABLE,
  fields: (t) => ({
    refund: t.field({
      type: RefundType,
      resolve: async (outcome, args, context) => {
        const order = await outcomeOrder(outcome, args, context);
        return { order, refund: present(findRefund(order, outcome.refundId), "an outcome's refund") };
      },
    }),
    order: t.field({ type: OrderType, resolve: outcomeOrder }),
    entry: t.field({
      type: EntryType,
      nullable: true,
      resolve: outcomeEntryIfAny,
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
