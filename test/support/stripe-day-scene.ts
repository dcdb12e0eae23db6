import { charge } from '../../src/ledger/usecases/commands/charge.ts';
import { checkout } from '../../src/ledger/usecases/commands/checkout.ts';
import { refund } from '../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../src/ledger/usecases/commands/top-up.ts';
import { currency } from '../../src/ledger/kernel/currencies.ts';
import { decimal, toMinorUnits } from '../../src/ledger/kernel/money.ts';
import { encodeNodeId } from '../../src/ledger/items/node-ids.ts';
import { isPaid } from '../../src/ledger/model/orders/order-states.ts';
import { type Order, openAttempt } from '../../src/ledger/model/orders/order.ts';
import { URLS } from '../integration/provider/support.ts';
import { admin, customer } from './harness.ts';
import type { DayWorld } from './stripe-day-world.ts';

/** What somebody does over the day; yields how many milliseconds pass until they go on. */
export type Act<Result> = AsyncGenerator<number, Result, undefined>;

/** A customer with a payment to make, and chances that only the seed and the payment's number decide. */
export interface Scene {
  readonly world: DayWorld;
  readonly tenant: 'demo' | 't_1';
  readonly accountId: string;
  readonly kind: Order['kind'];
  readonly amount: string;
  readonly fraction: () => number;
}

export interface OpenedPayment {
  readonly id: string;
  readonly orderId: string;
  readonly sessionId: string;
}

export function minutes(count: number): number {
  return count * 60_000;
}

/** A time between these many minutes. */
export function between({ fraction }: Scene, from: number, to: number): number {
  return minutes(from) + Math.floor(fraction() * minutes(to - from));
}

/** Failures that say: the same request again, with the same key. */
const SAME_KEY_AGAIN = ['ProviderUnavailable', 'IdempotencyInProgress', 'TransactionConflict', 'Throttled'];
const LOST_ANSWERS = 0.08;
const IMPATIENT = 0.1;
const MOST_TRIES = 12;

/**
 * Sends a request until it is settled, as a client must: the same key each time. Some are sent twice at once, and of
 * some that ask the provider its answer is lost.
 */
async function* insist<Outcome extends { readonly kind: string }>(
  { world, fraction }: Scene,
  path: '/v1/checkout/sessions' | '/v1/refunds' | undefined,
  send: (key: string) => Promise<Outcome>,
): Act<Outcome> {
  const key = world.key();
  const copies = fraction() < IMPATIENT ? 2 : 1;
  if (path !== undefined && fraction() < LOST_ANSWERS) await world.loseAnswer(path);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const answers = await Promise.all(Array.from({ length: copies }, () => send(key)));
    const settled = answers.find(({ kind }) => !SAME_KEY_AGAIN.includes(kind));
    if (settled !== undefined) return settled;
    yield minutes(2);
  }
  throw new Error(`not settled in ${String(MOST_TRIES)} tries`);
}

/** Opens the payment and its page. */
export async function* open(scene: Scene): Act<OpenedPayment> {
  const { world, tenant, accountId, amount } = scene;
  if (scene.kind === 'PURCHASE') {
    const opened = await world.openOrder(tenant, accountId, amount);
    return { ...opened, sessionId: yield* checkOut(scene, opened) };
  }
  const input = { asset: 'ECOPAY', amount, method: 'CHECKOUT' as const, ...URLS };
  const viewer = customer(accountId, tenant);
  const outcome = yield* insist(scene, '/v1/checkout/sessions', (key) =>
    topUp(world.ledger, viewer, key, input),
  );
  if (outcome.kind !== 'TopUpSuccess') throw new Error(`not topped up: ${outcome.kind}`);
  const { orderId } = outcome;
  const id = encodeNodeId('Order', tenant, accountId, orderId);
  return { id, orderId, sessionId: await sessionOf(scene, orderId) };
}

/** Opens a payment page for an order, its first or another. */
export async function* checkOut(
  scene: Scene,
  { id, orderId }: Omit<OpenedPayment, 'sessionId'>,
): Act<string> {
  const { world, tenant, accountId } = scene;
  const outcome = yield* insist(scene, '/v1/checkout/sessions', (key) =>
    checkout(world.ledger, customer(accountId, tenant), key, { orderId: id, ...URLS }),
  );
  if (outcome.kind !== 'CheckoutSuccess') throw new Error(`not checked out: ${outcome.kind}`);
  return sessionOf(scene, orderId);
}

async function sessionOf(scene: Scene, orderId: string): Promise<string> {
  const attempt = openAttempt(await orderNow(scene, orderId));
  if (attempt?.sessionId === undefined) throw new Error('the order has no open session');
  return attempt.sessionId;
}

export function orderNow({ world, tenant, accountId }: Scene, orderId: string): Promise<Order> {
  return world.order(tenant, accountId, orderId);
}

/** Waits until the order is as it should be. Twelve hours are far longer than anything that was lost takes to heal. */
export async function* until(scene: Scene, orderId: string, reached: (order: Order) => boolean): Act<Order> {
  for (let waited = 0; waited < 72; waited += 1) {
    const order = await orderNow(scene, orderId);
    if (reached(order)) return order;
    yield minutes(10);
  }
  const { state } = await orderNow(scene, orderId);
  throw new Error(`order ${orderId} of ${scene.accountId} is still ${state} after twelve hours`);
}

/** Waits until the ledger knows of the money, and gives the provider's id of the payment. */
export async function* untilPaid(scene: Scene, orderId: string): Act<string> {
  const { payment } = yield* until(scene, orderId, ({ state }) => isPaid(state));
  if (payment?.paymentId === undefined) throw new Error('not paid at the provider');
  return payment.paymentId;
}

/** Buys for half of what was topped up, or for what others have left of it. */
export async function* spendHalf(scene: Scene): Act<void> {
  const { world, tenant, accountId, amount } = scene;
  const opened = await world.openOrder(tenant, accountId, decimal(amount).div(2).toFixed(0));
  yield* insist(scene, undefined, (key) =>
    charge(world.ledger, customer(accountId, tenant), key, { orderId: opened.id, asset: 'ECOPAY' }),
  );
}

/**
 * Asks for a refund. What it gives is how it was answered: of a top-up whose value is spent none can be made.
 */
export async function* askForRefund(
  scene: Scene,
  { id, orderId }: OpenedPayment,
  amount?: string,
): Act<{ readonly made: boolean; readonly providerRefundId: string | undefined }> {
  const { world, tenant } = scene;
  const input = { orderId: id, ...(amount === undefined ? {} : { amount }) };
  const outcome = yield* insist(scene, '/v1/refunds', (key) =>
    refund(world.ledger, admin(tenant), key, input),
  );
  if (outcome.kind === 'InsufficientBalance' && scene.kind === 'TOP_UP')
    return { made: false, providerRefundId: undefined };
  if (outcome.kind !== 'RefundSuccess') throw new Error(`not refunded: ${outcome.kind}`);
  const refunds = await world.refunds(tenant, scene.accountId, orderId);
  const made = refunds.find(({ refundId }) => refundId === outcome.refundId);
  return { made: true, providerRefundId: made?.providerRefundId };
}

/** A part of the amount as the currency can be paid, in the gateway's decimals and in the provider's units. */
export function partOf({ tenant, amount }: Scene, fraction: string): { amount: string; minor: number } {
  const { scale, exponent } = currency(tenant === 'demo' ? 'JPY' : 'USD');
  const part = decimal(amount).times(fraction).toDecimalPlaces(scale, 1);
  return { amount: part.toFixed(), minor: toMinorUnits(part, exponent) };
}
