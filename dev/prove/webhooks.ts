import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Books, mostOfOne, tally } from './books.ts';
import { type Claim, type Question, type Trial, check, checkAtLeast } from './claim.ts';
import { insist, replayEvent, request } from './clients.ts';
import { COFFEE, type ProvingGround } from './proving-ground.ts';
import { type OpenOrder, checkOutAll, customersWith, inParallel, openOrders, shuffled } from './shop.ts';
import { postWebhook, signed } from './signed-events.ts';

/** What stands of these orders, and what was recorded for them. */
export function standingOf(
  books: Books,
  orders: readonly OpenOrder[],
): {
  readonly paid: number;
  readonly states: string;
  readonly refunded: number;
  readonly recordings: (operation: string) => readonly string[];
} {
  const wanted = new Set(orders.map(({ id }) => id));
  const seen = books.orders.filter(({ id }) => wanted.has(id));
  const ids = new Set(seen.map(({ orderId }) => orderId));
  return {
    paid: seen.filter(({ state }) => state === 'PAID' || state === 'CONFIRMED').length,
    states: Object.entries(tally(seen.map(({ state }) => state)))
      .map(([state, count]) => `${String(count)} ${state}`)
      .join(', '),
    refunded: seen.reduce((sum, order) => sum + order.refunded, 0),
    recordings: (operation) =>
      books.entries
        .filter((entry) => entry.operation === operation && ids.has(entry.orderId ?? ''))
        .map(({ provider }) => provider ?? ''),
  };
}

const REFUND = 100;

/** Pays sessions by card, every third at a convenience store, and gives every fourth card payment ¥100 back. */
async function payAll({ simulator }: ProvingGround, sessions: readonly string[]): Promise<number> {
  let refunds = 0;
  for (const [index, session] of sessions.entries()) {
    if (index % 3 === 2) {
      await simulator.startKonbini({ session });
      await simulator.completeAsyncPayment({ session });
      continue;
    }
    const { paymentIntent } = await simulator.payByCard({ session });
    if (index % 4 !== 0 || paymentIntent === null) continue;
    await simulator.dashboardRefund({ paymentIntent: paymentIntent.id, amount: REFUND });
    refunds += 1;
  }
  return refunds;
}

async function anyOrder(ground: ProvingGround): Promise<Trial> {
  const { simulator, fraction } = ground;
  const count = ground.size(18, 9);
  const customers = await customersWith(ground, 'any-order', count, 0);
  const orders = await openOrders(ground, customers, count);
  const sessions = await checkOutAll(ground, orders);
  await simulator.hold();
  const refunds = await payAll(ground, sessions);
  const { events } = await simulator.held();
  const twice = (event: string): Promise<readonly { readonly status: number }[]> =>
    simulator.deliver({ event, copies: 2 }).then(({ sent }) => sent);
  const reversed = await inParallel([...events].reverse(), 4, twice);
  const late = await inParallel(shuffled(events, fraction), 4, async (event) => {
    await delay(fraction() * 30);
    return await twice(event);
  });
  const { sent: inOrder } = await simulator.release();
  await simulator.idle({ timeoutMs: 30_000 });
  const sendings = [...reversed, ...late].flat().length + inOrder.length;
  const last = [...late.flat(), ...inOrder];
  const { paid, recordings, refunded } = standingOf(await ground.books(), orders);
  return {
    done:
      `${String(count)} payments by card and at a convenience store, ${String(refunds)} refunds in Stripe's dashboard; their ` +
      `${String(events.length)} webhooks sent ${String(sendings)} times: twice at once in reverse order, twice at once late ` +
      `and shuffled, once in order`,
    checks: [
      check('orders paid', paid, count),
      check('entries of payments', recordings('PAYMENT').length, count),
      check('most entries of one payment', mostOfOne(recordings('PAYMENT')), 1),
      check('entries of refunds', recordings('REFUND').length, refunds),
      check('yen refunded', refunded, refunds * REFUND),
      check(
        'webhooks that Stripe would still send again',
        last.filter(({ status }) => status >= 300).length,
        0,
      ),
      checkAtLeast('webhooks sent', sendings, count * 5),
    ],
  };
}

/** Ways in which a body that Stripe didn't send so may claim that it did. */
const FORGERIES: readonly ((body: string) => readonly [body: string, signature: string | undefined])[] = [
  (body) => [body, undefined],
  (body) => [body, ''],
  (body) => [body, signed(body, { secret: 'whsec_of_somebody_else' })],
  (body) => [body.replace('"livemode"', '"forged":true,"livemode"'), signed(body)],
  (body) => [body, signed(body, { agedS: 900 })],
  (body) => [body, signed(body, { agedS: -900 })],
  (body) => [body, signed(body).replace('v1=', 'v0=')],
  (body) => [body, signed(body).slice(0, -1)],
];

