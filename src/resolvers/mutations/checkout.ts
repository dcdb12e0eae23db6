import { checkout } from '../../ledger/usecases/commands/checkout.ts';
import { builder } from '../../schema/builder.ts';
import { OrderNotPayable, PROVIDER_FAILURES, ProviderRefused } from '../../schema/failures.ts';
import { ORDER_NOW, guardedSuccess, resultUnion } from '../../schema/results.ts';
import { guardedMutation } from '../declare-mutation.ts';

const CheckoutInput = builder.inputType('CheckoutInput', {
  description:
    "What is paid on a page, and where that sends the customer back to. URLs: https or an app's scheme, on the tenant's allow-list.",
  fields: (t) => ({
    orderId: t.id({ description: 'The `id` of a purchase.', required: true }),
    successUrl: t.string({
      description:
        'Where the customer goes once done on the page. Coming back there proves nothing: the order says whether it is paid.',
      required: true,
    }),
    cancelUrl: t.string({ description: 'Where the customer goes who turns back.', required: true }),
  }),
});

const CheckoutSuccess = guardedSuccess('CheckoutSuccess', (t) => ({
  order: t.field(ORDER_NOW),
}));

guardedMutation('checkout', {
  description:
    'Opens a Stripe Checkout session for an order. The order becomes PAID only when Stripe says so.',
  permission: 'CHECKOUT',
  input: CheckoutInput,
  result: resultUnion('checkout', CheckoutSuccess, [OrderNotPayable, ProviderRefused, ...PROVIDER_FAILURES]),
  run: checkout,
});
