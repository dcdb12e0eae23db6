import { setTimeout as delay } from 'node:timers/promises';
import { epochS, systemClock } from '../../src/ledger/kernel/clock.ts';
import type { Stage } from './payment.ts';
import type { OrderWatch } from './gateway-client.ts';
import { type MerchantReceiver, startMerchantReceiver } from './merchant-receiver.ts';

/** The demo's merchant that is told of its orders: where its server is and by what secret is in dev/demo-tenants.json. */
const MERCHANT = 'flowers';
const PORT = 4030;
const SECRET = 'whsec_aGl0b3RzdS1kZXZlbG9wbWVudC1ub3QtZm9yLXByb2R1Y3Rpb24=';

const CREATE_ORDER = `mutation ($key: IdempotencyKey!, $input: CreateOrderInput!) {
  createOrder(idempotencyKey: $key, input: $input) {
    __typename ... on CreateOrderSuccess { order { id } } ... on Failure { message } } }`;
const CHARGE = `mutation ($key: IdempotencyKey!, $input: ChargeInput!) {
  charge(idempotencyKey: $key, input: $input) {
    __typename ... on ChargeSuccess { order { id state } } ... on Failure { message } } }`;
const CANCEL = `mutation ($key: IdempotencyKey!, $input: CancelOrderInput!) {
  cancelOrder(idempotencyKey: $key, input: $input) { __typename ... on Failure { message } } }`;
const STEPS = `query ($id: ID!) { order(id: $id) { state steps { name state attempts lastError } } }`;

interface Steps {
  readonly order: {
    readonly state: string;
    readonly steps: readonly {
      readonly name: string;
      readonly state: string;
      readonly attempts: number;
      readonly lastError: string | null;
    }[];
  };
}

/**
 * A merchant's server that is down at first: the order is PAID at once, the step that tells the merchant is tried again,
 * the server comes up, and CONFIRMED arrives over the subscription. The customer needs 300 in its wallet.
 */
export async function playFollowUps(stage: Stage): Promise<void> {
  const { gateway, cast, narrator } = stage;
  narrator.step("An order of flowers; the florist's server is down");
  const orderId = await paidOrder(stage);
  const watch = gateway.watch(cast.customer, orderId);
  let receiver: MerchantReceiver | undefined;
  try {
    const { order } = await stepsWhenTried(stage, orderId);
    narrator.check(order.state === 'PAID', `the customer is done: the order is ${order.state}`);
    for (const { name, state, attempts, lastError } of order.steps)
      narrator.tell(`${name} is ${state} after ${String(attempts)} attempt(s): ${lastError ?? ''}`);

    narrator.step("The florist's server comes up");
    receiver = await startMerchantReceiver({
      port: PORT,
      secret: SECRET,
      nowS: () => epochS(systemClock.nowMs()),
      onMessage: ({ type, data }) => {
        const { version, lines, amount, currency } = data;
        const what = lines.map(({ name, quantity }) => `${String(quantity)} × ${name}`).join(', ');
        narrator.tell(
          `the florist is told: ${type}, ${what}, ${amount} ${currency}, version ${String(version)}, signature verified`,
        );
      },
    });
    await confirmed(watch);
    narrator.transitions(watch.seen);
    narrator.check(receiver.inbox.newest.has(orderId), 'told once, CONFIRMED, and nobody had to look');

    narrator.step('Another order of flowers, and the customer thinks better of it');
    const canceled = await canceledOrder(stage);
    await heardOf(receiver, canceled, 'CANCELED');
    narrator.check(true, 'the florist is told that it is canceled');
  } finally {
    await watch.stop();
    await receiver?.stop();
  }
}

async function openedOrder({ gateway, cast }: Stage, purpose: string, description: string): Promise<string> {
  const input = { merchantId: MERCHANT, accountId: cast.accountId, amount: '300', description };
  const opened = await gateway.run<{
    createOrder: { readonly __typename: string; readonly order?: { readonly id: string } };
  }>(cast.admin, CREATE_ORDER, { key: cast.key(purpose), input });
  const orderId = opened.createOrder.order?.id;
  if (orderId === undefined) throw new Error(`createOrder: ${opened.createOrder.__typename}`);
  return orderId;
}

async function canceledOrder(stage: Stage): Promise<string> {
  const { gateway, cast } = stage;
  const orderId = await openedOrder(stage, 'flowers-roses', 'Roses');
  const variables = { key: cast.key('flowers-cancel'), input: { orderId } };
  const { cancelOrder } = await gateway.run<{ cancelOrder: { readonly __typename: string } }>(
    cast.customer,
    CANCEL,
    variables,
  );
  if (cancelOrder.__typename !== 'CancelOrderSuccess')
    throw new Error(`cancelOrder: ${cancelOrder.__typename}`);
  return orderId;
}

/** Waits until the merchant's server has the order in a state. */
async function heardOf({ inbox }: MerchantReceiver, orderId: string, state: string): Promise<void> {
  for (let waitedMs = 0; inbox.newest.get(orderId)?.data.state !== state; waitedMs += POLL_MS) {
    if (waitedMs >= PATIENCE_MS) throw new Error(`the florist was not told of ${state}`);
    await delay(POLL_MS);
  }
}

async function paidOrder(stage: Stage): Promise<string> {
  const { gateway, cast } = stage;
  const orderId = await openedOrder(stage, 'flowers-order', 'Tulips');
  const variables = { key: cast.key('flowers-charge'), input: { orderId } };
  const { charge } = await gateway.run<{ charge: { readonly __typename: string } }>(
    cast.customer,
    CHARGE,
    variables,
  );
  if (charge.__typename !== 'ChargeSuccess') throw new Error(`charge: ${charge.__typename}`);
  return orderId;
}

const POLL_MS = 100;
const PATIENCE_MS = 15_000;

/** The order's steps once the first attempt has failed. */
async function stepsWhenTried({ gateway, cast }: Stage, orderId: string): Promise<Steps> {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += POLL_MS) {
    const found = await gateway.run<Steps>(cast.customer, STEPS, { id: orderId });
    if (found.order.steps.some(({ lastError }) => lastError !== null)) return found;
    await delay(POLL_MS);
  }
  throw new Error(
    `Nobody tried to tell the merchant: is a worker running, and is port ${String(PORT)} free?`,
  );
}

/** The next attempts are seconds apart, and each may be the one. */
async function confirmed(watch: OrderWatch): Promise<void> {
  await watch.until('CONFIRMED').catch(() => watch.until('CONFIRMED'));
}
