import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { replayWebhookEvent } from '../../../src/ledger/usecases/provider-updates/replay-webhook-event.ts';
import { retryStep } from '../../../src/ledger/usecases/steps/retry-step.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { admin, customer } from '../../support/harness.ts';
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

/** What operators ask for. */
export const OPERATOR_SCENARIOS: readonly Scenario[] = [refundsTopUp, retriesStep, replaysEvent];
