import { type Books, balanceOfWallet, mostOfOne } from './books.ts';
import { type Claim, type Question, type Trial, check, checkAtLeast } from './claim.ts';
import { type Heard, type MoneyRequest, TILL, insist, request, sendOnce } from './clients.ts';
import { openCuttingProxy } from './cutting-proxy.ts';
import { COFFEE, type ProvingGround } from './proving-ground.ts';
import { type OpenOrder, customersWith, inParallel, openOrders, shuffled } from './shop.ts';

const COPIES = 5;
const CLIENTS = 3;

/** Three ways to the gateways on which most connections are cut. */
async function overCutConnections(
  { gatewayUrls, fraction }: ProvingGround,
  send: (urls: readonly string[]) => Promise<void>,
): Promise<number> {
  const proxies = await Promise.all(
    Array.from({ length: CLIENTS }, (_, index) =>
      openCuttingProxy(gatewayUrls[index % 2] ?? gatewayUrls[0], fraction),
    ),
  );
  try {
    await send(proxies.map(({ url }) => url));
    return proxies.reduce((sum, { cuts }) => sum + cuts(), 0);
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }
}

/** Sends every request so many times at once over cut connections, then once more until its outcome is known. */
async function sendAgainAndAgain(
  ground: ProvingGround,
  requests: readonly MoneyRequest[],
): Promise<{ readonly answers: ReadonlyMap<MoneyRequest, readonly Heard[]>; readonly cuts: number }> {
  const answers = new Map<MoneyRequest, Heard[]>(requests.map((one) => [one, []]));
  const copies = requests.flatMap((one, index) =>
    Array.from({ length: COPIES }, (_, copy) => ({ one, client: (index + copy) % CLIENTS })),
  );
  const cuts = await overCutConnections(ground, async (urls) => {
    await inParallel(copies, 24, async ({ one, client }) => {
      answers.get(one)?.push(await sendOnce(urls[client] ?? '', one));
    });
  });
  await inParallel(requests, 24, async (one) => {
    answers.get(one)?.push(await insist(ground.gatewayUrls[1], one));
  });
  return { answers, cuts };
}

function lostAmong(answers: ReadonlyMap<MoneyRequest, readonly Heard[]>): number {
  return [...answers.values()].flat().filter(({ name }) => name === 'LOST').length;
}

/** Requests whose answers name two different results, or that heard a refusal. */
function contradicted(answers: ReadonlyMap<MoneyRequest, readonly Heard[]>): number {
  return [...answers.values()].filter((heard) => {
    const known = heard.filter(({ retry }) => retry !== 'SAME_KEY');
    return new Set(known.map(({ name, entryId }) => `${name} ${entryId ?? ''}`)).size !== 1;
  }).length;
}

function chargesOf(books: Books, orders: readonly OpenOrder[]): readonly string[] {
  const wanted = new Set(orders.map(({ id }) => id));
  const mine = new Set(books.orders.filter(({ id }) => wanted.has(id)).map(({ orderId }) => orderId));
  return books.entries
    .filter(({ operation }) => operation === 'CHARGE')
    .flatMap(({ orderId }) => (orderId !== undefined && mine.has(orderId) ? [orderId] : []));
}

function leftIn(books: Books, name: string): number {
  return books.balances
    .filter(({ account, asset }) => account.startsWith(`${name}-`) && asset === 'ECOPAY')
    .reduce((sum, { amount }) => sum + amount, 0);
}

async function chargeOnce(ground: ProvingGround): Promise<Trial> {
  const count = ground.size(200, 30);
  const funds = 20_000;
  const customers = await customersWith(ground, 'charge-once', 10, funds);
  const orders = await openOrders(ground, customers, count);
  const requests = orders.map(({ id, buyer }) => request(buyer, 'charge', { orderId: id }));
  const { answers, cuts } = await sendAgainAndAgain(ground, requests);
  const books = await ground.books();
  const charges = chargesOf(books, orders);
  return {
    done:
      `${String(count)} charges, each sent ${String(COPIES)} times under its key by ${String(CLIENTS)} clients to two ` +
      `gateways, over connections of which ${String(cuts)} were cut; ${String(lostAmong(answers))} answers were lost`,
    checks: [
      check('entries of charges', charges.length, count),
      check('most entries of one order', mostOfOne(charges), 1),
      check('yen left in the wallets', leftIn(books, 'charge-once'), 10 * funds - count * COFFEE.price),
      check('requests with two different answers', contradicted(answers), 0),
      checkAtLeast('connections cut', cuts, count),
    ],
  };
}

