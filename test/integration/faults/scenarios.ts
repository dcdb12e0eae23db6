import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import { issuePaymentCode } from '../../../src/ledger/usecases/commands/issue-payment-code.ts';
import { putProduct } from '../../../src/ledger/usecases/commands/put-product.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { updateProfile } from '../../../src/ledger/usecases/commands/update-profile.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { type Failure, retryAdvice } from '../../../src/ledger/model/outcomes.ts';
import { admin, customer, merchant, terminal } from '../../support/harness.ts';
import type { FaultyWorld, Picture } from './faulty-world.ts';

/** How one attempt of an operation ended, as far as these tests care. */
export interface Ended {
  /** The outcome's kind. */
  readonly kind: string;
  /** Whether the client is told to send the same again. */
  readonly again: boolean;
  readonly retryAfterMs?: number;
  /** Everything that a replay must answer alike. */
  readonly details: unknown;
}

/** An operation that is set up and can be sent again and again, each time the same request under the same key. */
export interface Prepared {
  readonly accountId: string;
  readonly send: () => Promise<Ended>;
}

export interface Scenario {
  readonly name: string;
  readonly prepare: (world: FaultyWorld) => Promise<Prepared>;
  /** How many transactions it takes: a claim and its completion are two. Without it one. */
  readonly transactions?: number;
  /** How many reads each of its decisions takes. Without it one. */
  readonly readsEach?: number;
  /** What it ends as, once. */
  readonly answer: string;
  /** What the account's wallet holds after it has happened once. */
  readonly leaves: Picture;
}

type Outcome = { readonly kind: string; readonly replayed?: boolean } | Failure;

/** Reads an operation's outcome: SAME_KEY is the only failure that a fault may cause. */
export function ended(outcome: Outcome): Ended {
  const { kind } = outcome;
  const details = { ...outcome, replayed: undefined };
  if (!isUnsettled(outcome)) return { kind, again: false, details };
  return { kind, again: retryAdvice(outcome) === 'SAME_KEY', retryAfterMs: outcome.retryAfterMs, details };
}

type Unsettled = Extract<Failure, { readonly retryAfterMs: number }>;

function isUnsettled(outcome: Outcome): outcome is Unsettled {
  return 'retryAfterMs' in outcome;
}

const FUNDED: Picture = { balances: { ECOPAY: '50' }, entries: ['ADJUSTMENT'], orders: [] };
const EMPTY: Picture = { balances: {}, entries: [], orders: [] };

async function chargedOrder(world: FaultyWorld, accountId: string, amount: string): Promise<string> {
  await world.fund('t_1', accountId, '50.00');
  const { id } = await world.openOrder('t_1', accountId, amount);
  const outcome = await charge(world.ledger, customer(accountId), world.key(), { orderId: id });
  if (outcome.kind !== 'ChargeSuccess') throw new Error(`not charged: ${outcome.kind}`);
  return id;
}

const charges: Scenario = {
  name: 'charge',
  prepare: async (world) => {
    const accountId = world.account();
    await world.fund('t_1', accountId, '50.00');
    const { id } = await world.openOrder('t_1', accountId, '20.00');
    const key = world.key();
    return {
      accountId,
      send: async () => ended(await charge(world.ledger, customer(accountId), key, { orderId: id })),
    };
  },
  answer: 'ChargeSuccess',
  leaves: {
    balances: { ECOPAY: '30' },
    entries: ['ADJUSTMENT', 'CHARGE'],
    orders: ['PAID v2 refundable 20'],
  },
};

const chargesRefused: Scenario = {
  name: 'charge without the money',
  prepare: async (world) => {
    const accountId = world.account();
    await world.fund('t_1', accountId, '50.00');
    const { id } = await world.openOrder('t_1', accountId, '50.01');
    const key = world.key();
    return {
      accountId,
      send: async () => ended(await charge(world.ledger, customer(accountId), key, { orderId: id })),
    };
  },
  answer: 'InsufficientBalance',
  leaves: { ...FUNDED, orders: ['CREATED v1 refundable 0'] },
};

const opensOrder: Scenario = {
  name: 'createOrder',
  prepare: (world) => {
    const accountId = world.account();
    const key = world.key();
    const input = { merchantId: 'm_1', accountId, amount: '12.00', description: 'lunch' };
    return Promise.resolve({
      accountId,
      send: async () => ended(await createOrder(world.ledger, merchant(), key, input)),
    });
  },
  answer: 'CreateOrderSuccess',
  leaves: { ...EMPTY, orders: ['CREATED v1 refundable 0'] },
};

const opensWithCode: Scenario = {
  name: 'createOrder with a payment code',
  prepare: async (world) => {
    const accountId = world.account();
    const key = world.key();
    const { code } = await issuePaymentCode(world.ledger, customer(accountId));
    const input = { merchantId: 'm_1', paymentCode: code, amount: '12.00', description: 'lunch' };
    return {
      accountId,
      send: async () => ended(await createOrder(world.ledger, terminal(), key, input)),
    };
  },
  answer: 'CreateOrderSuccess',
  leaves: { ...EMPTY, orders: ['CREATED v1 refundable 0'] },
};

