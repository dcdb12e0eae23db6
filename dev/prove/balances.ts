import { type Books, balanceOfWallet, postedSum } from './books.ts';
import { type Claim, type Question, type Trial, check, checkAtLeast } from './claim.ts';
import { type Actor, ADMIN, type Heard, OFFICE, TILL, insist, request } from './clients.ts';
import { COFFEE, type ProvingGround } from './proving-ground.ts';
import { chargeAll, customersWith, inParallel, openOrders, shuffled } from './shop.ts';

function named(heard: readonly Heard[], name: string): number {
  return heard.filter((one) => one.name === name).length;
}

/** Of everything in the table: wallets below zero, and those that aren't the sum of their postings. */
export function wrongWallets(books: Books): {
  readonly wallets: number;
  readonly below: number;
  readonly off: number;
} {
  const { balances } = books;
  return {
    wallets: balances.length,
    below: balances.filter(({ amount }) => amount < 0).length,
    off: balances.filter(({ account, asset, amount }) => amount !== postedSum(books, account, asset)).length,
  };
}

/** Postings that don't move one positive amount from one account to another. */
export function wrongPostings({ entries }: Books): number {
  const postings = entries.flatMap((entry) => entry.postings);
  return postings.filter(({ debit, credit, amount }) => debit === credit || !(amount > 0)).length;
}

async function neverBelowZero(ground: ProvingGround): Promise<Trial> {
  const [atOnce, covered] = [ground.size(100, 40), ground.size(37, 15)];
  const funds = covered * COFFEE.price;
  const customers = await customersWith(ground, 'below-zero', 1, funds);
  const orders = await openOrders(ground, customers, atOnce);
  const heard = await Promise.all(
    orders.map(({ id, buyer }, index) =>
      insist(
        ground.gatewayUrls[index % 2] ?? ground.gatewayUrls[0],
        request(buyer, 'charge', { orderId: id }),
      ),
    ),
  );
  const books = await ground.books();
  const mine = books.entries.filter(
    ({ account, operation }) => account === 'below-zero-1' && operation === 'CHARGE',
  );
  return {
    done: `${String(atOnce)} charges of ¥480 at once, over two gateways, on one balance of ¥${String(funds)}, which covers ${String(covered)}`,
    checks: [
      check('charges that went through', named(heard, 'ChargeSuccess'), covered),
      check('charges refused as InsufficientBalance', named(heard, 'InsufficientBalance'), atOnce - covered),
      check('entries of charges', mine.length, covered),
      check('yen left', balanceOfWallet(books, 'below-zero-1'), 0),
    ],
  };
}

/** Some operations of a customer's wallet, and what each would make of it. */
function someOperations(
  { size, fraction }: ProvingGround,
  buyer: Actor,
  orderIds: readonly string[],
): readonly ReturnType<typeof request>[] {
  const accountId = buyer.subject;
  const others = Array.from({ length: size(8, 4) }, () => {
    const amount = String(10 + Math.floor(fraction() * 300));
    const signed = fraction() < 0.5 ? amount : `-${amount}`;
    return fraction() < 0.5
      ? request(TILL, 'topUp', { accountId, amount, method: 'CASH' })
      : request(ADMIN, 'adjustBalance', {
          accountId,
          asset: 'ECOPAY',
          amount: signed,
          reason: 'a correction',
        });
  });
  return [...others, ...orderIds.map((orderId) => request(buyer, 'charge', { orderId }))];
}

async function sumOfPostings(ground: ProvingGround): Promise<Trial> {
  const { gatewayUrls, fraction, size } = ground;
  const customers = await customersWith(ground, 'postings', size(12, 5), 2_000);
  const orders = await openOrders(ground, customers, customers.length * size(6, 3));
  const requests = customers.flatMap((buyer) =>
    someOperations(
      ground,
      buyer,
      orders.filter((order) => order.buyer === buyer).map(({ id }) => id),
    ),
  );
  const heard = await inParallel(shuffled(requests, fraction), 32, async (sent, index) => ({
    sent,
    answer: await insist(gatewayUrls[index % 2] ?? gatewayUrls[0], sent),
  }));
  const done = heard.filter(({ answer }) => answer.retry === undefined);
  const books = await ground.books();
  const { wallets, below, off } = wrongWallets(books);
  const unexpected = customers.filter(({ subject }) => {
    const sum = done
      .filter(({ sent }) => sent.actor.subject === subject || sent.input['accountId'] === subject)
      .reduce(
        (all, { sent }) => all + (sent.operation === 'charge' ? -COFFEE.price : Number(sent.input['amount'])),
        2_000,
      );
    return balanceOfWallet(books, subject) !== sum;
  });
  return {
    done:
      `${String(requests.length)} charges, cash top-ups and corrections of ${String(customers.length)} wallets at once, ` +
      `in random order, over two gateways; ${String(done.length)} went through`,
    checks: [
      check('wallets that are not what the answers said', unexpected.length, 0),
      check(`of all ${String(wallets)} balances: not the sum of their postings`, off, 0),
      check('of all balances: below zero', below, 0),
      check(
        `of all ${String(books.entries.length)} entries: postings that do not balance`,
        wrongPostings(books),
        0,
      ),
      checkAtLeast('operations that went through', done.length, Math.floor(requests.length / 3)),
    ],
  };
}

