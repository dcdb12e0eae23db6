import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { DEVELOPMENT_STRIPE_SECRET_KEY } from '../../src/config/config.ts';
import type { Fault } from '../../test/support/faults.ts';
import { FUNDS, startLoad } from '../../test/support/killer-load.ts';
import { type Books, balanceOfWallet, mostOfOne, tally } from './books.ts';
import { type Claim, type Question, type Trial, check, checkAtLeast } from './claim.ts';
import { type Heard, OFFICE, insist, request, sendOnce } from './clients.ts';
import { COFFEE, type ProvingGround } from './proving-ground.ts';
import { checkOutAll, checkoutOf, customersWith, inParallel, openOrders } from './shop.ts';
import { standingOf } from './webhooks.ts';

async function killed(ground: ProvingGround): Promise<Trial> {
  const { size, fraction, gatewayUrls, killAndRestart } = ground;
  const customers = Array.from({ length: size(8, 4) }, (_, index) => `killed-${String(index + 1)}`);
  const kills = size(3, 2);
  const load = await startLoad(gatewayUrls[1], customers);
  for (let done = 0; done < kills; done += 1) {
    await load.whenAcknowledged(1 + Math.floor(fraction() * customers.length * 2));
    await killAndRestart(done % 2 === 0 ? 'engine' : 'gateway');
  }
  await load.whenAcknowledged(customers.length);
  const unknown = await load.stop();
  const settled = await Promise.all(unknown.map((one) => load.sendAgain(one)));
  const books = await ground.books();
  const charges = books.entries.filter(
    ({ account, operation }) => customers.includes(account) && operation === 'CHARGE',
  );
  const entryIds = new Set(charges.map(({ id }) => id));
  return {
    done:
      `${String(customers.length)} customers bought one coffee after another while the gateway and the engine were killed ` +
      `(SIGKILL) ${String(kills)} times; ${String(load.lost())} answers were lost and asked for again`,
    checks: [
      check(
        `acknowledged charges (${String(load.acknowledged.length)}) that are not in the table`,
        load.acknowledged.filter(({ entryId }) => !entryIds.has(entryId)).length,
        0,
      ),
      check('most entries of one order', mostOfOne(charges.map(({ orderId }) => orderId ?? '')), 1),
      check(
        'requests still unknown after asking once more',
        settled.filter((one) => one === undefined).length,
        0,
      ),
      check('wallets that their charges do not explain', customers.filter(isOff(books)).length, 0),
      checkAtLeast('charges acknowledged', load.acknowledged.length, customers.length),
    ],
  };
}

function isOff(books: Books): (account: string) => boolean {
  return (account) => {
    const charges = books.entries.filter(
      (entry) => entry.account === account && entry.operation === 'CHARGE',
    ).length;
    return balanceOfWallet(books, account) !== Number(FUNDS) - charges * COFFEE.price;
  };
}

/** What goes wrong between a gateway and its table. */
const FAULTS: readonly Fault[] = [
  { kind: 'DROP_BEFORE' },
  { kind: 'DROP_AFTER' },
  { kind: 'RESET', after: false },
  { kind: 'RESET', after: true },
  { kind: 'DUPLICATE', answer: 'FIRST' },
  { kind: 'DUPLICATE', answer: 'SECOND' },
  { kind: 'TRUNCATE', keep: 'HALF', cleanly: false },
  { kind: 'TRUNCATE', keep: 'NOTHING', cleanly: true },
  { kind: 'UNPROCESSED', key: 'LAST' },
  { kind: 'SERVER_ERROR', status: 500, after: true },
  { kind: 'SERVER_ERROR', status: 503, after: false },
  { kind: 'ERROR', name: 'ThrottlingException' },
  { kind: 'CANCELED', reasons: ['TransactionConflict'] },
];
const RATE = 0.4;
/** More than one request of ours is ever sent again. */
const ALL_TRIES = 12;

