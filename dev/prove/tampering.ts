import { SignJWT } from 'jose';
import { DEVELOPMENT_JWT_SECRET } from '../../src/config/config.ts';
import type { StoredEvent } from '../stripe-simulator/objects/events.ts';
import { type Books, balanceOfWallet } from './books.ts';
import { type Claim, type Question, type Trial, check, checkAtLeast } from './claim.ts';
import {
  type Actor,
  type Heard,
  OFFICE,
  TILL,
  insist,
  putProduct,
  request,
  sendOnce,
  tokenOf,
} from './clients.ts';
import { COFFEE, type ProvingGround } from './proving-ground.ts';
import { checkOutAll, checkoutOf, customersWith, inParallel, openOrders } from './shop.ts';
import { postEvent } from './signed-events.ts';

function accepted(heard: readonly Heard[]): number {
  return heard.filter(({ retry }) => retry === undefined).length;
}

function writtenFor(books: Books, name: string): { readonly orders: number; readonly entries: number } {
  const isMine = ({ account }: { readonly account: string }): boolean => account.startsWith(`${name}-`);
  return { orders: books.orders.filter(isMine).length, entries: books.entries.filter(isMine).length };
}

/** What no amount of ours looks like, or is worth; numbers of JSON among them. */
const BAD_AMOUNTS: readonly unknown[] = [
  ...['-480', '0', '0.5', '480.01', '1e3', '0x1f', 'NaN', 'Infinity', '+480', '.5', '4_80', ' 480', '480 '],
  ...['', '４８０', '1'.repeat(40), 480, 4.8, true, null, ['480']],
];

async function pricesAreOurs(ground: ProvingGround): Promise<Trial> {
  const [url] = ground.gatewayUrls;
  const [buyer, other] = await customersWith(ground, 'prices', 2, 0);
  if (buyer === undefined || other === undefined) throw new Error('there are customers');
  const coffee = { sku: COFFEE.sku, quantity: 1 };
  const byCustomer = [
    { amount: '1', description: 'one coffee' },
    { items: [coffee], amount: '1' },
    { items: [{ ...coffee, price: '1' }] },
    { items: [{ ...coffee, unitPrice: '1' }] },
    { items: [{ ...coffee, amount: '1' }] },
    { items: [coffee], currency: 'usd' },
    { items: [coffee], discount: '479' },
    { items: [{ sku: COFFEE.sku, quantity: 0 }] },
    { items: [{ sku: COFFEE.sku, quantity: -1 }] },
    { items: [{ sku: COFFEE.sku, quantity: 0.01 }] },
    { items: [coffee, { sku: COFFEE.sku, quantity: -1 }] },
    { items: [{ sku: 'no-such-thing', quantity: 1 }] },
    { items: [] },
  ].map((input) => request(buyer, 'createOrder', { merchantId: 'cafe', ...input }));
  const bySeller = BAD_AMOUNTS.map((amount) =>
    request(OFFICE, 'createOrder', {
      merchantId: 'cafe',
      accountId: buyer.subject,
      amount,
      description: 'x',
    }),
  );
  const byTill = BAD_AMOUNTS.map((amount) =>
    request(TILL, 'topUp', { accountId: buyer.subject, amount, method: 'CASH' }),
  );
  const heard = await inParallel([...byCustomer, ...bySeller, ...byTill], 16, (sent) => insist(url, sent));
  const written = writtenFor(await ground.books(), 'prices');
  const [ordered] = await openOrders(ground, [other], 1);
  await putProduct(url, COFFEE.sku, '1');
  const later = (await ground.books()).orders.find(({ id }) => id === ordered?.id);
  await putProduct(url, COFFEE.sku, String(COFFEE.price));
  return {
    done:
      `${String(byCustomer.length)} orders in which a customer names or bends the price, ` +
      `${String(bySeller.length + byTill.length)} malformed amounts from a seller and a till, a price lowered after the order`,
    checks: [
      check('requests accepted', accepted(heard), 0),
      check('orders written', written.orders, 0),
      check('entries written', written.entries, 0),
      check('yen due for a coffee ordered before its price fell', later?.amount ?? 'none', COFFEE.price),
    ],
  };
}

