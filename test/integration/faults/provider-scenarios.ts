import { randomUUID } from 'node:crypto';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { finishStep } from '../../../src/ledger/usecases/steps/finish-step.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { takeUpOrder } from '../../../src/ledger/usecases/steps/take-up-order.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { DEFAULT_STEP_POLICY } from '../../../src/ledger/model/orders/steps.ts';
import { eventReader } from '../../../src/provider/stripe/event-mapping.ts';
import type { ProviderEvent } from '../../../src/provider/port.ts';
import { customer, merchant, terminal } from '../../support/harness.ts';
import type { FaultyWorld } from './faulty-world.ts';
import { type Ended, type Prepared, type Scenario, ended } from './scenarios.ts';

const readEvent = eventReader({ apiVersion: '2026-10-28.endive', account: undefined });

export const URLS = { successUrl: 'https://shop.example/paid', cancelUrl: 'https://shop.example/back' };

interface CheckedOut {
  readonly accountId: string;
  readonly id: string;
  readonly orderId: string;
  readonly sessionId: string;
}

/** A purchase of 20.00 with its payment page open. */
export async function checkedOut(world: FaultyWorld): Promise<CheckedOut> {
  const accountId = world.account();
  const { id, orderId } = await world.openOrder('t_1', accountId, '20.00');
  const input = { orderId: id, ...URLS };
  const outcome = await checkout(world.ledger, customer(accountId), world.key(), input);
  if (outcome.kind !== 'CheckoutSuccess') throw new Error(`not checked out: ${outcome.kind}`);
  const order = await world.order('t_1', accountId, orderId);
  const sessionId = order.attempts.at(-1)?.sessionId;
  if (sessionId === undefined) throw new Error('the attempt has no session');
  return { accountId, id, orderId, sessionId };
}

/** The event of a session's completion, once the customer has paid. */
export async function paidEvent(world: FaultyWorld, sessionId: string): Promise<ProviderEvent> {
  await world.simulator.payByCard({ session: sessionId });
  for (const event of world.simulator.events()) {
    const reading = readEvent(event);
    if (reading.kind !== 'READ' || reading.value.type !== 'checkout.session.completed') continue;
    const { object } = reading.value;
    if (object.kind === 'session' && object.session.sessionId === sessionId) return reading.value;
  }
  throw new Error('the simulator tells of no payment');
}

export async function delivered(world: FaultyWorld, event: ProviderEvent): Promise<Ended> {
  const settled = await applyEvent(world.ledger, event);
  return settled.kind === 'DONE'
    ? { kind: settled.outcome, again: false, details: settled.outcome }
    : { kind: settled.kind, again: true, details: settled.reason };
}

/** A purchase that a card has paid, as the ledger knows by its event. */
async function paidByCard(world: FaultyWorld): Promise<CheckedOut> {
  const order = await checkedOut(world);
  const settled = await delivered(world, await paidEvent(world, order.sessionId));
  if (settled.kind !== 'APPLIED') throw new Error(`not paid: ${settled.kind}`);
  return order;
}

const checksOut: Scenario = {
  name: 'checkout',
  prepare: async (world) => {
    const accountId = world.account();
    const { id } = await world.openOrder('t_1', accountId, '20.00');
    const key = world.key();
    const input = { orderId: id, ...URLS };
    return {
      accountId,
      send: async () => ended(await checkout(world.ledger, customer(accountId), key, input)),
    };
  },
  transactions: 2,
  answer: 'CheckoutSuccess',
  leaves: { balances: {}, entries: [], orders: ['SESSION_CREATED v2 refundable 0'] },
};

const topsUpByCard: Scenario = {
  name: 'card top-up',
  prepare: (world) => {
    const accountId = world.account();
    const key = world.key();
    const input = { amount: '30.00', method: 'CHECKOUT' as const, ...URLS };
    return Promise.resolve({
      accountId,
      send: async () => ended(await topUp(world.ledger, customer(accountId), key, input)),
    });
  },
  transactions: 2,
  answer: 'TopUpSuccess',
  leaves: { balances: {}, entries: [], orders: ['SESSION_CREATED v2 refundable 0'] },
};

