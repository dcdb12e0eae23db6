import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MerchantReceiver, startMerchantReceiver } from '../../../dev/demo/merchant-receiver.ts';
import { DEFAULT_POST_LIMITS, notifyMerchant } from '../../../src/fulfilment/notify-merchant.ts';
import type { PostLimits } from '../../../src/fulfilment/post.ts';
import { epochS } from '../../../src/ledger/kernel/clock.ts';
import type { Order, Step } from '../../../src/ledger/model/orders/order.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { type Tenants, parseTenants } from '../../../src/config/tenants.ts';
import { customer, merchant } from '../../support/harness.ts';
import { ownedClock } from '../../support/owned-time.ts';
import { type MerchantServer, answers, startMerchantServer } from './merchant-server.ts';
import { type FulfilmentHarness, makeFulfilment, putPaidOrder, reread, eventually } from './support.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NEXT_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const LIMITS: PostLimits = { ...DEFAULT_POST_LIMITS, allowPrivateAddresses: true };

let server: MerchantServer;
let harness: FulfilmentHarness;
let receiver: MerchantReceiver | undefined;
let logged: string[];

beforeEach(async () => {
  server = await startMerchantServer();
  logged = [];
  receiver = undefined;
});
afterEach(async () => {
  await harness.stop();
  await server.stop();
  await receiver?.stop();
});

function tenantsTelling(notifyUrl: string, notifySecrets = [SECRET]): Tenants {
  const merchants = { m_1: { name: 'One', notifyUrl, notifySecrets } };
  const assets = { ECOPAY: { scale: 2, pays: 'USD' } };
  const tenant = { name: 'T', currency: 'USD', assets, paymentMethods: ['card'], returnUrls: [], merchants };
  return parseTenants({ t_1: tenant }, { production: false });
}

async function start(
  limits: PostLimits = LIMITS,
  tenants = tenantsTelling(`${server.origin}/hook`),
): Promise<void> {
  const clock = ownedClock();
  const followUp = notifyMerchant({ readMetadata: () => Promise.resolve([]), tenants, clock, limits });
  harness = await makeFulfilment([followUp], { tenants, clock, logged });
  harness.startWorker();
}

async function until(order: Order, reached: (step: Step, now: Order) => boolean): Promise<Order> {
  return eventually(async () => {
    const now = await reread(harness, order);
    const [step] = now.steps;
    if (step === undefined || !reached(step, now)) throw new Error(`not yet: ${JSON.stringify(now.steps)}`);
    return now;
  });
}

const confirmed = (order: Order): Promise<Order> => until(order, (_step, { state }) => state === 'CONFIRMED');
const failedOnce = (order: Order): Promise<Order> =>
  until(order, ({ attempts, owner }) => attempts === 1 && owner === undefined);

describe("a merchant's server that works", () => {
  it('is told of a paid order once, signed so that the example receiver takes it in', async () => {
    const seen: unknown[] = [];
    const clock = ownedClock();
    receiver = await startMerchantReceiver({
      port: 0,
      secret: SECRET,
      nowS: () => epochS(clock.nowMs()),
      onMessage: (message) => seen.push(message),
    });
    await start(LIMITS, tenantsTelling(receiver.url, [NEXT_SECRET, SECRET]));
    const order = await putPaidOrder(harness.ledger);
    await confirmed(order);
    expect(seen).toMatchObject([
      { type: 'order.paid', data: { version: 2, state: 'PAID', amount: '12.50', currency: 'USD' } },
    ]);
  });

  it('is told of a refund under an id of its own, with the version that a reader would get', async () => {
    await start();
    await harness.fund('t_1', 'u_1', '100.00');
    const { id, orderId } = await harness.openOrder('t_1', 'u_1', '12.50');
    await charge(harness.ledger, customer('u_1'), harness.key(), { orderId: id });
    const order = await harness.order('t_1', 'u_1', orderId);
    await confirmed(order);
    await refund(harness.ledger, merchant(), harness.key(), { orderId: id, amount: '2.50' });
    await until(
      order,
      (_step, { steps }) => steps.length === 2 && steps.every(({ state }) => state === 'DONE'),
    );
    const bodies = server.received.map(({ body }) => JSON.parse(body) as { readonly type: string });
    expect(bodies).toMatchObject([
      { type: 'order.paid', data: { orderId: id } },
      {
        type: 'order.refunded',
        data: {
          orderId: id,
          state: 'CONFIRMED',
          refundedAmount: '2.50',
          refundableAmount: '10.00',
          refund: { amount: '2.50', state: 'SUCCEEDED' },
        },
      },
    ]);
    const ids = server.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(2);
  });

  it.each([200, 201, 202, 204, 299])('says with a %i that it took it', async (status) => {
    await start();
    server.answerWith(answers.status(status));
    await confirmed(await putPaidOrder(harness.ledger));
    expect(server.received).toHaveLength(1);
  });
});

