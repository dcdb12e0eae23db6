import { topUp } from '../../ledger/usecases/commands/top-up.ts';
import { builder } from '../../schema/builder.ts';
import { TopUpMethodEnum } from '../../schema/enums.ts';
import { CapExceeded, PROVIDER_FAILURES, ProviderRefused } from '../../schema/failures.ts';
import { BALANCE_NOW, ENTRY_IF_ANY, ORDER_NOW, guardedSuccess, resultUnion } from '../../schema/results.ts';
import { guardedMutation } from '../declare-mutation.ts';

const TopUpInput = builder.inputType('TopUpInput', {
  description: 'What is added to a wallet, and how.',
  fields: (t) => ({
    accountId: t.id({
      description: "Whose wallet, by the operator's own name for the account. A customer leaves it out.",
    }),
    asset: t.string({ description: 'Which balance.', required: true, defaultValue: 'ECOPAY' }),
    amount: t.field({ description: 'In the asset; above zero.', type: 'Decimal', required: true }),
    method: t.field({
      description: 'CASH at a terminal, CHECKOUT by the customer.',
      type: TopUpMethodEnum,
      required: true,
    }),
    successUrl: t.string({ description: 'CHECKOUT: where the customer goes once done on the page.' }),
    cancelUrl: t.string({ description: 'CHECKOUT: where the customer goes who turns back.' }),
  }),
});

const TopUpSuccess = guardedSuccess('TopUpSuccess', (t) => ({
  order: t.field(ORDER_NOW),
  entry: t.field({
    ...ENTRY_IF_ANY,
    description:
      'What it booked. Null for CHECKOUT: nothing is booked before the provider says that it is paid.',
  }),
  balance: t.field(BALANCE_NOW),
}));

guardedMutation('topUp', {
  description:
    'Adds value to a wallet: CASH at a terminal is credited at once, CHECKOUT when Stripe confirms.',
  permission: ({ method }) => (method === 'CASH' ? 'TOP_UP_CASH' : 'TOP_UP_CHECKOUT'),
  input: TopUpInput,
  result: resultUnion('topUp', TopUpSuccess, [CapExceeded, ProviderRefused, ...PROVIDER_FAILURES]),
  run: topUp,
});