async function tableFaults(ground: ProvingGround): Promise<Trial> {
  const { faults, gatewayUrls, size, fraction } = ground;
  const [url] = gatewayUrls;
  const count = size(60, 20);
  const customers = await customersWith(ground, 'table-faults', 10, 20_000);
  const orders = await openOrders(ground, customers, count);
  const requests = orders.map(({ id, buyer }) => request(buyer, 'charge', { orderId: id }));
  const [outages, broken] = [requests.slice(0, size(10, 4)), requests.slice(size(10, 4))];
  const heard: Heard[] = [];
  // Nothing gets through, or nothing is heard of what got through: the answer may only be what the table knows.
  for (const [index, sent] of outages.entries()) {
    const fault: Fault = index % 2 === 0 ? { kind: 'DROP_BEFORE' } : { kind: 'DROP_AFTER' };
    faults.next({ operation: 'TransactWriteItems', fault, times: ALL_TRIES });
    const answer = await sendOnce(url, sent);
    faults.calm();
    heard.push(answer);
  }
  const early = await ground.books();
  // What is not known has a type too: an error without one would be an answer that promised too much.
  const untyped = heard.filter(({ name }) => name === 'LOST' || name === 'INTERNAL').length;
  const lies = heard.filter(
    ({ retry, entryId }) => retry === undefined && !early.entries.some(({ id }) => id === entryId),
  ).length;
  faults.resetCounts();
  faults.randomly({ seed: Math.floor(fraction() * 2 ** 31), rate: RATE, faults: FAULTS });
  await inParallel(broken, 8, (sent) => insist(url, sent, (answer) => heard.push(answer)));
  const disturbed = faults.seen();
  faults.calm();
  const settled = await inParallel(requests, 8, (sent) => insist(url, sent));
  const charges = standingOf(await ground.books(), orders);
  const entries = (await ground.books()).entries.filter(
    ({ account, operation }) => account.startsWith('table-faults-') && operation === 'CHARGE',
  );
  return {
    done:
      `${String(outages.length)} charges while no write of the gateway got through, or no answer; ${String(broken.length)} more ` +
      `while ${String(RATE * 100)} % of ${String(disturbed)} requests to the table went wrong in ${String(FAULTS.length)} ways`,
    checks: [
      check('charges said to be done that were not', lies, 0),
      check('answers in these outages without a type', untyped, 0),
      check('answers without advice what to do next', heard.filter(({ name }) => name === 'LOST').length, 0),
      check('charges settled under their keys', namedAll(settled), `${String(count)} ChargeSuccess`),
      check('entries of charges', entries.length, count),
      check('most entries of one order', mostOfOne(entries.map(({ orderId }) => orderId ?? '')), 1),
      check('orders paid', charges.paid, count),
    ],
  };
}

function namedAll(heard: readonly Heard[]): string {
  return Object.entries(tally(heard.map(({ name }) => name)))
    .map(([name, count]) => `${String(count)} ${name}`)
    .join(', ');
}

const listSchema = z.object({
  data: z.array(z.looseObject({ metadata: z.record(z.string(), z.string()) })),
});

/** Whose objects of a kind Stripe has: the order that the metadata of each names. */
async function atStripe(
  { simulator }: ProvingGround,
  path: string,
  accounts: string,
): Promise<readonly string[]> {
  const response = await fetch(`${simulator.url}${path}?limit=100`, {
    headers: { authorization: `Bearer ${DEVELOPMENT_STRIPE_SECRET_KEY}` },
  });
  return listSchema
    .parse(await response.json())
    .data.map(({ metadata }) => metadata['order_id'] ?? '')
    .filter((order) => order.startsWith(`${accounts}-`));
}

