import type { PlantedBug } from './planted-bug.ts';

/** Who asks, and how much may be asked for. */
export const EDGE: readonly PlantedBug[] = [
  {
    name: 'a list of an order may stand below its transitions',
    file: 'src/transport/document-limits.ts',
    from: 'addValidationRule(flatOrderLists);',
    to: 'if (introspection === undefined) addValidationRule(flatOrderLists);',
    tests: ['test/integration/graphql/documents.test.ts'],
    only: 'is refused',
  },
  {
    name: "another merchant's till of the same name gets a till's answer",
    file: 'src/auth/viewer.ts',
    from: '...(merchantId === undefined ? [] : [merchantId]), subject]',
    to: '...(merchantId === undefined ? [] : []), subject]',
    tests: ['test/integration/ledger/whose-answer.test.ts'],
    only: 'of two tills',
  },
  {
    name: "another merchant's till of the same name refunds its cash",
    file: 'src/auth/viewer.ts',
    from: '`${merchantId}/${subject}` : undefined',
    to: 'subject : undefined',
    tests: ['test/integration/ledger/whose-answer.test.ts'],
    only: 'refunded by the till',
  },
  {
    name: 'a disputed payment looks as if it could be refunded',
    file: 'src/ledger/model/orders/order-view.ts',
    from: 'isDisputed(order) && order.refundable.gt(ZERO) ? ZERO : order.refundable;',
    to: 'isDisputed(order) && order.refundable.lt(ZERO) ? ZERO : order.refundable;',
    tests: ['test/integration/graphql/disputes.test.ts'],
  },
  {
    name: 'a malformed amount within a variable is not named',
    file: 'src/transport/argument-path.ts',
    from: 'return path && [...path, ...pathInVariable(message)];',
    to: 'return path && [...path, ...pathInVariable(name)];',
    tests: ['test/integration/graphql/amounts.test.ts'],
    only: 'names the argument',
  },
  {
    name: 'a merchant is told of an expired order as of a failed one',
    file: 'src/ledger/model/provider/attempt-outcomes.ts',
    from: "steps: stepsAfter('expired', order, context),",
    to: "steps: stepsAfter('failed', order, context),",
    tests: ['test/integration/fulfilment/notified-transitions.test.ts'],
  },
  {
    name: 'a merchant is told once of all disputes of one id',
    file: 'src/fulfilment/follow-up.ts',
    from: "return [followUpName, trigger.kind, ...about, String(trigger.atMs)].join(':');",
    to: "return [followUpName, 'disputed', ...about, String(trigger.atMs)].join(':');",
    tests: ['test/integration/fulfilment/notified-transitions.test.ts'],
  },
  {
    name: 'a merchant never hears that a refund failed',
    file: 'src/ledger/model/orders/refunds.ts',
    from: 'steps: [...order.steps, ...furtherSteps(order, stepNames, what.atMs)],\n    ...(wasPending',
    to: 'steps: [...order.steps, ...furtherSteps(order, stepNames.slice(9), what.atMs)],\n    ...(wasPending',
    tests: ['test/integration/fulfilment/notified-transitions.test.ts'],
  },
];
