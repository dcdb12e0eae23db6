import { afterEach, beforeEach, expect, describe, it } from 'vitest';
import { createRegistry, followUpsOf } from '../../../src/fulfilment/follow-up.ts';
import { DEFAULT_POST_LIMITS, notifyMerchant } from '../../../src/fulfilment/notify-merchant.ts';
import { workOnOrder } from '../../../src/fulfilment/work-order.ts';
import { parseTenants } from '../../../src/config/tenants.ts';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import { readMetadataOf } from '../../../src/ledger/usecases/queries/read-order-metadata.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { DEFAULT_STEP_POLICY } from '../../../src/ledger/model/orders/steps.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { customer, merchant } from '../../support/harness.ts';
import { ownedClock } from '../../support/owned-time.ts';
import {
  idOf,
  reportedDispute,
  reportedRefund,
  tellPaid,
  withRefunds,
  made,
} from '../webhooks/reported-refunds.ts';
import { type World, eventOf, makeWorld, metadataOf } from '../webhooks/support.ts';
import { type MerchantServer, answers, startMerchantServer } from './merchant-server.ts';

/** Each transition that a merchant hears of: the message of it, once, whatever is delivered twice or lost on the way. */

let server: MerchantServer;
beforeEach(async () => {
  server = await startMerchantServer();
});
afterEach(async () => {
  await server.stop();
});

interface Scene {
  readonly world: World;
  readonly order: Order;
  /** Runs every step that is due. */
  readonly work: (due?: Order) => Promise<void>;
}

async function scene(sessionIds?: readonly string[]): Promise<Scene> {
  const notifySecrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
  const merchants = { cafe: { name: 'Café', notifyUrl: `${server.origin}/hook`, notifySecrets } };
  const assets = { ECOPAY: { scale: 0, pays: 'JPY' } };
  const demo = { name: 'D', currency: 'JPY', assets, paymentMethods: ['card'], returnUrls: [], merchants };
  const tenants = parseTenants({ demo }, { production: false });
  const clock = ownedClock();
  const limits = { ...DEFAULT_POST_LIMITS, allowPrivateAddresses: true };
  const registry = createRegistry(
    notifyMerchant({ tenants, clock, limits, readMetadata: (order) => readMetadataOf(world.ledger, order) }),
  );
  const world: World = await makeWorld({
    tenants,
    clock,
    overrides: { followUps: followUpsOf(registry, tenants) },
  });
  const order = await world.waitingOrder(sessionIds === undefined ? {} : { sessionIds });
  const work = async (due: Order = order): Promise<void> => {
    clock.advance(10_000);
    await workOnOrder(
      {
        ledger: world.ledger,
        registry,
        policy: DEFAULT_STEP_POLICY,
        limits: { runTimeoutMs: 10_000, stopping: new AbortController().signal },
        sweep: () => Promise.resolve(),
        metrics: createMetrics(),
        onRunning: () => undefined,
        logger: createLogger({ level: 'silent', clock }),
      },
      due,
    );
  };
  return { world, order, work };
}

