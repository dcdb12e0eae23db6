import { cancelOrder } from '../../src/ledger/usecases/commands/cancel-order.ts';
import type { OrderState } from '../../src/ledger/model/orders/order-states.ts';
import { customer } from './harness.ts';
import {
  type Act,
  type OpenedPayment,
  type Scene,
  askForRefund,
  between,
  checkOut,
  minutes,
  open,
  partOf,
  spendHalf,
  until,
  untilPaid,
} from './stripe-day-scene.ts';

/** How a payment must stand once the day is over, as who made it knows. */
export interface Ending {
  readonly orderId: string;
  readonly state: OrderState;
  /** How often money came for it: what is beyond one is surplus. */
  readonly payments: 0 | 1 | 2;
}

export interface Story {
  readonly name: string;
  /** How many of about eighty payments go like this. */
  readonly weight: number;
  /** Only in the tenant that takes payments at convenience stores. */
  readonly konbini?: true;
  readonly tell: (scene: Scene) => Act<Ending>;
}

function paid({ orderId }: OpenedPayment): Ending {
  return { orderId, state: 'CONFIRMED', payments: 1 };
}

/** Opens a payment and pays it by card a little later, which the ledger hears of sooner or later. */
async function* payByCard(scene: Scene): Act<OpenedPayment & { readonly paymentId: string }> {
  const opened = yield* open(scene);
  yield between(scene, 1, 20);
  await scene.world.simulator.payByCard({ session: opened.sessionId });
  const paymentId = yield* untilPaid(scene, opened.orderId);
  if (scene.kind === 'TOP_UP' && scene.fraction() < 0.5) yield* spendHalf(scene);
  return { ...opened, paymentId };
}

async function* takeVoucher(scene: Scene): Act<OpenedPayment> {
  const opened = yield* open(scene);
  yield between(scene, 1, 20);
  await scene.world.simulator.startKonbini({ session: opened.sessionId });
  yield between(scene, 5, 240);
  return opened;
}

async function* cardPaid(scene: Scene): Act<Ending> {
  return paid(yield* payByCard(scene));
}

async function* declinedThenPaid(scene: Scene): Act<Ending> {
  const { simulator } = scene.world;
  const opened = yield* open(scene);
  yield between(scene, 1, 10);
  await simulator.declineCard({ session: opened.sessionId, declineCode: 'insufficient_funds' });
  yield between(scene, 1, 10);
  await simulator.requireAuthentication({ session: opened.sessionId });
  yield between(scene, 0, 3);
  await simulator.payByCard({ session: opened.sessionId });
  yield* untilPaid(scene, opened.orderId);
  return paid(opened);
}

async function* konbiniPaid(scene: Scene): Act<Ending> {
  const opened = yield* takeVoucher(scene);
  await scene.world.simulator.completeAsyncPayment({ session: opened.sessionId });
  return paid(opened);
}

async function* konbiniFailed(scene: Scene): Act<Ending> {
  const opened = yield* takeVoucher(scene);
  await scene.world.simulator.failAsyncPayment({ session: opened.sessionId });
  return { orderId: opened.orderId, state: 'FAILED', payments: 0 };
}

async function* abandoned(scene: Scene): Act<Ending> {
  const { orderId } = yield* open(scene);
  return { orderId, state: 'EXPIRED', payments: 0 };
}

async function* expiredThenPaid(scene: Scene): Act<Ending> {
  const opened = yield* open(scene);
  yield between(scene, 62, 100);
  await scene.world.simulator.payByCard({ session: opened.sessionId, evenIfExpired: true });
  return paid(opened);
}

async function* paidAtSecondCheckout(scene: Scene): Act<Ending> {
  const opened = yield* open(scene);
  yield* until(scene, opened.orderId, ({ state }) => state === 'EXPIRED');
  const sessionId = yield* checkOut(scene, opened);
  yield between(scene, 1, 20);
  await scene.world.simulator.payByCard({ session: sessionId });
  return paid(opened);
}

/** The session had expired, the order was checked out anew and paid, and then the first page's payment came after all. */
async function* paidTwice(scene: Scene): Act<Ending> {
  const { simulator } = scene.world;
  const opened = yield* open(scene);
  yield* until(scene, opened.orderId, ({ state }) => state === 'EXPIRED');
  const sessionId = yield* checkOut(scene, opened);
  yield between(scene, 1, 20);
  await simulator.payByCard({ session: sessionId });
  if (scene.fraction() < 0.5) yield between(scene, 0, 60);
  await simulator.payByCard({ session: opened.sessionId, evenIfExpired: true });
  return { ...paid(opened), payments: 2 };
}

async function* canceled(scene: Scene): Act<Ending> {
  const { world, tenant, accountId } = scene;
  const { id, orderId } = yield* open(scene);
  yield between(scene, 1, 20);
  const outcome = await cancelOrder(world.ledger, customer(accountId, tenant), world.key(), { orderId: id });
  if (outcome.kind !== 'CancelOrderSuccess') throw new Error(`not canceled: ${outcome.kind}`);
  return { orderId, state: 'CANCELED', payments: 0 };
}