/** Tokens that nobody who may sign has signed so. */
async function tamperedTokens(owner: Actor, thief: Actor): Promise<readonly string[]> {
  const good = await tokenOf(thief);
  const [head = '', body = '', signature = ''] = good.split('.');
  // What a token of ours holds is an object.
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const asOwner = { ...claims, sub: owner.subject };
  const sign = (secret: string, payload: Record<string, unknown>): Promise<string> =>
    new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));
  return [
    [head, encoded(asOwner), signature].join('.'),
    [encoded({ alg: 'none' }), encoded(asOwner), ''].join('.'),
    [encoded({ alg: 'HS384', typ: 'JWT' }), encoded(asOwner), signature].join('.'),
    await sign('another secret, of at least thirty-two bytes', asOwner),
    await sign(DEVELOPMENT_JWT_SECRET, { ...asOwner, exp: 1_700_000_000 }),
    await sign(DEVELOPMENT_JWT_SECRET, { ...asOwner, tenant: 'nowhere' }),
    '',
  ];
}

async function othersMoney(ground: ProvingGround): Promise<Trial> {
  const [url] = ground.gatewayUrls;
  const [owner, thief] = await customersWith(ground, 'others', 2, 5_000);
  if (owner === undefined || thief === undefined) throw new Error('there are customers');
  const orders = await openOrders(ground, [owner], 2);
  const tokens = await tamperedTokens(owner, thief);
  const forged = await inParallel(tokens, 8, (token) =>
    sendOnce(url, request(owner, 'charge', { orderId: orders[0]?.id }), token),
  );
  const asThief = [
    ...orders.flatMap((order) => [
      request(thief, 'charge', { orderId: order.id }),
      request(thief, 'cancelOrder', { orderId: order.id }),
      request(thief, 'refund', { orderId: order.id }),
      request(thief, 'checkout', checkoutOf(order)),
    ]),
    request(thief, 'createOrder', {
      merchantId: 'cafe',
      accountId: owner.subject,
      items: [{ sku: COFFEE.sku, quantity: 1 }],
    }),
    request(thief, 'topUp', { accountId: thief.subject, amount: '5000', method: 'CASH' }),
    request(thief, 'adjustBalance', {
      accountId: thief.subject,
      asset: 'ECOPAY',
      amount: '5000',
      reason: 'please',
    }),
  ];
  const stolen = await inParallel(asThief, 8, (sent) => insist(url, sent));
  const books = await ground.books();
  const states = books.orders.filter(({ account }) => account === owner.subject).map(({ state }) => state);
  return {
    done: `${String(tokens.length)} tampered tokens, and ${String(asThief.length)} requests of one customer for another's orders or for value`,
    checks: [
      check('requests accepted', accepted([...forged, ...stolen]), 0),
      check('orders of the owner', states.join(', '), 'CREATED, CREATED'),
      check('yen of the owner', balanceOfWallet(books, owner.subject), 5_000),
      check('yen of the thief', balanceOfWallet(books, thief.subject), 5_000),
    ],
  };
}

const BAD_RETURNS = [
  'https://evil.example/paid',
  'http://localhost.evil.example/paid',
  'http://localhost:3000@evil.example/paid',
  'https://localhost:3000/paid',
  'javascript:alert(1)',
  'data:text/html,paid',
  '//evil.example/paid',
  '/paid',
  '',
];

async function returnPaysNothing(ground: ProvingGround): Promise<Trial> {
  const [, url] = ground.gatewayUrls;
  const count = ground.size(15, 5);
  const customers = await customersWith(ground, 'returns', count, 0);
  const orders = await openOrders(ground, customers, count);
  const [first] = orders;
  if (first === undefined) throw new Error('there are orders');
  const refused = await inParallel(BAD_RETURNS, 8, (successUrl) =>
    insist(url, request(first.buyer, 'checkout', { ...checkoutOf(first), successUrl })),
  );
  const sessions = await checkOutAll(ground, orders);
  const comeBack = [...sessions.entries()].flatMap(([index, session]) =>
    [
      `/paid?session_id=${session}&payment_status=paid`,
      `/?session_id=${session}`,
      `/webhooks/stripe?session_id=${session}&payment_status=paid`,
      `/graphql?query=mutation{charge(input:{orderId:"${orders[index]?.id ?? ''}"}){__typename}}`,
    ].map((path) => url + path),
  );
  const statuses = await inParallel(comeBack, 8, async (page) => (await fetch(page)).status);
  const seen = await ground.books();
  const wanted = new Set(orders.map(({ id }) => id));
  const paid = seen.orders.filter(({ id, state }) => wanted.has(id) && state !== 'SESSION_CREATED');
  return {
    done:
      `${String(BAD_RETURNS.length)} return pages on strange sites, and ${String(comeBack.length)} browsers that come back ` +
      `from a payment page and say that ${String(count)} orders were paid`,
    checks: [
      check('strange return pages accepted', accepted(refused), 0),
      check('browsers answered with success', statuses.filter((status) => status < 300).length, 0),
      check('orders that are anything but SESSION_CREATED', paid.length, 0),
      check('entries written', writtenFor(seen, 'returns').entries, 0),
    ],
  };
}

