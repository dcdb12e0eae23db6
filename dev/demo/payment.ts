import type { GatewayClient, SeenTransition } from './gateway-client.ts';
import type { Narrator } from './narrator.ts';
import type { SimulatorControls } from './simulator-controls.ts';

/** Who takes part in a demo: a customer of its own for each run, so that it can be run again and again. */
export interface Cast {
  readonly accountId: string;
  readonly customer: string;
  readonly terminal: string;
  readonly merchant: string;
  readonly admin: string;
  /** An idempotency key that no earlier run used. */
  readonly key: (purpose: string) => string;
}

export interface Stage {
  readonly gateway: GatewayClient;
  readonly simulator: SimulatorControls;
  readonly cast: Cast;
  readonly narrator: Narrator;
}

interface Answer {
  readonly __typename: string;
  readonly replayed: boolean;
}
interface OrderAnswer extends Answer {
  readonly order: { readonly id: string; readonly state: string; readonly amount: string };
}

const FAILURE = '... on Failure { __typename message retry replayed }';
const ORDER = 'order { id state amount }';
const CREATE_ORDER = `mutation ($key: IdempotencyKey!, $input: CreateOrderInput!) {
  createOrder(idempotencyKey: $key, input: $input) {
    __typename ... on CreateOrderSuccess { ${ORDER} replayed } ${FAILURE} } }`;
const TOP_UP = `mutation ($key: IdempotencyKey!, $input: TopUpInput!) {
  topUp(idempotencyKey: $key, input: $input) {
    __typename ... on TopUpSuccess { ${ORDER} balance { amount } replayed } ${FAILURE} } }`;
const CHARGE = `mutation ($key: IdempotencyKey!, $input: ChargeInput!) {
  charge(idempotencyKey: $key, input: $input) {
    __typename ... on ChargeSuccess { ${ORDER} entry { id } balance { amount } replayed }
    ... on InsufficientBalance { required available } ${FAILURE} } }`;
const CHECKOUT = `mutation ($key: IdempotencyKey!, $input: CheckoutInput!) {
  checkout(idempotencyKey: $key, input: $input) {
    __typename ... on CheckoutSuccess { order { id state amount paymentPage { url } } replayed } ${FAILURE} } }`;
const REFUND = `mutation ($key: IdempotencyKey!, $input: RefundInput!) {
  refund(idempotencyKey: $key, input: $input) {
    __typename ... on RefundSuccess { refund { amount state } order { id state refundableAmount } replayed }
    ${FAILURE} } }`;
const WALLET = `query { viewer { wallet { balances { asset amount } entries(first: 100) { edges { node {
  id operation changes { asset amount } } } } } } }`;

/** Opens an order for these products and gives its id. */
export async function openOrder(
  { gateway, cast }: Stage,
  purpose: string,
  items: readonly Item[],
): Promise<string> {
  const input = { merchantId: 'cafe', items };
  const { createOrder } = await gateway.run<{ createOrder: OrderAnswer }>(cast.customer, CREATE_ORDER, {
    key: cast.key(purpose),
    input,
  });
  if (createOrder.__typename !== 'CreateOrderSuccess')
    throw new Error(`createOrder: ${createOrder.__typename}`);
  return createOrder.order.id;
}

interface Item {
  readonly sku: string;
  readonly quantity: number;
}

/** The wallet's story: an order, a cash top-up, a charge, the charge again and again, one that can't be paid. */
export async function playWallet(stage: Stage): Promise<void> {
  const { gateway, cast, narrator } = stage;
  narrator.step('An order: one coffee, one toast; the server knows the prices');
  const orderId = await openOrder(stage, 'wallet-order', [
    { sku: 'coffee', quantity: 1 },
    { sku: 'toast', quantity: 1 },
  ]);
  const watch = gateway.watch(cast.customer, orderId);

  narrator.step('A cash top-up of 2,000 yen at the till');
  const topUp = { accountId: cast.accountId, amount: '2000', method: 'CASH' };
  const { topUp: filled } = await gateway.run<{ topUp: Answer & { balance: { amount: string } } }>(
    cast.terminal,
    TOP_UP,
    {
      key: cast.key('cash'),
      input: topUp,
    },
  );
  narrator.check(filled.balance.amount === '2000', `the wallet holds ${filled.balance.amount}`);

  narrator.step('The wallet pays');
  const first = await charge(stage, 'charge', orderId);
  narrator.check(first.balance?.amount === '1170', `830 debited, ${first.balance?.amount ?? '?'} left`);

  narrator.step('The same request five times more, as a phone in a tunnel would');
  const retries = await Promise.all([1, 2, 3, 4, 5].map(() => charge(stage, 'charge', orderId)));
  const same = retries.every((retry) => retry.replayed && retry.entry?.id === first.entry?.id);
  narrator.check(same, 'five answers, replayed: true, all with the entry of the first');
  narrator.check(retries.at(-1)?.balance?.amount === '1170', 'still 1170: charged exactly once');

  narrator.step('A charge that the wallet cannot pay');
  const feast = await openOrder(stage, 'feast', [{ sku: 'coffee', quantity: 20 }]);
  const refused = await charge(stage, 'feast-charge', feast);
  const { __typename, required = '?', available = '?', retry = '?' } = refused;
  narrator.check(
    __typename === 'InsufficientBalance',
    `${__typename}: ${required} needed, ${available} there; ${retry}`,
  );

  narrator.step('What the subscription saw of the first order');
  narrator.transitions(await watch.until('CONFIRMED'));
  await watch.stop();

  narrator.step('A partial refund of 350, then the rest');
  await refund(stage, 'refund-part', orderId, '350');
  const afterPart = await mainBalance(stage);
  narrator.check(afterPart === '1520', `350 back: the wallet holds ${afterPart}`);
  const full = await refund(stage, 'refund-rest', orderId);
  const afterAll = await mainBalance(stage);
  narrator.check(afterAll === '2000', `all back: ${afterAll}, order ${full.order?.state ?? '?'}`);
}

