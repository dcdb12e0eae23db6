import { refund } from '../../ledger/usecases/commands/refund.ts';
import { findRefund } from '../../ledger/usecases/queries/read-order-refunds.ts';
import { builder } from '../../schema/builder.ts';
import {
  InsufficientBalance,
  OrderDisputed,
  OrderNotRefundable,
  PROVIDER_FAILURES,
  ProviderRefused,
  RefundExceedsRefundable,
} from '../../schema/failures.ts';
import { present } from '../../schema/present.ts';
import { BalanceType, RefundType } from '../../schema/refs.ts';
import { ENTRY_IF_ANY, ORDER_NOW, guardedSuccess, outcomeOrder, resultUnion } from '../../schema/results.ts';
import { guardedMutation } from '../declare-mutation.ts';

const RefundInput = builder.inputType('RefundInput', {
  description: 'What is given back.',
  fields: (t) => ({
    orderId: t.id({ description: 'The `id` of a paid order.', required: true }),
    amount: t.field({ description: "In the order's currency. Null: all that remains.", type: 'Decimal' }),
    reason: t.string({ description: 'Why, for the books, 1 to 200 characters.' }),
  }),
});

const RefundSuccess = guardedSuccess('RefundSuccess', (t) => ({
  refund: t.field({
    type: RefundType,
    description: 'The refund, as it is now.',
    resolve: async (outcome, args, context) => {
      const order = await outcomeOrder(outcome, args, context);
      const found = await findRefund(context.ledger, order, outcome.refundId);
      return { ...present(found, "an outcome's refund"), order };
    },
  }),
  order: t.field(ORDER_NOW),
  entry: t.field({
    ...ENTRY_IF_ANY,
    description: 'What it booked. Null: nothing yet, since the refund of a card payment is PENDING.',
  }),
  balance: t.field({
    type: BalanceType,
    nullable: true,
    description: 'Of the wallet, as it is now. Null: no wallet takes part, or the viewer does not see it.',
    // A merchant refunds to wallets that it doesn't see.
    resolve: ({ accountId, asset }, _args, { load, viewer }) =>
      asset === undefined ? null : load.balance({ tenant: viewer.tenant, accountId, asset }),
  }),
}));

guardedMutation('refund', {
  description:
    "Returns a paid order's money to where it came from, in full or in part. Without an amount: all that remains.",
  permission: 'REFUND',
  input: RefundInput,
  result: resultUnion('refund', RefundSuccess, [
    RefundExceedsRefundable,
    OrderNotRefundable,
    OrderDisputed,
    InsufficientBalance,
    ProviderRefused,
    ...PROVIDER_FAILURES,
  ]),
  run: refund,
});
