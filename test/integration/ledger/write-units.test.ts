import { randomUUID } from 'node:crypto';
import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Viewer } from '../../../src/auth/viewer.ts';
import { createDynamoDbClient } from '../../../src/ledger/table/dynamodb.ts';
import { randomIds } from '../../../src/ledger/kernel/ids.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import { issuePaymentCode } from '../../../src/ledger/usecases/commands/issue-payment-code.ts';
import { putProduct } from '../../../src/ledger/usecases/commands/put-product.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { updateProfile } from '../../../src/ledger/usecases/commands/update-profile.ts';
import type { StepNames } from '../../../src/ledger/model/orders/follow-up-trigger.ts';
import { finishStep } from '../../../src/ledger/usecases/steps/finish-step.ts';
import { takeUpOrder } from '../../../src/ledger/usecases/steps/take-up-order.ts';
import type { OrderRef } from '../../../src/ledger/kernel/keys.ts';
import { DEFAULT_STEP_POLICY } from '../../../src/ledger/model/orders/steps.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { createStore } from '../../../src/ledger/table/store.ts';
import { createTransactor } from '../../../src/ledger/table/transact.ts';
import { testEngine } from '../../support/engine.ts';
import {
  type Harness,
  type OpenedOrder,
  admin,
  customer,
  makeHarness,
  merchant,
  terminal,
} from '../../support/harness.ts';

/** What one operation cost: round trips, and the write units that the table charged for them. */
interface Cost {
  readonly reads: number;
  readonly transactions: number;
  /** Items in those transactions, checks included. */
  readonly items: number;
  readonly writeUnits: number;
}

let harness: Harness;
let reads = 0;
let transactions = 0;
let items = 0;
let writeUnits = 0;

/** The ledger with follow-ups, as in production: a paid order is due at once. */
const STEPS: StepNames = ({ kind }) => (kind === 'paid' ? ['notify-merchant'] : []);

beforeAll(async () => {
  const tableName = `t${randomUUID()}`;
  const ids = randomIds();
  const wait = (): Promise<void> => Promise.resolve();
  const client = createDynamoDbClient({ region: 'local', endpoint: inject('engineEndpoint') });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === 'TransactWriteItemsCommand') {
          transactions += 1;
          // The input of this command.
          items += (args.input as { readonly TransactItems: readonly unknown[] }).TransactItems.length;
        } else reads += 1;
        const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
        // The two commands of the ledger answer with a list, one element a table.
        const { ConsumedCapacity: consumed = [] } = answer.output as {
          ConsumedCapacity?: ConsumedCapacity[];
        };
        if (commandName === 'TransactWriteItemsCommand') {
          for (const { CapacityUnits = 0 } of consumed) writeUnits += CapacityUnits;
        }
        return answer;
      },
    { step: 'initialize' },
  );
  harness = await makeHarness({
    endpoint: inject('engineEndpoint'),
    tableName,
    overrides: {
      followUps: STEPS,
      store: createStore({ client, tableName, ids, wait }),
      transactor: createTransactor({ client, tableName, ids, wait }),
    },
  });
});

afterAll(() => {
  harness.close();
});

async function cost(kind: string, run: () => Outcome): Promise<Cost> {
  [reads, transactions, items, writeUnits] = [0, 0, 0, 0];
  const outcome = await run();
  expect(outcome.kind).toBe(kind);
  return { reads, transactions, items, writeUnits };
}

let accounts = 0;

/** A new account of t_1 (no rewards) or demo (rewards) with money in it and an order to pay. */
async function account(tenant = 't_1'): Promise<{ readonly viewer: Viewer; readonly order: OpenedOrder }> {
  const name = `u_${String((accounts += 1))}`;
  await harness.fund(tenant, name, '1000');
  return { viewer: customer(name, tenant), order: await harness.openOrder(tenant, name, '480') };
}

const NOTIFIED: StepNames = ({ kind }) => [`notify-merchant:${kind}`];

