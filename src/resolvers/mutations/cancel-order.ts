import { cancelOrder } from '../../ledger/usecases/commands/cancel-order.ts';
import { builder } from '../../schema/builder.ts';
import { OrderNotCancelable, PROVIDER_FAILURES } from '../../schema/failures.ts';
import { ORDER_NOW, guardedSuccess, resultUnion } from '../../schema/results.ts';
import { guardedMutation } from '../declare-mutation.ts';

const CancelOrderInput = builder.inputType('CancelOrderInput', {
  description: 'What is to be closed.',
  fields: (t) => ({ orderId: t.id({ description: 'The `id` of the order.', required: true }) }),
});

const CancelOrderSuccess = guardedSuccess('CancelOrderSuccess', (t) => ({
  order: t.field(ORDER_NOW),
}));

guardedMutation('cancelOrder', {
  description: 'Closes an unpaid order.',
  permission: 'CANCEL_ORDER',
  input: CancelOrderInput,
  result: resultUnion('cancelOrder', CancelOrderSuccess, [OrderNotCancelable, ...PROVIDER_FAILURES]),
  run: cancelOrder,
});