describe("a merchant's server that does not", () => {
  it('is told again, by the same id at a new time, until it works', async () => {
    await start();
    server.answerWith(answers.status(500), answers.death(), answers.status(200));
    const order = await putPaidOrder(harness.ledger);
    await failedOnce(order);
    harness.clock.advance(2_000);
    await until(order, ({ attempts, owner }) => attempts === 2 && owner === undefined);
    harness.clock.advance(10_000);
    const done = await confirmed(order);
    expect(done.timeline.map(({ cause }) => cause)).toEqual([
      'CREATED',
      'WALLET_CHARGED',
      'STEP_RETRIED',
      'STEP_RETRIED',
      'STEP_DONE',
      'COMPLETED',
    ]);
    const headers = server.received.map((one) => one.headers);
    expect(new Set(headers.map((one) => one['webhook-id'])).size).toBe(1);
    expect(headers.map((one) => one['webhook-timestamp'])).toEqual([
      '1900000000',
      '1900000002',
      '1900000012',
    ]);
  });

  it.each([
    ['fails', answers.status(500), 'HTTP 500: no success'],
    ['is overloaded', answers.status(503), 'HTTP 503: no success'],
    ['refuses the signature', answers.status(401), 'HTTP 401: no success'],
    ['breaks the connection', answers.death(), 'no answer: ECONNRESET'],
    ['hangs', answers.nothing(), 'no answer: no answer in time'],
  ])('that %s is noted with its reason, and the order stays PAID', async (_name, answer, reason) => {
    await start({ ...LIMITS, totalTimeoutMs: 200 });
    server.answerWith(answer);
    const { state, steps } = await failedOnce(await putPaidOrder(harness.ledger));
    expect(state).toBe('PAID');
    expect(steps).toMatchObject([{ state: 'PENDING', attempts: 1, lastError: reason }]);
  });

  it('that is down is noted, and told once it is up', async () => {
    const { port } = server;
    await start();
    await server.stop();
    const order = await putPaidOrder(harness.ledger);
    expect((await failedOnce(order)).steps[0]?.lastError).toBe('no answer: ECONNREFUSED');
    server = await startMerchantServer(port);
    harness.clock.advance(2_000);
    await confirmed(order);
    expect(server.received).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])('that redirects by %i is not followed', async (status) => {
    const elsewhere = await startMerchantServer();
    await start();
    server.answerWith(answers.redirectTo(`${elsewhere.origin}/internal`, status));
    const { steps } = await failedOnce(await putPaidOrder(harness.ledger));
    expect(steps[0]?.lastError).toBe(`HTTP ${status}: a redirect, which is not followed`);
    expect(elsewhere.received).toEqual([]);
    await elsewhere.stop();
  });
});

describe("a merchant's server that says yes strangely", () => {
  it.each([
    ['and then dies', answers.statusThenDeath(200)],
    ['and never stops talking', answers.endlessBody(200)],
  ])('%s has said yes: its status counts', async (_name, answer) => {
    await start();
    server.answerWith(answer);
    await confirmed(await putPaidOrder(harness.ledger));
    expect(server.received).toHaveLength(1);
  });

  it('slowly, but in time, has said yes', async () => {
    await start();
    let answer: (() => void) | undefined;
    server.answerWith((response) => {
      answer = () => response.writeHead(200).end();
    });
    const order = await putPaidOrder(harness.ledger);
    await eventually(() => {
      expect(answer).toBeDefined();
    });
    expect((await reread(harness, order)).state).toBe('PAID');
    answer?.();
    await confirmed(order);
    expect(server.received).toHaveLength(1);
  });
});

describe('what a server answers', () => {
  it('is neither stored nor logged, beside its status', async () => {
    await start();
    server.answerWith(answers.status(500, 'sentinel-of-the-body'), (response) => {
      response.writeHead(500, { 'x-told': 'sentinel-of-a-header' }).end();
    });
    const order = await putPaidOrder(harness.ledger);
    await failedOnce(order);
    harness.clock.advance(2_000);
    const now = await until(order, ({ attempts, owner }) => attempts === 2 && owner === undefined);
    const text = JSON.stringify(now.steps) + JSON.stringify(now.timeline) + logged.join('\n');
    expect(text).toContain('HTTP 500');
    expect(text).not.toContain('sentinel');
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('v1,');
  });
});

describe('a private address', () => {
  it('is never asked, whatever the tenants file says', async () => {
    await start(DEFAULT_POST_LIMITS);
    const { steps } = await failedOnce(await putPaidOrder(harness.ledger));
    expect(steps[0]?.lastError).toBe('the address is not on the public internet');
    expect(server.received).toEqual([]);
  });
});

describe('a merchant who is no longer told', () => {
  it('leaves its pending steps dead, where an operator sees them', async () => {
    const reported = tenantsTelling(`${server.origin}/hook`);
    const clock = ownedClock();
    const silent = parseTenants(
      {
        t_1: {
          name: 'T',
          currency: 'USD',
          assets: {},
          paymentMethods: ['card'],
          returnUrls: [],
          merchants: { m_1: { name: 'One' } },
        },
      },
      { production: false },
    );
    const before = notifyMerchant({
      readMetadata: () => Promise.resolve([]),
      tenants: reported,
      clock,
      limits: LIMITS,
    });
    const after = notifyMerchant({
      readMetadata: () => Promise.resolve([]),
      tenants: silent,
      clock,
      limits: LIMITS,
    });
    harness = await makeFulfilment([{ ...after, appliesTo: before.appliesTo }], { tenants: reported, clock });
    harness.startWorker();
    const order = await putPaidOrder(harness.ledger);
    const { steps } = await until(order, ({ state }) => state === 'DEAD');
    expect(steps[0]?.lastError).toBe('the merchant has no notifyUrl any more');
  });
});