const cancelsSession: Scenario = {
  name: 'cancelOrder with an open session',
  prepare: async (world) => {
    const { accountId, id } = await checkedOut(world);
    const key = world.key();
    return {
      accountId,
      send: async () => ended(await cancelOrder(world.ledger, customer(accountId), key, { orderId: id })),
    };
  },
  answer: 'CancelOrderSuccess',
  leaves: { balances: {}, entries: [], orders: ['CANCELED v3 refundable 0'] },
};

const refundsToCard: Scenario = {
  name: 'refund to the card',
  prepare: async (world) => {
    const { accountId, id } = await paidByCard(world);
    const key = world.key();
    const input = { orderId: id, amount: '5.00' };
    return { accountId, send: async () => ended(await refund(world.ledger, merchant(), key, input)) };
  },
  transactions: 2,
  answer: 'RefundSuccess',
  leaves: { balances: {}, entries: ['PAYMENT', 'REFUND'], orders: ['PAID v5 refundable 15'] },
};

const appliesEvent: Scenario = {
  name: 'the event of a payment',
  prepare: async (world) => {
    const { accountId, sessionId } = await checkedOut(world);
    const event = await paidEvent(world, sessionId);
    return { accountId, send: () => delivered(world, event) };
  },
  answer: 'APPLIED',
  leaves: { balances: {}, entries: ['PAYMENT'], orders: ['PAID v3 refundable 20'] },
};

/** Operations that also call the provider, or are told by it. */
export const PROVIDER_SCENARIOS: readonly Scenario[] = [
  checksOut,
  topsUpByCard,
  cancelsSession,
  refundsToCard,
  appliesEvent,
];

interface PaidByCash {
  readonly accountId: string;
  readonly ref: { readonly tenant: string; readonly accountId: string; readonly orderId: string };
}

async function paidByCash(world: FaultyWorld): Promise<PaidByCash> {
  const accountId = world.account();
  const input = { accountId, amount: '30.00', method: 'CASH' as const };
  const made = await topUp(world.ledger, terminal(), world.key(), input);
  if (made.kind !== 'TopUpSuccess') throw new Error(`not topped up: ${made.kind}`);
  return { accountId, ref: { tenant: 't_1', accountId, orderId: made.orderId } };
}

async function takenUp(world: FaultyWorld, { ref }: PaidByCash, owner: string): Promise<Ended> {
  const taken = await takeUpOrder(world.ledger, ref, owner, DEFAULT_STEP_POLICY);
  if (taken.kind === 'FAILED') return { ...ended(taken.failure) };
  const steps = taken.kind === 'TAKEN' ? taken.steps.map(({ name }) => name) : [];
  return { kind: taken.kind, again: false, details: steps };
}

const takesUp: Scenario = {
  name: "the claim of an order's steps",
  prepare: async (world): Promise<Prepared> => {
    const paid = await paidByCash(world);
    const owner = randomUUID();
    return { accountId: paid.accountId, send: () => takenUp(world, paid, owner) };
  },
  answer: 'TAKEN',
  leaves: { balances: { ECOPAY: '30' }, entries: ['TOP_UP'], orders: ['PAID v2 refundable 30'] },
};

const finishes: Scenario = {
  name: 'the end of a step',
  prepare: async (world): Promise<Prepared> => {
    const paid = await paidByCash(world);
    const held = { stepName: 'probe', owner: randomUUID() };
    await takenUp(world, paid, held.owner);
    return {
      accountId: paid.accountId,
      send: async () => {
        const end = { kind: 'DONE' } as const;
        const done = await finishStep(world.ledger, paid.ref, held, end, DEFAULT_STEP_POLICY);
        // LOST says that the step isn't this owner's any more: after a lost answer, since it is done.
        return done.kind === 'FAILED' ? ended(done.failure) : { kind: 'OVER', again: false, details: 'OVER' };
      },
    };
  },
  answer: 'OVER',
  leaves: { balances: { ECOPAY: '30' }, entries: ['TOP_UP'], orders: ['CONFIRMED v4 refundable 30'] },
};

/** What the due-loop does to an order. */
export const STEP_SCENARIOS: readonly Scenario[] = [takesUp, finishes];