/** A canceled order whose merchant has yet to be told. */
async function notifiedOrder(): Promise<{ readonly ref: OrderRef }> {
  const { viewer, order } = await account();
  const ledger = { ...harness.ledger, followUps: NOTIFIED };
  await cancelOrder(ledger, viewer, harness.key(), { orderId: order.id });
  return { ref: { tenant: 't_1', accountId: viewer.subject, orderId: order.orderId } };
}

async function paidAccount(
  tenant = 't_1',
): Promise<{ readonly viewer: Viewer; readonly order: OpenedOrder }> {
  const one = await account(tenant);
  expect((await charge(harness.ledger, one.viewer, harness.key(), { orderId: one.order.id })).kind).toBe(
    'ChargeSuccess',
  );
  return one;
}

type Outcome = Promise<{ readonly kind: string }>;

/** One operation: what it is, what it answers, what it costs, and the write units that DynamoDB Local counts for it. */
interface Row {
  readonly name: string;
  readonly answers: string;
  readonly prepare: () => Promise<() => Outcome>;
  readonly cost: Cost;
  /** What that engine counts has little to do with AWS's bill: a table's worth, not an item's. The rest holds there too. */
  readonly onDynamoDbLocal: number;
}

const nothing = { reads: 0, transactions: 0, items: 0, writeUnits: 0 };
const plain = { merchantId: 'm_1', accountId: 'x', amount: '5', description: 'goods' };

/** At its longest, and some. */
const DESCRIBED = { reference: 'r'.repeat(64), metadata: [{ key: 'cart', value: 'c-77' }] };