/** What somebody at the provider's side would have to change so that another amount, currency or mode pays an order. */
const ALTERATIONS: readonly ((object: Record<string, unknown>) => Record<string, unknown>)[] = [
  (object) => ({ ...object, amount_total: 1, amount: 1, amount_received: 1 }),
  (object) => ({ ...object, amount_total: 479, amount: 479, amount_received: 479 }),
  (object) => ({ ...object, currency: 'usd' }),
  (object) => ({ ...object, currency: 'krw' }),
];

function altered(event: StoredEvent, alteration: number, index: number): object {
  // An event of the simulator's has an object in it.
  const object = event.data.object as unknown as Record<string, unknown>;
  const id = `evt_altered_${String(index)}_${String(alteration)}`;
  const change = ALTERATIONS[alteration];
  if (change === undefined) return { ...event, id, livemode: true };
  return { ...event, id, data: { object: change(object) } };
}

async function providerAmount(ground: ProvingGround): Promise<Trial> {
  const { simulator } = ground;
  const count = ground.size(10, 4);
  const customers = await customersWith(ground, 'amounts', count, 0);
  const orders = await openOrders(ground, customers, count);
  const sessions = await checkOutAll(ground, orders);
  const before = simulator.events().length;
  await simulator.hold();
  for (const session of sessions) await simulator.payByCard({ session });
  const sent = simulator
    .events()
    .slice(before)
    .filter(({ type }) => type === 'checkout.session.completed' || type === 'payment_intent.succeeded');
  const lies = sent.flatMap((event, index) =>
    Array.from({ length: ALTERATIONS.length + 1 }, (_, alteration) => altered(event, alteration, index)),
  );
  const statuses = await inParallel(lies, 8, (event) => postEvent(ground.webhookUrl, event));
  const wanted = new Set(orders.map(({ id }) => id));
  const lied = await ground.books();
  const paidByLies = lied.orders.filter(({ id, state }) => wanted.has(id) && state !== 'SESSION_CREATED');
  await simulator.release();
  await simulator.idle({ timeoutMs: 30_000 });
  const books = await ground.books();
  const paid = books.orders.filter(
    ({ id, state }) => wanted.has(id) && (state === 'PAID' || state === 'CONFIRMED'),
  );
  const mismatches = [...books.events].filter(
    ([id, outcome]) => id.startsWith('evt_altered_') && outcome === 'MISMATCH',
  );
  return {
    done: `${String(lies.length)} rightly signed events about ${String(count)} orders with another amount, currency or mode; then the true ones`,
    checks: [
      check('orders that the false events paid', paidByLies.length, 0),
      check('false events recorded as MISMATCH', mismatches.length, lies.length),
      check('events that Stripe would send again', statuses.filter((status) => status >= 300).length, 0),
      check('orders that the true events paid', paid.length, count),
      checkAtLeast('false events', lies.length, count),
    ],
  };
}

const CLAIMS: readonly Claim[] = [
  {
    id: 'prices-are-ours',
    claim: 'What is paid comes from the catalogue, and no malformed amount is taken.',
    rules: ['catalogueLines', 'parseDecimal', 'mayPerform'],
    tests: ['test/integration/graphql/amounts.test.ts', 'test/unit/ledger/kernel/money.test.ts'],
    attempt: pricesAreOurs,
  },
  {
    id: 'others-money',
    claim: "Nobody moves another's money: not with a tampered token, not by naming another's order.",
    rules: ['createTokenVerifier', 'maySeeOrder', 'mayPerform'],
    tests: ['test/unit/auth/', 'test/integration/graphql/auth.test.ts'],
    attempt: othersMoney,
  },
  {
    id: 'return-pays-nothing',
    claim: 'A browser that comes back from a payment page pays nothing, and comes back only to the shop.',
    rules: ['returnUrlIssue', 'isAllowedReturnUrl'],
    tests: ['test/unit/config/return-urls.test.ts', 'test/integration/provider/checkout.test.ts'],
    attempt: returnPaysNothing,
  },
  {
    id: 'provider-amount',
    claim: 'An event with another amount, currency or mode than was ordered pays nothing.',
    rules: ['amountObjection'],
    tests: [
      'test/integration/webhooks/payment-ownership.test.ts',
      'test/integration/webhooks/operators.test.ts',
    ],
    attempt: providerAmount,
  },
];

export const TAMPERING: Question = {
  id: 'tampering',
  question: 'Can somebody change what is paid?',
  claims: CLAIMS,
};