const takesCash: Scenario = {
  name: 'cash top-up',
  prepare: (world) => {
    const accountId = world.account();
    const key = world.key();
    const input = { accountId, amount: '30.00', method: 'CASH' as const };
    return Promise.resolve({
      accountId,
      send: async () => ended(await topUp(world.ledger, terminal(), key, input)),
    });
  },
  answer: 'TopUpSuccess',
  leaves: { balances: { ECOPAY: '30' }, entries: ['TOP_UP'], orders: ['PAID v2 refundable 30'] },
};

const takesTooMuchCash: Scenario = {
  name: 'cash top-up past the cap',
  prepare: async (world) => {
    const accountId = world.account();
    await world.fund('t_1', accountId, '999.99', 'JCREDIT');
    const key = world.key();
    const input = { accountId, amount: '0.50', method: 'CASH' as const, asset: 'JCREDIT' };
    return {
      accountId,
      send: async () => ended(await topUp(world.ledger, terminal(), key, input)),
    };
  },
  answer: 'CapExceeded',
  leaves: { balances: { JCREDIT: '999.99' }, entries: ['ADJUSTMENT'], orders: [] },
};

const adjusts: Scenario = {
  name: 'adjustBalance downwards',
  prepare: async (world) => {
    const accountId = world.account();
    await world.fund('t_1', accountId, '50.00');
    const key = world.key();
    const input = { accountId, asset: 'ECOPAY', amount: '-20.00', reason: 'correction' };
    return { accountId, send: async () => ended(await adjustBalance(world.ledger, admin(), key, input)) };
  },
  answer: 'AdjustBalanceSuccess',
  leaves: { balances: { ECOPAY: '30' }, entries: ['ADJUSTMENT', 'ADJUSTMENT'], orders: [] },
};

const refundsToWallet: Scenario = {
  name: 'refund to the wallet, in part',
  prepare: async (world) => {
    const accountId = world.account();
    const orderId = await chargedOrder(world, accountId, '20.00');
    const key = world.key();
    const input = { orderId, amount: '5.00' };
    return { accountId, send: async () => ended(await refund(world.ledger, merchant(), key, input)) };
  },
  answer: 'RefundSuccess',
  leaves: {
    balances: { ECOPAY: '35' },
    entries: ['ADJUSTMENT', 'CHARGE', 'REFUND'],
    orders: ['PAID v3 refundable 15'],
  },
};

const refundsTooMuch: Scenario = {
  name: 'refund beyond what was paid',
  prepare: async (world) => {
    const accountId = world.account();
    const orderId = await chargedOrder(world, accountId, '20.00');
    const key = world.key();
    const input = { orderId, amount: '20.01' };
    return { accountId, send: async () => ended(await refund(world.ledger, merchant(), key, input)) };
  },
  answer: 'RefundExceedsRefundable',
  leaves: {
    balances: { ECOPAY: '30' },
    entries: ['ADJUSTMENT', 'CHARGE'],
    orders: ['PAID v2 refundable 20'],
  },
};

const refundsCash: Scenario = {
  name: 'refund of a cash top-up',
  prepare: async (world) => {
    const accountId = world.account();
    const made = await topUp(world.ledger, terminal(), world.key(), {
      accountId,
      amount: '30.00',
      method: 'CASH',
    });
    if (made.kind !== 'TopUpSuccess') throw new Error(`not topped up: ${made.kind}`);
    const key = world.key();
    const input = { orderId: encodeNodeId('Order', 't_1', accountId, made.orderId) };
    return { accountId, send: async () => ended(await refund(world.ledger, terminal(), key, input)) };
  },
  answer: 'RefundSuccess',
  leaves: {
    balances: { ECOPAY: '0' },
    entries: ['TOP_UP', 'REFUND'],
    orders: ['REFUNDED v3 refundable 0'],
  },
};

const cancels: Scenario = {
  name: 'cancelOrder',
  prepare: async (world) => {
    const accountId = world.account();
    const { id } = await world.openOrder('t_1', accountId, '20.00');
    const key = world.key();
    return {
      accountId,
      send: async () => ended(await cancelOrder(world.ledger, customer(accountId), key, { orderId: id })),
    };
  },
  answer: 'CancelOrderSuccess',
  leaves: { ...EMPTY, orders: ['CANCELED v2 refundable 0'] },
};

const putsProduct: Scenario = {
  name: 'putProduct',
  prepare: (world) => {
    const accountId = world.account();
    const input = { merchantId: 'm_1', sku: accountId, name: 'Tea', price: '3.00', active: true };
    return Promise.resolve({
      accountId,
      send: async () => ended(await putProduct(world.ledger, merchant(), input)),
    });
  },
  answer: 'PutProductSuccess',
  leaves: EMPTY,
};

const updatesProfile: Scenario = {
  name: 'updateProfile',
  prepare: (world) => {
    const accountId = world.account();
    const input = { displayName: 'Alice', phoneNumber: '+81312345678' };
    return Promise.resolve({
      accountId,
      send: async () => ended(await updateProfile(world.ledger, customer(accountId), input)),
    });
  },
  answer: 'UpdateProfileSuccess',
  leaves: EMPTY,
};

/** Every operation that needs the table alone. */
export const LEDGER_SCENARIOS: readonly Scenario[] = [
  opensOrder,
  opensWithCode,
  charges,
  chargesRefused,
  takesCash,
  takesTooMuchCash,
  adjusts,
  refundsToWallet,
  refundsTooMuch,
  refundsCash,
  cancels,
  putsProduct,
  updatesProfile,
];