const ROWS: readonly Row[] = [
  {
    // Idempotency record, order, balance, entry; and the index entry of the step that became due.
    name: 'a plain charge: 8, and 1 for the index',
    answers: 'ChargeSuccess',
    prepare: async () => {
      const { viewer, order } = await account();
      return () => charge(harness.ledger, viewer, harness.key(), { orderId: order.id });
    },
    cost: { reads: 1, transactions: 1, items: 4, writeUnits: 9 },
    onDynamoDbLocal: 12,
  },
  {
    name: 'a charge of an order with a reference and metadata: as a plain one',
    answers: 'ChargeSuccess',
    prepare: async () => {
      const { viewer } = await account();
      const input = { ...plain, accountId: viewer.subject, amount: '480', ...DESCRIBED };
      const opened = await createOrder(harness.ledger, admin(), harness.key(), input);
      if (opened.kind !== 'CreateOrderSuccess') throw new Error(opened.kind);
      const orderId = encodeNodeId('Order', 't_1', viewer.subject, opened.orderId);
      return () => charge(harness.ledger, viewer, harness.key(), { orderId });
    },
    cost: { reads: 1, transactions: 1, items: 4, writeUnits: 9 },
    onDynamoDbLocal: 12,
  },
  {
    name: 'a replayed charge: the read alone',
    answers: 'ChargeSuccess',
    prepare: async () => {
      const { viewer, order } = await account();
      const key = harness.key();
      await charge(harness.ledger, viewer, key, { orderId: order.id });
      return () => charge(harness.ledger, viewer, key, { orderId: order.id });
    },
    cost: { ...nothing, reads: 1 },
    onDynamoDbLocal: 0,
  },
  {
    // Beside a plain one: the POINT balance and the metrics.
    name: 'a charge with rewards',
    answers: 'ChargeSuccess',
    prepare: async () => {
      const { viewer, order } = await account('demo');
      return () => charge(harness.ledger, viewer, harness.key(), { orderId: order.id });
    },
    cost: { reads: 1, transactions: 1, items: 6, writeUnits: 13 },
    onDynamoDbLocal: 12,
  },
  {
    name: 'a refusal by what was read: the marker alone',
    answers: 'OrderNotPayable',
    prepare: async () => {
      const { viewer, order } = await paidAccount();
      return () => charge(harness.ledger, viewer, harness.key(), { orderId: order.id });
    },
    cost: { reads: 1, transactions: 1, items: 1, writeUnits: 2 },
    onDynamoDbLocal: 4,
  },
  {
    // A cancelled transaction reports no capacity; AWS charges for it like for one that commits.
    name: 'a refusal by a condition: one transaction more',
    answers: 'InsufficientBalance',
    prepare: async () => {
      const { viewer } = await account();
      const order = await harness.openOrder('t_1', viewer.subject, '1001');
      return () => charge(harness.ledger, viewer, harness.key(), { orderId: order.id });
    },
    cost: { reads: 1, transactions: 2, items: 5, writeUnits: 2 },
    onDynamoDbLocal: 4,
  },
  {
    name: 'an answer that no marker keeps: the read alone',
    answers: 'InvalidInput',
    prepare: async () => {
      const { viewer, order } = await account();
      return () => charge(harness.ledger, viewer, harness.key(), { orderId: order.id, asset: 'POINT' });
    },
    cost: { ...nothing, reads: 1 },
    onDynamoDbLocal: 0,
  },
  {
    name: 'input that is wrong by itself: nothing',
    answers: 'NotFound',
    prepare: async () => {
      const { viewer } = await account();
      return () => charge(harness.ledger, viewer, harness.key(), { orderId: 'not-an-id' });
    },
    cost: nothing,
    onDynamoDbLocal: 0,
  },
  {
    // Idempotency record and order; and the merchant's index entry.
    name: 'createOrder with an amount',
    answers: 'CreateOrderSuccess',
    prepare: () => Promise.resolve(() => createOrder(harness.ledger, admin(), harness.key(), plain)),
    cost: { reads: 1, transactions: 1, items: 2, writeUnits: 5 },
    onDynamoDbLocal: 12,
  },
  {
    name: 'createOrder with a reference and metadata: an item beside',
    answers: 'CreateOrderSuccess',
    prepare: () =>
      Promise.resolve(() => createOrder(harness.ledger, admin(), harness.key(), { ...plain, ...DESCRIBED })),
    cost: { reads: 1, transactions: 1, items: 3, writeUnits: 7 },
    onDynamoDbLocal: 12,
  },
  {
    name: 'createOrder from the catalogue: prices come with the same read',
    answers: 'CreateOrderSuccess',
    prepare: async () => {
      for (const sku of ['tea', 'cake']) {
        const product = { merchantId: 'm_1', sku, name: sku, price: '1', active: true };
        await putProduct(harness.ledger, merchant(), product);
      }
      const wanted = ['tea', 'cake'].map((sku) => ({ sku, quantity: 2 }));
      return () =>
        createOrder(harness.ledger, customer('x'), harness.key(), { merchantId: 'm_1', items: wanted });
    },
    cost: { reads: 1, transactions: 1, items: 2, writeUnits: 5 },
    onDynamoDbLocal: 12,
  },
  {
    name: 'createOrder with a payment code: its mark beside',
    answers: 'CreateOrderSuccess',
    prepare: async () => {
      const { code: paymentCode } = await issuePaymentCode(harness.ledger, customer('x'));
      const input = { merchantId: 'm_1', paymentCode, amount: '5', description: 'goods' };
      return () => createOrder(harness.ledger, terminal(), harness.key(), input);
    },
    cost: { reads: 1, transactions: 1, items: 3, writeUnits: 7 },
    onDynamoDbLocal: 12,
  },
  {
    name: 'a cash top-up',
    answers: 'TopUpSuccess',
    prepare: () => {
      const input = { accountId: 'x', amount: '5', method: 'CASH' as const };
      return Promise.resolve(() => topUp(harness.ledger, terminal(), harness.key(), input));
    },
    cost: { reads: 1, transactions: 1, items: 4, writeUnits: 9 },
    onDynamoDbLocal: 12,
  },
  {
    name: 'a refund to the wallet',
    answers: 'RefundSuccess',
    prepare: async () => {
      const { order } = await paidAccount();
      return () => refund(harness.ledger, admin(), harness.key(), { orderId: order.id, amount: '120' });
    },
    // The refund's own item beside those of a charge.
    cost: { reads: 1, transactions: 1, items: 5, writeUnits: 10 },
    onDynamoDbLocal: 4,
  },
  {
    name: 'a refund to the wallet that takes back its reward',
    answers: 'RefundSuccess',
    prepare: async () => {
      const { order } = await paidAccount('demo');
      return () => refund(harness.ledger, admin('demo'), harness.key(), { orderId: order.id, amount: '120' });
    },
    cost: { reads: 1, transactions: 1, items: 7, writeUnits: 14 },
    onDynamoDbLocal: 4,
  },
  {
    name: 'cancelOrder',
    answers: 'CancelOrderSuccess',
    prepare: async () => {
      const { viewer, order } = await account();
      return () => cancelOrder(harness.ledger, viewer, harness.key(), { orderId: order.id });
    },
    cost: { reads: 1, transactions: 1, items: 2, writeUnits: 4 },
    onDynamoDbLocal: 4,
  },
  {
    // Beside a plain one: the index entry of the step that became due.
    name: 'cancelOrder of a merchant who is told of it',
    answers: 'CancelOrderSuccess',
    prepare: async () => {
      const { viewer, order } = await account();
      const ledger = { ...harness.ledger, followUps: NOTIFIED };
      return () => cancelOrder(ledger, viewer, harness.key(), { orderId: order.id });
    },
    cost: { reads: 1, transactions: 1, items: 2, writeUnits: 5 },
    onDynamoDbLocal: 12,
  },
  {
    // The order, and its place in the index.
    name: 'a message to a merchant: its step is taken up',
    answers: 'TAKEN',
    prepare: async () => {
      const { ref } = await notifiedOrder();
      return () => takeUpOrder(harness.ledger, ref, 'owner', DEFAULT_STEP_POLICY);
    },
    cost: { reads: 1, transactions: 1, items: 1, writeUnits: 4 },
    onDynamoDbLocal: 12,
  },
  {
    name: 'a message to a merchant: its step is done',
    answers: 'RECORDED',
    prepare: async () => {
      const { ref } = await notifiedOrder();
      await takeUpOrder(harness.ledger, ref, 'owner', DEFAULT_STEP_POLICY);
      const step = { stepName: 'notify-merchant:canceled', owner: 'owner' };
      return () => finishStep(harness.ledger, ref, step, { kind: 'DONE' }, DEFAULT_STEP_POLICY);
    },
    cost: { reads: 1, transactions: 1, items: 1, writeUnits: 3 },
    onDynamoDbLocal: 8,
  },
  {
    name: 'adjustBalance',
    answers: 'AdjustBalanceSuccess',
    prepare: () => {
      const input = { accountId: 'x', asset: 'ECOPAY', amount: '5', reason: 'r' };
      return Promise.resolve(() => adjustBalance(harness.ledger, admin(), harness.key(), input));
    },
    cost: { reads: 1, transactions: 1, items: 3, writeUnits: 6 },
    onDynamoDbLocal: 4,
  },
  {
    name: 'putProduct',
    answers: 'PutProductSuccess',
    prepare: () => {
      const input = { merchantId: 'm_1', sku: 'pie', name: 'Pie', price: '1', active: true };
      return Promise.resolve(() => putProduct(harness.ledger, merchant(), input));
    },
    cost: { reads: 0, transactions: 1, items: 1, writeUnits: 2 },
    onDynamoDbLocal: 4,
  },
  {
    name: 'updateProfile',
    answers: 'UpdateProfileSuccess',
    prepare: () => Promise.resolve(() => updateProfile(harness.ledger, customer('x'), { displayName: 'X' })),
    cost: { reads: 0, transactions: 1, items: 1, writeUnits: 2 },
    onDynamoDbLocal: 4,
  },
];

describe('what an operation costs', () => {
  it.each(ROWS)('$name', async ({ answers, prepare, cost: expected, onDynamoDbLocal }) => {
    const run = await prepare();
    const actual = await cost(answers, run);
    const writeUnitsHere = testEngine() === 'dynoxide' ? expected.writeUnits : onDynamoDbLocal;
    expect(actual).toEqual({ ...expected, writeUnits: writeUnitsHere });
  });
});