interface Message {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function messages(): readonly Message[] {
  return server.received.map(({ body }) => JSON.parse(body) as Message);
}

function types(): readonly string[] {
  return messages().map(({ type }) => type);
}

function ids(): readonly unknown[] {
  return server.received.map(({ headers }) => headers['webhook-id']);
}

/** An event of the order's session `cs_1`, delivered twice. */
async function session(
  { world, order }: Scene,
  type: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  const object = stripeSession({ id: 'cs_1', url: null, metadata: metadataOf(order), ...fields });
  const event = eventOf(world, `checkout.session.${type}`, object);
  await world.apply(event);
  await world.apply(event);
}

describe('a merchant is told that', () => {
  it('an order failed, and once only', async () => {
    const at = await scene();
    await session(at, 'completed', { status: 'complete', payment_intent: 'pi_1' });
    await session(at, 'async_payment_failed', { status: 'complete', payment_intent: 'pi_1' });
    await at.work();
    await at.work();
    expect(messages()).toEqual([
      {
        type: 'order.failed',
        payloadVersion: 1,
        timestamp: '2030-03-17T17:46:40.000Z',
        data: {
          orderId: idOf(at.order),
          version: 4,
          state: 'FAILED',
          merchantId: 'cafe',
          accountId: 'alice',
          currency: 'JPY',
          amount: '500',
          refundedAmount: '0',
          refundPendingAmount: '0',
          refundableAmount: '0',
          disputed: false,
          lines: [],
          createdAt: '2030-03-17T17:46:40.000Z',
        },
      },
    ]);
    expect((await at.world.now(at.order)).steps).toMatchObject([
      { name: 'notify-merchant:failed:1900000000000', state: 'DONE' },
    ]);
  });

  it('it expired, and was canceled after that', async () => {
    const at = await scene();
    await session(at, 'expired', { status: 'expired' });
    await at.work();
    const { world, order } = at;
    const answer = await cancelOrder(world.ledger, customer('alice', 'demo'), 'k', { orderId: idOf(order) });
    expect(answer.kind).toBe('CancelOrderSuccess');
    await cancelOrder(world.ledger, customer('alice', 'demo'), 'k', { orderId: idOf(order) });
    await at.work();
    expect(messages()).toMatchObject([
      { type: 'order.expired', timestamp: '2030-03-17T17:46:40.000Z', data: { state: 'EXPIRED' } },
      { type: 'order.canceled', timestamp: '2030-03-17T17:46:50.000Z', data: { state: 'CANCELED' } },
    ]);
    expect(new Set(ids()).size).toBe(2);
  });

  it('a refund succeeded, and failed after all', async () => {
    const at = await scene();
    const { world, order } = at;
    await tellPaid(world, order);
    await at.work();
    for (const type of ['created', 'updated']) {
      await reportedRefund(world, type, { amount: 200 });
      await at.work();
    }
    const failed = { amount: 200, status: 'failed', failure_reason: 'expired_or_canceled_card' };
    for (const type of ['failed', 'updated']) {
      await reportedRefund(world, type, failed);
      await at.work();
    }
    expect(types()).toEqual(['order.paid', 'order.refunded', 'order.refund_failed']);
    expect(messages()).toMatchObject([
      {
        data: { method: 'CHECKOUT', paidAt: '2030-03-17T17:46:40.000Z', providerReference: 'pi_1' },
      },
      { data: { refundedAmount: '200', refund: { amount: '200', currency: 'JPY', state: 'SUCCEEDED' } } },
      {
        data: {
          refundedAmount: '0',
          refundableAmount: '500',
          refund: { amount: '200', state: 'FAILED', failureReason: 'expired_or_canceled_card' },
        },
      },
    ]);
  });

  it('a refund that it asked for was refused', async () => {
    const at = await scene();
    const { world, order } = at;
    await tellPaid(world, order);
    const ledger = withRefunds(world, (request) => Promise.resolve(made(request, 'failed')));
    const asked = await refund(ledger, merchant('cafe', 'demo'), 'k', {
      orderId: idOf(order),
      amount: '200',
    });
    expect(asked.kind).toBe('ProviderRefused');
    await at.work();
    expect(types().toSorted()).toEqual(['order.paid', 'order.refund_failed']);
  });

  it('a refund made elsewhere never worked', async () => {
    const at = await scene();
    await tellPaid(at.world, at.order);
    await at.work();
    await reportedRefund(at.world, 'failed', { amount: 200, status: 'failed' });
    await at.work();
    expect(messages()[1]).toMatchObject({
      type: 'order.refund_failed',
      data: { refundableAmount: '500', refund: { amount: '200', state: 'FAILED' } },
    });
  });

  it('a dispute was opened, lost, won on appeal, and not that the bank only asked', async () => {
    const at = await scene();
    const { world, order } = at;
    await tellPaid(world, order);
    await at.work();
    await reportedDispute(world, 'created', { status: 'warning_needs_response' });
    await at.work();
    const evidence_details = { due_by: 1_900_600_000 };
    for (const status of ['needs_response', 'under_review', 'lost']) {
      await reportedDispute(world, 'updated', { status, reason: 'fraudulent', evidence_details });
      await at.work();
    }
    const won = {
      disputeId: 'du_1',
      paymentId: 'pi_1',
      status: 'won',
      amountMinor: 500,
      currency: 'JPY',
    } as const;
    world.account.disputes.set('du_1', { ...won, livemode: false, createdS: 1 });
    await reportedDispute(world, 'closed', { status: 'won' });
    await at.work();
    expect(messages().slice(1)).toMatchObject([
      {
        type: 'order.disputed',
        timestamp: '2030-03-17T17:47:00.000Z',
        data: {
          refundableAmount: '0',
          disputed: true,
          dispute: {
            disputeId: 'du_1',
            amount: '500',
            currency: 'JPY',
            status: 'open',
            reason: 'fraudulent',
            dueBy: '2030-03-24T16:26:40.000Z',
          },
        },
      },
      { type: 'order.dispute_lost', timestamp: '2030-03-17T17:47:20.000Z', data: { disputed: true } },
      {
        type: 'order.dispute_won',
        timestamp: '2030-03-17T17:47:30.000Z',
        data: { refundableAmount: '500', disputed: false, dispute: { status: 'won' } },
      },
    ]);
    expect(new Set(ids()).size).toBe(4);
  });

  it('the same again, by the same id, where its answer was lost', async () => {
    const at = await scene();
    server.answerWith(answers.death(), answers.status(204));
    await session(at, 'expired', { status: 'expired' });
    await at.work();
    await at.work();
    expect(types()).toEqual(['order.expired', 'order.expired']);
    expect(new Set(ids()).size).toBe(1);
    expect(messages()[0]).toMatchObject({ timestamp: messages()[1]?.timestamp });
  });
});

describe('a merchant is told', () => {
  it('what was written down with the order', async () => {
    const { world, work } = await scene();
    const input = {
      merchantId: 'cafe',
      accountId: 'alice',
      amount: '480',
      description: 'Lunch',
      reference: 'INV-7',
      metadata: [{ key: 'cart', value: 'c-77' }],
    };
    const opened = await createOrder(world.ledger, merchant('cafe', 'demo'), 'o', input);
    if (opened.kind !== 'CreateOrderSuccess') throw new Error(opened.kind);
    const order = await world.order('demo', 'alice', opened.orderId);
    await cancelOrder(world.ledger, merchant('cafe', 'demo'), 'c', { orderId: idOf(order) });
    await work(order);
    expect(messages()).toMatchObject([
      {
        type: 'order.canceled',
        data: {
          reference: 'INV-7',
          metadata: { cart: 'c-77' },
          lines: [{ name: 'Lunch', quantity: 1, unitPrice: '480', amount: '480' }],
        },
      },
    ]);
  });
});

describe('a merchant is not told', () => {
  it('of an overpayment, nor of its refund and dispute', async () => {
    const at = await scene(['cs_1', 'cs_2']);
    const { world, order } = at;
    await tellPaid(world, order);
    await tellPaid(world, order, 2);
    await reportedRefund(world, 'created', { payment_intent: 'pi_2', amount: 500 });
    await reportedDispute(world, 'created', { payment_intent: 'pi_2', status: 'lost' });
    const notified = (await world.now(order)).steps.filter(({ name }) => name.startsWith('notify-merchant'));
    expect(notified.map(({ name }) => name)).toEqual(['notify-merchant:paid']);
  });
});