async function* refunded(scene: Scene): Act<Ending> {
  const opened = yield* payByCard(scene);
  yield between(scene, 5, 120);
  const { made } = yield* askForRefund(scene, opened);
  return { ...paid(opened), state: made ? 'REFUNDED' : 'CONFIRMED' };
}

async function* refundedInTwoParts(scene: Scene): Act<Ending> {
  const opened = yield* payByCard(scene);
  yield* askForRefund(scene, opened, partOf(scene, '0.4').amount);
  yield between(scene, 5, 120);
  const rest = yield* askForRefund(scene, opened);
  return { ...paid(opened), state: rest.made ? 'REFUNDED' : 'CONFIRMED' };
}

async function* refundFailsLater(scene: Scene): Act<Ending> {
  const opened = yield* payByCard(scene);
  const { providerRefundId } = yield* askForRefund(scene, opened);
  if (providerRefundId === undefined) return paid(opened);
  yield between(scene, 0, 180);
  await scene.world.simulator.settleRefund({ refund: providerRefundId, status: 'failed' });
  return paid(opened);
}

/** A konbini payment is refunded once the customer has told their bank account. */
async function* refundWaits(scene: Scene): Act<Ending> {
  const opened = yield* takeVoucher(scene);
  await scene.world.simulator.completeAsyncPayment({ session: opened.sessionId });
  yield* untilPaid(scene, opened.orderId);
  const { providerRefundId } = yield* askForRefund(scene, opened);
  if (providerRefundId === undefined) return paid(opened);
  yield between(scene, 10, 180);
  const status = scene.fraction() < 0.5 ? 'succeeded' : 'canceled';
  await scene.world.simulator.settleRefund({ refund: providerRefundId, status });
  return { ...paid(opened), state: status === 'succeeded' ? 'REFUNDED' : 'CONFIRMED' };
}

async function* refundedInTheDashboard(scene: Scene): Act<Ending> {
  const { simulator } = scene.world;
  const opened = yield* payByCard(scene);
  yield between(scene, 0, 120);
  const { minor } = partOf(scene, '0.3');
  await simulator.dashboardRefund({ paymentIntent: opened.paymentId, amount: minor });
  if (scene.fraction() < 0.5) return paid(opened);
  yield between(scene, 0, 60);
  await simulator.dashboardRefund({ paymentIntent: opened.paymentId });
  return { ...paid(opened), state: 'REFUNDED' };
}

type Verdicts = readonly ('won' | 'lost')[];

async function* disputed(scene: Scene, verdicts: Verdicts): Act<Ending> {
  const { simulator } = scene.world;
  const opened = yield* payByCard(scene);
  yield between(scene, 0, 60);
  const { id } = await simulator.openDispute({ paymentIntent: opened.paymentId });
  for (const status of verdicts) {
    yield between(scene, 0, 120);
    await simulator.closeDispute({ dispute: id, status });
  }
  return paid(opened);
}

async function* inquired(scene: Scene): Act<Ending> {
  const { simulator } = scene.world;
  const opened = yield* payByCard(scene);
  const { id } = await simulator.openDispute({ paymentIntent: opened.paymentId, inquiry: true });
  yield minutes(90);
  await simulator.closeDispute({ dispute: id, status: 'warning_closed' });
  return paid(opened);
}

export const STORIES: readonly Story[] = [
  { name: 'paid by card', weight: 20, tell: cardPaid },
  { name: 'declined, then paid', weight: 6, tell: declinedThenPaid },
  { name: 'konbini, paid', weight: 8, konbini: true, tell: konbiniPaid },
  { name: 'konbini, failed', weight: 4, konbini: true, tell: konbiniFailed },
  { name: 'abandoned', weight: 4, tell: abandoned },
  { name: 'expired, then paid', weight: 3, tell: expiredThenPaid },
  { name: 'expired, paid at the second checkout', weight: 3, tell: paidAtSecondCheckout },
  { name: 'paid twice', weight: 4, tell: paidTwice },
  { name: 'canceled', weight: 2, tell: canceled },
  { name: 'refunded', weight: 5, tell: refunded },
  { name: 'refunded in two parts', weight: 4, tell: refundedInTwoParts },
  { name: 'refund that fails later', weight: 4, tell: refundFailsLater },
  { name: 'refund that waits', weight: 3, konbini: true, tell: refundWaits },
  { name: 'refunded in the dashboard', weight: 5, tell: refundedInTheDashboard },
  { name: 'dispute won', weight: 2, tell: (scene) => disputed(scene, ['won']) },
  { name: 'dispute lost', weight: 3, tell: (scene) => disputed(scene, ['lost']) },
  { name: 'dispute lost, won on appeal', weight: 2, tell: (scene) => disputed(scene, ['lost', 'won']) },
  { name: 'inquiry', weight: 1, tell: inquired },
];
