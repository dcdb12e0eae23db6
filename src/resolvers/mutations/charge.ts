import { charge } from '../../ledger/usecases/commands/charge.ts';
import { builder } from '../../schema/builder.ts';
import { InsufficientBalance, LEDGER_FAILURES, OrderNotPayable } from '../../schema/failures.ts';
import {
  BALANCE_NOW,
  ENTRY_OF_OPERATION,
  ORDER_NOW,
  guardedSuccess,
  resultUnion,
} from '../../schema/results.ts';
import { guardedMutation } from '../declare-mutation.ts';

const ChargeInput = builder.inputType('ChargeInput', {
  description: 'What is paid, and from which balance.',
  fields: (t) => ({
    orderId: t.id({ description: 'The `id` of a purchase.', required: true }),
    asset: t.string({
      description: 'Which balance pays: one whose asset pays in the currency of the order.',
      required: true,
      defaultValue: 'ECOPAY',
    }),
  }),
});

const ChargeSuccess = guardedSuccess('ChargeSuccess', (t) => ({
  order: t.field(ORDER_NOW),
  entry: t.field(ENTRY_OF_OPERATION),
  balance: t.field(BALANCE_NOW),
}));

guardedMutation('charge', {
  description: 'Pays a purchase from a wallet balance: one transaction, at once PAID.',
  permission: 'CHARGE',
  input: ChargeInput,
  result: resultUnion('charge', ChargeSuccess, [InsufficientBalance, OrderNotPayable, ...LEDGER_FAILURES]),
  run: charge,
});
