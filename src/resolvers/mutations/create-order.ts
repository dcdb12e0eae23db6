import { createOrder } from '../../ledger/usecases/commands/create-order.ts';
import { builder } from '../../schema/builder.ts';
import { LEDGER_FAILURES } from '../../schema/failures.ts';
import { ORDER_NOW, guardedSuccess, resultUnion } from '../../schema/results.ts';
import { guardedMutation } from '../declare-mutation.ts';

const OrderItemInput = builder.inputType('OrderItemInput', {
  description: 'A product and how many of it. The server knows the price.',
  fields: (t) => ({
    sku: t.string({ description: 'Of an active product.', required: true }),
    quantity: t.int({ description: '1 to 9999.', required: true }),
  }),
});

const MetadataEntryInput = builder.inputType('MetadataEntryInput', {
  description: 'A key and its value, kept as they are.',
  fields: (t) => ({
    key: t.string({
      description: '1 to 38 letters, digits and any of _ . -, the first a letter or digit; once in the list.',
      required: true,
    }),
    value: t.string({ description: '1 to 500 characters.', required: true }),
  }),
});

const CreateOrderInput = builder.inputType('CreateOrderInput', {
  description:
    'Exactly one of items and amount; with an amount, description names the line. A terminal gives accountId or a scanned ' +
    'paymentCode, and may charge only what was opened with a code.',
  fields: (t) => ({
    merchantId: t.id({
      description: "Who sells, by the operator's own name for the merchant.",
      required: true,
    }),
    accountId: t.id({
      description: "Whose order it is, by the operator's own name for the account. A customer leaves it out.",
    }),
    paymentCode: t.string({ description: 'Terminal: the code that the customer shows.' }),
    items: t.field({ description: 'Products of the merchant, 1 to 99.', type: [OrderItemInput] }),
    amount: t.field({
      description: "What is to be paid, in the tenant's currency, where the server has no price.",
      type: 'Decimal',
    }),
    description: t.string({
      description: 'The name of the line that the amount makes, 1 to 200 characters.',
    }),
    reference: t.string({
      description:
        "The merchant's own name for the order, 1 to 64 bytes in UTF-8. Two orders may have the same.",
    }),
    metadata: t.field({
      description:
        'Whatever else is to be kept with the order, at most 20 entries; no personal data. The payment provider keeps them ' +
        'with the payment, each key with `m_` before it.',
      type: [MetadataEntryInput],
    }),
  }),
});

const CreateOrderSuccess = guardedSuccess('CreateOrderSuccess', (t) => ({
  order: t.field(ORDER_NOW),
}));

guardedMutation('createOrder', {
  description:
    'Opens an order. A customer names products and quantities; the server resolves prices. Only a merchant, terminal or admin may name an amount.',
  permission: 'CREATE_ORDER',
  input: CreateOrderInput,
  result: resultUnion('createOrder', CreateOrderSuccess, [...LEDGER_FAILURES]),
  run: createOrder,
});
