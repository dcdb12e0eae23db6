import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { approve } from '../../../src/ledger/usecases/commands/approve.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { rejectProposal } from '../../../src/ledger/usecases/commands/reject-proposal.ts';
import { replayWebhookEvent } from '../../../src/ledger/usecases/provider-updates/replay-webhook-event.ts';
import { skipStep } from '../../../src/ledger/usecases/commands/skip-step.ts';
import { retryStep } from '../../../src/ledger/usecases/steps/retry-step.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { admin, customer } from '../../support/harness.ts';
import type { FaultyWorld } from './faulty-world.ts';
import { URLS, checkedOut, delivered, paidEvent } from './provider-scenarios.ts';
import { type Scenario, ended } from './scenarios.ts';
import { paidAtProvider } from './provider-update-scenarios.ts';

const refundsTopUp: Scenario = {
  name: 'refund of a card top-up',
  prepare: async (world) => {
    const accountId = world.account();
    const input = { amount: '30.00', method: 'CHECKOUT' as const, ...URLS };
    const opened = await topUp(world.ledger, customer(accountId), world.key(), input);
    if (opened.kind !== 'TopUpSuccess') throw new Error(`not opened: ${opened.kind}`);
    const { attempts } = await world.order('t_1', accountId, opened.orderId);
    const paid = await delivered(world, await paidEvent(world, attempts[0]?.sessionId ?? ''));
    if (paid.kind !== 'APPLIED') throw new Error(`not paid: ${paid.kind}`);
    const orderId = encodeNodeId('Order', 't_1', accountId, opened.orderId);
    const key = world.key();
    const send = async () => ended(await refund(world.ledger, admin(), key, { orderId, amount: '10.00' }));
    return { accountId, send };
  },
  transactions: 2,
  answer: 'RefundSuccess',
  leaves: {
    balances: { ECOPAY: '20' },
    entries: ['TOP_UP', 'REFUND'],
    orders: ['PAID v5 refundable 20'],
  },
};

const retriesStep: Scenario = {
  name: 'retryStep',
  prepare: async (world) => {
    const { accountId, orderId } = await paidAtProvider(world, 'PURCHASE', (paid) => ({
      order: {
        ...paid,
        steps: [{ name: 'probe', state: 'DEAD', attempts: 18, nextAttemptAtMs: paid.updatedAtMs }],
      },
    }));
    const id = encodeNodeId('Step', 't_1', accountId, orderId, 'probe');
    return { accountId, send: async () => ended(await retryStep(world.ledger, admin(), id)) };
  },
  answer: 'RetryStepSuccess',
  leaves: { balances: {}, entries: ['PAYMENT'], orders: ['PAID v3 refundable 30'] },
};

const skipsStep: Scenario = {
  name: 'skipStep',
  prepare: async (world) => {
    const { accountId, orderId } = await paidAtProvider(world, 'PURCHASE', (paid) => ({
      order: {
        ...paid,
        steps: [{ name: 'probe', state: 'DEAD', attempts: 18, nextAttemptAtMs: paid.updatedAtMs }],
      },
    }));
    const id = encodeNodeId('Order', 't_1', accountId, orderId);
    const key = world.key();
    const input = { orderId: id, step: 'probe', reason: 'told by phone' };
    return { accountId, send: async () => ended(await skipStep(world.ledger, admin(), key, input)) };
  },
  answer: 'SkipStepSuccess',
  leaves: { balances: {}, entries: ['PAYMENT'], orders: ['CONFIRMED v4 refundable 30'] },
};

const replaysEvent: Scenario = {
  name: 'replayWebhookEvent',
  prepare: async (world) => {
    const { accountId, sessionId } = await checkedOut(world);
    const { eventId } = await paidEvent(world, sessionId);
    return {
      accountId,
      send: async () => ended(await replayWebhookEvent(world.ledger, admin(), eventId)),
    };
  },
  // Whose the event is, and then what it does.
  readsEach: 2,
  answer: 'ReplayWebhookEventSuccess',
  leaves: { balances: {}, entries: ['PAYMENT'], orders: ['PAID v3 refundable 20'] },
};

const FUNDED = { balances: { ECOPAY: '50' }, entries: ['ADJUSTMENT'], orders: [] };
const LARGE = { asset: 'ECOPAY', amount: '250.00', reason: 'goodwill' };

/** An adjustment that waits for a second admin, by its public id. */
async function proposed(world: FaultyWorld, accountId: string): Promise<string> {
  await world.fund('t_1', accountId, '50.00');
  const outcome = await adjustBalance(world.ledger, admin(), world.key(), { accountId, ...LARGE });
  if (outcome.kind !== 'PendingApproval') throw new Error(`not proposed: ${outcome.kind}`);
  return encodeNodeId('Proposal', 't_1', accountId, outcome.proposalId);
}

const proposesAdjustment: Scenario = {
  name: 'adjustBalance above the threshold',
  prepare: async (world) => {
    const accountId = world.account();
    await world.fund('t_1', accountId, '50.00');
    const key = world.key();
    const input = { accountId, ...LARGE };
    return { accountId, send: async () => ended(await adjustBalance(world.ledger, admin(), key, input)) };
  },
  answer: 'PendingApproval',
  leaves: { ...FUNDED, proposals: ['OPEN'] },
};

const approves: Scenario = {
  name: 'approve',
  prepare: async (world) => {
    const accountId = world.account();
    const proposalId = await proposed(world, accountId);
    const [key, second] = [world.key(), admin('t_1', 'second')];
    const send = async () => ended(await approve(world.ledger, second, key, { proposalId }));
    return { accountId, send };
  },
  // The proposal, and then the balance that it is about.
  readsEach: 2,
  answer: 'ApproveSuccess',
  leaves: {
    balances: { ECOPAY: '300' },
    entries: ['ADJUSTMENT', 'ADJUSTMENT'],
    orders: [],
    proposals: ['APPROVED'],
  },
};

const rejects: Scenario = {
  name: 'rejectProposal',
  prepare: async (world) => {
    const accountId = world.account();
    const proposalId = await proposed(world, accountId);
    const [key, second] = [world.key(), admin('t_1', 'second')];
    const input = { proposalId, reason: 'no such promise was made' };
    return { accountId, send: async () => ended(await rejectProposal(world.ledger, second, key, input)) };
  },
  answer: 'RejectProposalSuccess',
  leaves: { ...FUNDED, proposals: ['REJECTED'] },
};

/** What operators ask for. */
export const OPERATOR_SCENARIOS: readonly Scenario[] = [
  refundsTopUp,
  retriesStep,
  skipsStep,
  replaysEvent,
  proposesAdjustment,
  approves,
  rejects,
];