async function cashOnce(ground: ProvingGround): Promise<Trial> {
  const count = ground.size(50, 15);
  const accounts = Array.from({ length: count }, (_, index) => `cash-once-${String(index + 1)}`);
  const requests = accounts.map((accountId) =>
    request(TILL, 'topUp', { accountId, amount: '700', method: 'CASH' }),
  );
  const { answers, cuts } = await sendAgainAndAgain(ground, requests);
  const books = await ground.books();
  const topUps = books.entries.filter(({ account }) => account.startsWith('cash-once-'));
  return {
    done:
      `${String(count)} cash top-ups of ¥700 at a till, each sent ${String(COPIES)} times over connections of which ` +
      `${String(cuts)} were cut; ${String(lostAmong(answers))} answers were lost`,
    checks: [
      check('entries of top-ups', topUps.length, count),
      check(
        'wallets that hold anything but ¥700',
        accounts.filter((account) => balanceOfWallet(books, account) !== 700).length,
        0,
      ),
      check('requests with two different answers', contradicted(answers), 0),
    ],
  };
}

async function orderOnce(ground: ProvingGround): Promise<Trial> {
  const count = ground.size(40, 10);
  const customers = await customersWith(ground, 'order-once', 10, 20_000);
  const orders = await openOrders(ground, customers, count);
  const requests = orders.flatMap(({ id, buyer }) =>
    Array.from({ length: COPIES }, () => request(buyer, 'charge', { orderId: id })),
  );
  const heard = await inParallel(shuffled(requests, ground.fraction), 40, (one, index) =>
    insist(ground.gatewayUrls[index % 2] ?? ground.gatewayUrls[0], one),
  );
  const charges = chargesOf(await ground.books(), orders);
  return {
    done: `${String(count)} orders, each charged under ${String(COPIES)} different keys at once, over two gateways`,
    checks: [
      check('charges that went through', heard.filter(({ name }) => name === 'ChargeSuccess').length, count),
      check(
        'charges refused as OrderNotPayable',
        heard.filter(({ name }) => name === 'OrderNotPayable').length,
        count * (COPIES - 1),
      ),
      check('entries of charges', charges.length, count),
      check('most entries of one order', mostOfOne(charges), 1),
    ],
  };
}

async function keyReused(ground: ProvingGround): Promise<Trial> {
  const count = ground.size(30, 8);
  const [url] = ground.gatewayUrls;
  const customers = await customersWith(ground, 'key-reused', 5, 20_000);
  const orders = await openOrders(ground, customers, 2 * count);
  const pairs = orders.slice(0, count).map((first) => {
    const other = orders.slice(count).find(({ buyer }) => buyer === first.buyer);
    return { first, other: other ?? first };
  });
  const heard = await inParallel(pairs, 16, async ({ first, other }) => {
    const paid = request(first.buyer, 'charge', { orderId: first.id });
    await insist(url, paid);
    return await insist(url, { ...paid, input: { orderId: other.id } });
  });
  const charges = chargesOf(await ground.books(), orders);
  return {
    done: `${String(count)} keys under which a charge had been answered, each sent again for another order`,
    checks: [
      check(
        'answers IdempotencyKeyReused',
        heard.filter(({ name }) => name === 'IdempotencyKeyReused').length,
        count,
      ),
      check('answers that tell of the first', heard.filter(({ orderId }) => orderId !== undefined).length, 0),
      check('entries of charges', charges.length, count),
    ],
  };
}

const CLAIMS: readonly Claim[] = [
  {
    id: 'charge-once',
    claim: 'A charge is made once, however often its request arrives and however many answers get lost.',
    rules: ['putIdempotencyRecordIfNew', 'runLedgerCommand'],
    tests: ['test/integration/faults/', 'test/integration/ledger/idempotency.test.ts'],
    attempt: chargeOnce,
  },
  {
    id: 'cash-once',
    claim: 'Cash that a till took in is credited once.',
    rules: ['recognise', 'cashTopUp'],
    tests: ['test/integration/faults/guards.test.ts', 'test/integration/ledger/limits.test.ts'],
    attempt: cashOnce,
  },
  {
    id: 'order-once',
    claim: 'An order is paid once, also by requests with different keys.',
    rules: ['updateOrder', 'ORDER_EDGES'],
    tests: ['test/integration/ledger/charge.test.ts', 'test/unit/ledger/model/orders/order-states.test.ts'],
    attempt: orderOnce,
  },
  {
    id: 'key-reused',
    claim: 'A key that comes with another request is refused, and tells nothing of the first.',
    rules: ['fingerprint'],
    tests: ['test/unit/ledger/kernel/fingerprint.test.ts', 'test/integration/ledger/whose-answer.test.ts'],
    attempt: keyReused,
  },
];

export const DOUBLE_CHARGES: Question = {
  id: 'double-charges',
  question: 'Can a customer be charged twice?',
  claims: CLAIMS,
};