async function forged(ground: ProvingGround): Promise<Trial> {
  const { simulator, webhookUrl } = ground;
  const count = ground.size(6, 4);
  const customers = await customersWith(ground, 'forged', count, 0);
  const orders = await openOrders(ground, customers, count);
  const sessions = await checkOutAll(ground, orders);
  await simulator.hold();
  for (const session of sessions) await simulator.payByCard({ session });
  const { events } = await simulator.held();
  const bodies = simulator
    .events()
    .filter(({ id }) => events.includes(id))
    .map((event) => JSON.stringify({ ...event, id: `evt_forged_${randomUUID()}` }));
  const forgeries = bodies.flatMap((body) => FORGERIES.map((forge) => forge(body)));
  const statuses = await inParallel(forgeries, 8, ([body, signature]) =>
    postWebhook(webhookUrl, body, signature),
  );
  const seen = await ground.books();
  await simulator.release();
  await simulator.idle({ timeoutMs: 30_000 });
  const { paid } = standingOf(await ground.books(), orders);
  return {
    done:
      `${String(forgeries.length)} webhooks about ${String(count)} payments with a signature that is missing, of another ` +
      `secret, of another body, too old, of the future, of another scheme or cut short; then the true ones`,
    checks: [
      check('answered with 400', statuses.filter((status) => status === 400).length, forgeries.length),
      check('orders that they paid', standingOf(seen, orders).paid, 0),
      check('events of theirs in the table', [...seen.events.keys()].filter(isForged).length, 0),
      check('orders that the true ones paid', paid, count),
    ],
  };
}

function isForged(id: string): boolean {
  return id.startsWith('evt_forged_');
}

async function lost(ground: ProvingGround): Promise<Trial> {
  const { simulator, gatewayUrls } = ground;
  const count = 2 * ground.size(6, 3);
  const customers = await customersWith(ground, 'lost', count, 0);
  const orders = await openOrders(ground, customers, count);
  const sessions = await checkOutAll(ground, orders);
  const before = simulator.events().length;
  await simulator.setWebhooks({ on: false });
  for (const session of sessions) await simulator.payByCard({ session });
  await simulator.setWebhooks({ on: true });
  const heard = await ground.books();
  const cancelled = orders.slice(count / 2);
  const replayed = simulator
    .events()
    .slice(before)
    .filter(({ type }) => type === 'payment_intent.succeeded')
    .slice(0, count / 2);
  const cancelling = await inParallel(cancelled, 4, ({ id, buyer }) =>
    insist(gatewayUrls[1], request(buyer, 'cancelOrder', { orderId: id })),
  );
  await inParallel(replayed, 4, ({ id }) => replayEvent(gatewayUrls[1], id));
  const { paid, recordings } = standingOf(await ground.books(), orders);
  return {
    done:
      `${String(count)} card payments of which no webhook arrived; half of their customers then cancelled the order, for the ` +
      `other half an operator asked for the event by its id`,
    checks: [
      check('orders paid while nothing was heard', standingOf(heard, orders).paid, 0),
      check(
        'paid orders cancelled',
        cancelling.filter(({ name }) => name === 'CancelOrderSuccess').length,
        0,
      ),
      check('orders paid in the end', paid, count),
      check('entries of payments', recordings('PAYMENT').length, count),
    ],
  };
}

async function lateMoney(ground: ProvingGround): Promise<Trial> {
  const { simulator, gatewayUrls } = ground;
  const count = ground.size(8, 4);
  const customers = await customersWith(ground, 'late-money', count, 0);
  const orders = await openOrders(ground, customers, count);
  const sessions = await checkOutAll(ground, orders);
  for (const [index, session] of sessions.entries()) {
    const order = orders[index];
    if (index % 2 === 0) await simulator.expireSession({ session });
    else if (order !== undefined)
      await insist(gatewayUrls[1], request(order.buyer, 'cancelOrder', { orderId: order.id }));
  }
  await simulator.idle({ timeoutMs: 30_000 });
  const closed = standingOf(await ground.books(), orders).states;
  for (const session of sessions) await simulator.payByCard({ session, evenIfExpired: true });
  await simulator.idle({ timeoutMs: 30_000 });
  const { paid, recordings } = standingOf(await ground.books(), orders);
  const half = String(count / 2);
  return {
    done: `${String(count)} orders whose page had expired or that were cancelled, and whose money arrived after all`,
    checks: [
      check('orders before the money', closed, `${half} CANCELED, ${half} EXPIRED`),
      check('orders paid', paid, count),
      check('entries of payments', recordings('PAYMENT').length, count),
      check('yen that arrived', recordings('PAYMENT').length * COFFEE.price, count * COFFEE.price),
    ],
  };
}

const CLAIMS: readonly Claim[] = [
  {
    id: 'any-order',
    claim: 'Webhooks may come twice, late and in any order: what they tell is recorded once.',
    rules: ['receivePayment', 'putPayment', 'putEvent', 'applyEvent'],
    tests: ['test/integration/webhooks/', 'test/integration/provider/chaos.test.ts'],
    attempt: anyOrder,
  },
  {
    id: 'forged',
    claim: 'A webhook that Stripe did not sign, or not now, changes nothing.',
    rules: ['createSignatureCheck'],
    tests: ['test/integration/webhooks/route.test.ts', 'test/unit/provider/stripe/webhook-signature.test.ts'],
    attempt: forged,
  },
  {
    id: 'lost-webhooks',
    claim: 'A payment whose webhooks are lost is found, and is never cancelled over.',
    rules: ['sweepOrder', 'refreshAttempts', 'replayWebhookEvent'],
    tests: ['test/integration/provider/sweeper.test.ts', 'test/integration/provider/reconcile.test.ts'],
    attempt: lost,
  },
  {
    id: 'late-money',
    claim: 'Money that arrived wins over an expiry and over a cancellation.',
    rules: ['ORDER_EDGES', 'payOrder'],
    tests: ['test/integration/webhooks/payments-arriving.test.ts'],
    attempt: lateMoney,
  },
];

export const WEBHOOKS: Question = {
  id: 'webhooks',
  question: 'What if webhooks come twice, late, in the wrong order, forged, or never?',
  claims: CLAIMS,
};