async function providerFaults(ground: ProvingGround): Promise<Trial> {
  const { simulator, gatewayUrls } = ground;
  const count = ground.size(10, 4);
  const customers = await customersWith(ground, 'stripe-faults', count, 0);
  const orders = await openOrders(ground, customers, count);
  // One after the other: else the repeated request of one order would lose its answer in another's place.
  const opened = await inParallel(orders, 1, async (order) => {
    await simulator.resetNextRequests({ method: 'POST', path: '/v1/checkout/sessions', when: 'after' });
    return await insist(gatewayUrls[1], request(order.buyer, 'checkout', checkoutOf(order)));
  });
  const sessions = await checkOutAll(ground, orders);
  for (const session of sessions) await simulator.payByCard({ session });
  await simulator.idle({ timeoutMs: 30_000 });
  const refunds = await inParallel(orders, 1, async ({ id }) => {
    await simulator.resetNextRequests({ method: 'POST', path: '/v1/refunds', when: 'after' });
    return await insist(gatewayUrls[1], request(OFFICE, 'refund', { orderId: id, amount: '180' }));
  });
  await simulator.calm();
  await simulator.idle({ timeoutMs: 30_000 });
  const [made, given] = [
    await atStripe(ground, '/v1/checkout/sessions', 'stripe-faults'),
    await atStripe(ground, '/v1/refunds', 'stripe-faults'),
  ];
  const { refunded, recordings } = standingOf(await ground.books(), orders);
  return {
    done: `${String(count)} payment pages and ${String(count)} refunds whose first answer from Stripe was lost after its effect`,
    checks: [
      check('pages opened', namedAll(opened), `${String(count)} CheckoutSuccess`),
      check('sessions at Stripe', made.length, count),
      check('refunds made', namedAll(refunds), `${String(count)} RefundSuccess`),
      check('refunds at Stripe', given.length, count),
      check('entries of refunds', recordings('REFUND').length, count),
      check('yen refunded', refunded, count * 180),
    ],
  };
}

const FINISH_MS = 30_000;

async function killedWorker(ground: ProvingGround): Promise<Trial> {
  const count = ground.size(20, 8);
  const customers = await customersWith(ground, 'worker', count, COFFEE.price);
  const orders = await openOrders(ground, customers, count);
  const restarted = ground.killAndRestart('worker');
  await inParallel(orders, 8, ({ id, buyer }) =>
    insist(ground.gatewayUrls[1], request(buyer, 'charge', { orderId: id })),
  );
  await restarted;
  const startMs = performance.now();
  let books = await ground.books();
  while (books.orders.some(({ state }) => state === 'PAID') && performance.now() - startMs < FINISH_MS) {
    await delay(200);
    books = await ground.books();
  }
  return {
    done: `the worker killed (SIGKILL) while ${String(count)} orders were paid, and started again`,
    checks: [
      check('of these orders', standingOf(books, orders).states, `${String(count)} CONFIRMED`),
      check(
        `of all ${String(books.orders.length)} orders: paid and unfinished`,
        books.orders.filter(({ state }) => state === 'PAID').length,
        0,
      ),
    ],
  };
}

const CLAIMS: readonly Claim[] = [
  {
    id: 'killed-processes',
    claim:
      'What was acknowledged survives any kill; what was not acknowledged happens once, when it is asked for again.',
    rules: ['runGuardedCommand', 'createTransactor'],
    tests: ['test/kills/'],
    attempt: killed,
  },
  {
    id: 'table-faults',
    claim:
      'Whatever goes wrong with the table, no answer says more than the table knows, and every answer says what to do next.',
    rules: ['resolveUnknown', 'readCancellation', 'readRequestFailure'],
    tests: ['test/integration/faults/', 'test/unit/ledger/table/'],
    attempt: tableFaults,
  },
  {
    id: 'provider-faults',
    claim: "An answer of Stripe's that got lost makes no second payment page and no second refund.",
    rules: ['providerKey', 'completeSession', 'completeRefund'],
    tests: [
      'test/integration/provider/takeover.test.ts',
      'test/integration/faults/provider-operations.test.ts',
    ],
    attempt: providerFaults,
  },
  {
    id: 'killed-worker',
    claim: 'What a paid order still needs is finished, also by a worker that was killed.',
    rules: ['takeUpOrder', 'startWorker'],
    tests: ['test/integration/fulfilment/'],
    attempt: killedWorker,
  },
];

export const FAILURES: Question = {
  id: 'failures',
  question: 'What happens when something fails in the middle of a payment?',
  claims: CLAIMS,
};
