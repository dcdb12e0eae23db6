import {
  type AttributeValue as SdkAttribute,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { DEVELOPMENT_STRIPE_SECRET_KEY } from '../../src/config/config.ts';
import type { AttributeValue } from '../../src/ledger/kernel/attributes.ts';
import { damage, deleteItem } from '../../test/support/damage.ts';
import { wrongPostings, wrongWallets } from './balances.ts';
import { type Books, type SeenEntry, type SeenOrder, TENANT } from './books.ts';
import { type Claim, type Question, type Trial, check, checkAtLeast, checkNone } from './claim.ts';
import { type Actor, OFFICE, insist, request } from './clients.ts';
import { COFFEE, type ProvingGround } from './proving-ground.ts';
import { chargeAll, checkOutAll, customersWith, openOrders } from './shop.ts';

const AUDIT = 'src/cli/audit.ts';

const auditSchema = z.looseObject({
  items: z.number(),
  entries: z.number(),
  orders: z.number(),
  problems: z.array(z.looseObject({ accountId: z.string(), what: z.string() })),
  unsettled: z.array(z.unknown()),
});
type AuditOutput = z.output<typeof auditSchema>;

async function audit(ground: ProvingGround): Promise<AuditOutput & { readonly code: number }> {
  const { code, output } = await ground.command(AUDIT, '--json', '--segments', '4');
  const read = auditSchema.safeParse(code === 0 || code === 1 ? JSON.parse(output) : undefined);
  if (!read.success) throw new Error(`npm run audit ended with ${String(code)}: ${output.slice(-500)}`);
  return { ...read.data, code };
}

interface Key {
  readonly uuid: string;
  readonly type: string;
}

/** What a customer left in the table who paid for a coffee and got ¥100 of it back. */
interface Trace {
  readonly order: SeenOrder;
  readonly charge: SeenEntry;
  readonly refund: SeenEntry;
}

/** One thing that no code of ours does to a table. */
interface Damage {
  readonly name: string;
  /** The item that is changed or made, in the partition of the customer. */
  readonly item: (trace: Trace) => string;
  readonly change: (ground: ProvingGround, key: Key, trace: Trace) => Promise<void>;
}

const balanceType = 'BALANCE#ECOPAY';
const orderType = ({ order }: Trace): string => `ORDER#${order.orderId}`;
const yen = (amount: number): { readonly N: string } => ({ N: String(amount) });

function setting(
  name: string,
  item: Damage['item'],
  path: string,
  value: (trace: Trace) => AttributeValue,
): Damage {
  return { name, item, change: ({ table }, key, trace) => damage(table, key, path, value(trace)) };
}

const DAMAGES: readonly Damage[] = [
  setting(
    'a yen more in a wallet',
    () => balanceType,
    'balance',
    () => yen(COFFEE.price + 101),
  ),
  setting(
    'a yen less in a wallet',
    () => balanceType,
    'balance',
    () => yen(COFFEE.price + 99),
  ),
  {
    name: 'an entry of a charge gone',
    item: ({ charge }) => charge.type,
    change: ({ table }, key) => deleteItem(table, key),
  },
  {
    name: 'an entry of a refund gone',
    item: ({ refund }) => refund.type,
    change: ({ table }, key) => deleteItem(table, key),
  },
  setting(
    'another amount in an entry',
    ({ charge }) => charge.type,
    'postings.0.n',
    () => yen(479),
  ),
  setting(
    'another payer in an entry',
    ({ charge }) => charge.type,
    'postings.0.d',
    () => ({ S: 'issuer' }),
  ),
  setting(
    'another payee in an entry',
    ({ charge }) => charge.type,
    'postings.0.c',
    () => ({
      S: 'merchant:books',
    }),
  ),
  setting('an order refunded in full that was not', orderType, 'refunded', () => yen(COFFEE.price)),
  setting('more left to refund than was paid', orderType, 'refundable', () => yen(COFFEE.price)),
  setting('another amount of an order', orderType, 'amount', () => yen(48)),
  {
    name: 'a wallet in a partition that is no account',
    item: () => balanceType,
    change: async ({ table: { client, tableName } }, { uuid, type }) => {
      const Item = { uuid: { S: uuid }, type: { S: type }, balance: yen(1_000_000) };
      await client.send(new PutItemCommand({ TableName: tableName, Item }));
    },
  },
];
/** The partition of the last damage: no account's. */
const NOWHERE = `${TENANT}@elsewhere`;

function isStray(index: number): boolean {
  return index === DAMAGES.length - 1;
}

/** A customer for each damage, with a paid order of which a part was refunded. */
async function prepare(ground: ProvingGround): Promise<readonly Actor[]> {
  const customers = await customersWith(ground, 'audited', DAMAGES.length, 2 * COFFEE.price);
  const orders = await openOrders(ground, customers, customers.length);
  await chargeAll(ground, orders);
  for (const { id } of orders)
    await insist(ground.gatewayUrls[1], request(OFFICE, 'refund', { orderId: id, amount: '100' }));
  return customers;
}

function traceOf(books: Books, { subject }: Actor): Trace {
  const order = books.orders.find(({ account }) => account === subject);
  const entries = books.entries.filter(({ account }) => account === subject);
  const charge = entries.find(({ operation }) => operation === 'CHARGE');
  const refund = entries.find(({ operation }) => operation === 'REFUND');
  if (order === undefined || charge === undefined || refund === undefined)
    throw new Error(`${subject} has no paid and refunded order`);
  return { order, charge, refund };
}

async function readItem({ table }: ProvingGround, { uuid, type }: Key): Promise<StoredItem> {
  const { Item } = await table.client.send(
    new GetItemCommand({
      TableName: table.tableName,
      Key: { uuid: { S: uuid }, type: { S: type } },
      ConsistentRead: true,
    }),
  );
  return Item;
}

type StoredItem = Record<string, SdkAttribute> | undefined;

async function damageFound(ground: ProvingGround): Promise<Trial> {
  const { table } = ground;
  const customers = await prepare(ground);
  const books = await ground.books();
  const planted = customers.map((customer, index) => {
    const trace = traceOf(books, customer);
    const { item, change, name } = DAMAGES[index] ?? noDamage();
    const owner = isStray(index) ? NOWHERE : `${TENANT}#${customer.subject}`;
    return { name, customer, index, key: { uuid: owner, type: item(trace) }, trace, change };
  });
  const originals = await Promise.all(planted.map(({ key }) => readItem(ground, key)));
  for (const { change, key, trace } of planted) await change(ground, key, trace);
  const damaged = await audit(ground);
  for (const [index, { key }] of planted.entries()) {
    const Item = originals[index];
    if (Item === undefined) await deleteItem(table, key);
    else await table.client.send(new PutItemCommand({ TableName: table.tableName, Item }));
  }
  const after = await audit(ground);
  const named = new Set(damaged.problems.map(({ accountId }) => accountId));
  const missed = planted.filter(({ customer, index, key }) =>
    isStray(index)
      ? !damaged.problems.some((problem) => JSON.stringify(problem).includes(key.uuid))
      : !named.has(customer.subject),
  );
  const untouched = [...named].filter((account) => account !== '' && !account.startsWith('audited-'));
  return {
    done: `${String(planted.length)} damages planted straight in the table, one in the books of each of ${String(planted.length)} customers; npm run audit then, and after they were undone`,
    checks: [
      checkNone(
        'damages that it missed',
        missed.map(({ name }) => name),
      ),
      check('exit code with them', damaged.code, 1),
      check('accounts accused wrongly', untouched.length, 0),
      check('problems found after they were undone', after.problems.length, 0),
    ],
  };
}

function noDamage(): Damage {
  throw new Error('there are as many damages as customers');
}

async function auditFindsNothing(ground: ProvingGround): Promise<Trial> {
  await payAndRefundByCard(ground);
  const report = await audit(ground);
  const books = await ground.books();
  const { wallets, below, off } = wrongWallets(books);
  return {
    done:
      `npm run audit over all that this run has left so far: ${String(report.items)} items, ${String(report.orders)} orders, ` +
      `${String(report.entries)} entries; and the sums once more by arithmetic of the proof's own`,
    checks: [
      check('exit code', report.code, 0),
      check('problems found', report.problems.length, 0),
      check('accounts that it could not judge', report.unsettled.length, 0),
      check(`of ${String(wallets)} balances: not the sum of their postings`, off, 0),
      check('of all balances: below zero', below, 0),
      check('postings that do not balance', wrongPostings(books), 0),
      checkAtLeast('entries audited', report.entries, 10),
    ],
  };
}

/** Payments by card in the table, and refunds, so that there is something to compare with Stripe. */
async function payAndRefundByCard(ground: ProvingGround): Promise<void> {
  const customers = await customersWith(ground, 'audited-card', 3, 0);
  const sessions = await checkOutAll(ground, await openOrders(ground, customers, customers.length));
  for (const session of sessions) {
    const { paymentIntent } = await ground.simulator.payByCard({ session });
    if (paymentIntent !== null)
      await ground.simulator.dashboardRefund({ paymentIntent: paymentIntent.id, amount: 80 });
  }
  await ground.simulator.idle({ timeoutMs: 30_000 });
}

const listedSchema = z.object({
  has_more: z.boolean(),
  data: z.array(
    z.looseObject({
      id: z.string(),
      amount: z.number(),
      status: z.string(),
      payment_intent: z.string().nullish(),
    }),
  ),
});
type Listed = z.output<typeof listedSchema>['data'];

/** Everything of a kind that Stripe's API lists. */
async function listedAtStripe({ simulator }: ProvingGround, path: string): Promise<Listed> {
  const all: Listed[number][] = [];
  for (;;) {
    const last = all.at(-1);
    const after = last === undefined ? '' : `&starting_after=${last.id}`;
    const response = await fetch(`${simulator.url}${path}?limit=100${after}`, {
      headers: { authorization: `Bearer ${DEVELOPMENT_STRIPE_SECRET_KEY}` },
    });
    const page = listedSchema.parse(await response.json());
    all.push(...page.data);
    if (!page.has_more) return all;
  }
}

/** Ids that one side has and the other hasn't. */
function missing(from: readonly string[], others: readonly string[]): number {
  const there = new Set(others);
  return from.filter((id) => !there.has(id)).length;
}

/** What the outside account of the provider took in, or gave, in these entries. */
function atProvider(entries: readonly SeenEntry[], side: 'debit' | 'credit'): number {
  return entries
    .flatMap(({ postings }) => postings)
    .filter((posting) => posting[side] === 'stripe')
    .reduce((sum, { amount }) => sum + amount, 0);
}

async function agreesWithStripe(ground: ProvingGround): Promise<Trial> {
  const succeeded = ({ status }: Listed[number]): boolean => status === 'succeeded';
  const payments = (await listedAtStripe(ground, '/v1/payment_intents')).filter(succeeded);
  const refunds = (await listedAtStripe(ground, '/v1/refunds')).filter(succeeded);
  const books = await ground.books();
  const sum = (listed: Listed): number => listed.reduce((all, { amount }) => all + amount, 0);
  const recorded = books.entries
    .filter(({ operation }) => operation === 'REFUND')
    .map((entry) => entry.provider);
  return {
    done: `${String(payments.length)} payments and ${String(refunds.length)} refunds that Stripe's API lists, compared with the table one by one, from both sides`,
    checks: [
      check(
        'payments that only Stripe has',
        missing(
          payments.map(({ id }) => id),
          books.payments,
        ),
        0,
      ),
      check(
        'payments that only the table has',
        missing(
          books.payments,
          payments.map(({ id }) => id),
        ),
        0,
      ),
      check(
        'refunds that the table lacks',
        missing(
          refunds.map(({ id }) => id),
          recorded.flatMap((id) => id ?? []),
        ),
        0,
      ),
      check('yen that came in through Stripe', atProvider(books.entries, 'debit'), sum(payments)),
      check('yen that went back through Stripe', atProvider(books.entries, 'credit'), sum(refunds)),
      checkAtLeast('payments compared', payments.length, 3),
    ],
  };
}

const CLAIMS: readonly Claim[] = [
  {
    id: 'damage-is-found',
    claim: 'The audit finds what is wrong: a yen too many, an entry gone, an amount changed.',
    rules: ['judgeAccount', 'judgeOrder', 'objectionToEntry'],
    tests: ['test/unit/ledger/audit/', 'test/integration/ledger/audit'],
    attempt: damageFound,
  },
  {
    id: 'audit-finds-nothing',
    claim: 'After all of this an audit of the whole table finds nothing wrong.',
    rules: ['auditTable', 'judgeAccount'],
    tests: ['test/integration/ledger/audit', 'test/soak/'],
    attempt: auditFindsNothing,
  },
  {
    id: 'agrees-with-stripe',
    claim: 'Stripe and the ledger tell of the same payments and refunds, looked at from both sides.',
    rules: ['reconcile', 'findUnbacked'],
    tests: ['test/integration/provider/reconcile', 'test/integration/provider/unbacked.test.ts'],
    attempt: agreesWithStripe,
  },
];

export const AUDITS: Question = {
  id: 'audits',
  question: 'How would anybody notice? Audits and tests',
  claims: CLAIMS,
};
