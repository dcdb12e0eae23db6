import { type Actor, ADMIN, customer, insist, request } from './clients.ts';
import { COFFEE, type ProvingGround } from './proving-ground.ts';

/** What attacks begin with: customers with money, and orders to pay. */

export interface OpenOrder {
  readonly id: string;
  readonly buyer: Actor;
}

/** Throws an Error unless the outcome is a success of the operation. */
async function must(
  url: string,
  sent: Parameters<typeof insist>[1],
): Promise<Awaited<ReturnType<typeof insist>>> {
  const heard = await insist(url, sent);
  if (heard.retry !== undefined) throw new Error(`${sent.operation} of ${sent.actor.subject}: ${heard.name}`);
  return heard;
}

/** Customers of a claim, each with so much in the wallet. */
export async function customersWith(
  { gatewayUrls: [, url] }: ProvingGround,
  name: string,
  count: number,
  funds: number,
): Promise<readonly Actor[]> {
  const customers = Array.from({ length: count }, (_, index) => customer(`${name}-${String(index + 1)}`));
  await Promise.all(
    customers.map(async ({ subject }) => {
      if (funds === 0) return;
      const input = { accountId: subject, asset: 'ECOPAY', amount: String(funds), reason: 'a proof' };
      await must(url, request(ADMIN, 'adjustBalance', input));
    }),
  );
  return customers;
}

/** Opens an order of one coffee for each of these customers in turn, `count` in all. */
export async function openOrders(
  { gatewayUrls: [, url] }: ProvingGround,
  customers: readonly Actor[],
  count: number,
): Promise<readonly OpenOrder[]> {
  const buyers = Array.from({ length: count }, (_, index) => customers[index % customers.length]);
  return await inParallel(buyers, 16, async (buyer) => {
    if (buyer === undefined) throw new Error('there are customers');
    const input = { merchantId: 'cafe', items: [{ sku: COFFEE.sku, quantity: 1 }] };
    const { orderId } = await must(url, request(buyer, 'createOrder', input));
    if (orderId === undefined) throw new Error('an order has an id');
    return { id: orderId, buyer };
  });
}

export async function chargeAll(
  { gatewayUrls: [, url] }: ProvingGround,
  orders: readonly OpenOrder[],
): Promise<void> {
  await inParallel(orders, 16, ({ id, buyer }) => must(url, request(buyer, 'charge', { orderId: id })));
}

const URLS = { successUrl: 'http://localhost:3000/paid', cancelUrl: 'http://localhost:3000/back' };

/** The input of a checkout of this order. */
export function checkoutOf(order: OpenOrder): Readonly<Record<string, string>> {
  return { orderId: order.id, ...URLS };
}

/** Opens the payment page of each order; gives Stripe's session of each, as the table has it. */
export async function checkOutAll(
  ground: ProvingGround,
  orders: readonly OpenOrder[],
): Promise<readonly string[]> {
  await inParallel(orders, 8, (order) =>
    must(ground.gatewayUrls[1], request(order.buyer, 'checkout', checkoutOf(order))),
  );
  const books = await ground.books();
  return orders.map(({ id }) => {
    const session = books.orders.find((order) => order.id === id)?.sessions.at(-1);
    if (session === undefined) throw new Error('a checkout has a session');
    return session;
  });
}

/** Runs a task for each, so many at a time; the results are in the order of what they are of. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  task: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results = new Map<number, Result>();
  const waiting = [...items.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results.set(next[0], await task(next[1], next[0]));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
}

/** The same, in an order that the fractions decide. */
export function shuffled<Item>(items: readonly Item[], fraction: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, place: fraction() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