async function refundBounded(ground: ProvingGround): Promise<Trial> {
  const { gatewayUrls, size } = ground;
  const count = size(15, 6);
  const part = 120;
  const customers = await customersWith(ground, 'refund-bounded', count, COFFEE.price);
  const orders = await openOrders(ground, customers, count);
  await chargeAll(ground, orders);
  const requests = orders.flatMap(({ id }) =>
    Array.from({ length: 8 }, () => request(OFFICE, 'refund', { orderId: id, amount: String(part) })),
  );
  const heard = await inParallel(requests, 32, (sent, index) =>
    insist(gatewayUrls[index % 2] ?? gatewayUrls[0], sent),
  );
  const books = await ground.books();
  const wanted = new Set(orders.map(({ id }) => id));
  const seen = books.orders.filter(({ id }) => wanted.has(id));
  const fitting = COFFEE.price / part;
  return {
    done: `${String(count)} paid orders of ¥480, each asked for 8 refunds of ¥${String(part)} at once: ${String(fitting)} fit`,
    checks: [
      check('refunds that went through', named(heard, 'RefundSuccess'), count * fitting),
      check(
        'orders refunded by anything but ¥480',
        seen.filter(({ refunded }) => refunded !== COFFEE.price).length,
        0,
      ),
      check(
        'wallets that hold anything but ¥480 again',
        customers.filter(({ subject }) => balanceOfWallet(books, subject) !== COFFEE.price).length,
        0,
      ),
    ],
  };
}

async function capHolds(ground: ProvingGround): Promise<Trial> {
  const count = ground.size(8, 3);
  const accounts = Array.from({ length: count }, (_, index) => `cap-holds-${String(index + 1)}`);
  const requests = accounts.flatMap((accountId) =>
    Array.from({ length: 10 }, () => request(TILL, 'topUp', { accountId, amount: '8000', method: 'CASH' })),
  );
  const heard = await inParallel(requests, 32, (sent, index) =>
    insist(ground.gatewayUrls[index % 2] ?? ground.gatewayUrls[0], sent),
  );
  const books = await ground.books();
  return {
    done: `${String(count)} empty wallets with a cap of ¥50,000, each topped up 10 times by ¥8,000 at once: 6 fit`,
    checks: [
      check('top-ups that went through', named(heard, 'TopUpSuccess'), count * 6),
      check('top-ups refused as CapExceeded', named(heard, 'CapExceeded'), count * 4),
      check(
        'wallets that hold anything but ¥48,000',
        accounts.filter((account) => balanceOfWallet(books, account) !== 48_000).length,
        0,
      ),
    ],
  };
}

const CLAIMS: readonly Claim[] = [
  {
    id: 'never-below-zero',
    claim: 'A balance never goes below zero, however many charges come at once.',
    rules: ['recordEntry', 'boundCondition'],
    tests: ['test/property/concurrency.property.test.ts', 'test/integration/ledger/charge.test.ts'],
    attempt: neverBelowZero,
  },
  {
    id: 'sum-of-postings',
    claim:
      'A balance is the sum of its postings, and every posting moves one amount from one account to another.',
    rules: ['recordEntry', 'sumPostings'],
    tests: ['test/property/ledger.property.test.ts', 'test/unit/ledger/items/plan.test.ts'],
    attempt: sumOfPostings,
  },
  {
    id: 'refund-bounded',
    claim: 'An order is never refunded past what was paid.',
    rules: ['refundObjection', 'updateOrder'],
    tests: [
      'test/integration/ledger/refunds-and-rewards.test.ts',
      'test/unit/ledger/model/orders/refunds.test.ts',
    ],
    attempt: refundBounded,
  },
  {
    id: 'cap-holds',
    claim: 'A wallet is never topped up past its cap.',
    rules: ['capCredit', 'checkRoom'],
    tests: ['test/integration/faults/guards.test.ts', 'test/integration/ledger/limits.test.ts'],
    attempt: capHolds,
  },
];

export const BALANCES: Question = {
  id: 'balances',
  question: 'Can a balance be wrong, or go below zero?',
  claims: CLAIMS,
};