/** What the customer's main balance is now, as the customer sees it: a merchant sees no wallets. */
async function mainBalance({ gateway, cast }: Stage): Promise<string> {
  const { viewer } = await gateway.run<Books>(cast.customer, WALLET);
  return viewer.wallet.balances.find(({ asset }) => asset === 'ECOPAY')?.amount ?? '0';
}

interface ChargeAnswer extends Answer {
  readonly entry?: { readonly id: string };
  readonly balance?: { readonly amount: string };
  readonly required?: string;
  readonly available?: string;
  readonly retry?: string;
}

async function charge({ gateway, cast }: Stage, purpose: string, orderId: string): Promise<ChargeAnswer> {
  const variables = { key: cast.key(purpose), input: { orderId } };
  return (await gateway.run<{ charge: ChargeAnswer }>(cast.customer, CHARGE, variables)).charge;
}

interface RefundAnswer extends Answer {
  readonly order?: { readonly state: string; readonly refundableAmount: string };
  readonly refund?: { readonly amount: string; readonly state: string };
}

/** Refunds an order as its merchant; without an amount, all that remains. */
export async function refund(
  { gateway, cast }: Stage,
  purpose: string,
  orderId: string,
  amount?: string,
): Promise<RefundAnswer> {
  const variables = {
    key: cast.key(purpose),
    input: { orderId, ...(amount === undefined ? {} : { amount }) },
  };
  return (await gateway.run<{ refund: RefundAnswer }>(cast.merchant, REFUND, variables)).refund;
}

/** The card's story: paid on the simulator, its webhooks delivered twice and out of order, then refunded in two parts. */
export async function playCard(stage: Stage): Promise<void> {
  const { cast, gateway, narrator, simulator } = stage;
  narrator.step('A card checkout');
  const orderId = await openOrder(stage, 'card-order', [{ sku: 'toast', quantity: 2 }]);
  const watch = gateway.watch(cast.customer, orderId);
  const session = await checkout(stage, 'checkout', orderId);
  narrator.tell(`the payment page is ${session.url}`);

  narrator.step('The customer pays; the webhooks arrive twice, and the last one first');
  await simulator.call('hold', {});
  await simulator.call('pay-by-card', { session: session.id });
  const held = await simulator.heldEvents();
  for (const event of [...held].reverse()) await simulator.call('deliver', { event, copies: 2 });
  await simulator.call('release', {});
  narrator.tell(`${String(held.length)} events, each delivered twice at once, newest first`);

  narrator.step('What the subscription saw: PAID because Stripe said so, once');
  const seen = await watch.until('CONFIRMED');
  narrator.transitions(seen);
  narrator.check(paidOnce(seen), 'PAID exactly once');
  await watch.stop();

  narrator.step('The card gets 200 back, then the rest');
  const partial = await refund(stage, 'card-refund-part', orderId, '200');
  narrator.check(
    partial.refund?.state === 'SUCCEEDED',
    `200: ${partial.refund?.state ?? partial.__typename}`,
  );
  const rest = await refund(stage, 'card-refund-rest', orderId);
  narrator.check(rest.order?.state === 'REFUNDED', `the rest: order ${rest.order?.state ?? rest.__typename}`);
}

function paidOnce(seen: readonly SeenTransition[]): boolean {
  return seen.filter((transition) => transition.to === 'PAID' && transition.from !== 'PAID').length === 1;
}

interface CheckoutAnswer extends Answer {
  readonly order?: { readonly paymentPage: { readonly url: string } | null };
}

export async function checkout(
  { gateway, cast }: Stage,
  purpose: string,
  orderId: string,
): Promise<{ readonly id: string; readonly url: string }> {
  const input = { orderId, successUrl: 'http://localhost/paid', cancelUrl: 'http://localhost/canceled' };
  const variables = { key: cast.key(purpose), input };
  const { checkout: answer } = await gateway.run<{ checkout: CheckoutAnswer }>(
    cast.customer,
    CHECKOUT,
    variables,
  );
  const url = answer.order?.paymentPage?.url;
  if (url === undefined) throw new Error(`checkout: ${answer.__typename}`);
  return { id: url.slice(url.lastIndexOf('/') + 1), url };
}

/** A check of one's own books: each balance is the sum of what its entries changed. */
export async function checkBooks({ gateway, cast, narrator }: Stage): Promise<void> {
  narrator.step("The customer's books: every balance is the sum of its entries");
  const { viewer } = await gateway.run<Books>(cast.customer, WALLET);
  for (const { asset, amount } of viewer.wallet.balances) {
    const sum = viewer.wallet.entries.edges
      .flatMap(({ node }) => node.changes)
      .filter((change) => change.asset === asset)
      .reduce((total, change) => total + BigInt(change.amount.replace('.', '')), 0n);
    const held = BigInt(amount.replace('.', ''));
    narrator.check(sum === held, `${asset} ${amount}`);
  }
}

interface Change {
  readonly asset: string;
  readonly amount: string;
}
interface Books {
  readonly viewer: {
    readonly wallet: {
      readonly balances: readonly Change[];
      readonly entries: {
        readonly edges: readonly { readonly node: { readonly changes: readonly Change[] } }[];
      };
    };
  };
}
