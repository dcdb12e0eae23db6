import { type AttributeValue, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { encodeNodeId } from '../../src/ledger/items/node-ids.ts';

/*
 * What stands in the table, read with a plain Scan and understood here, by docs/DESIGN.md §3 alone: what judges the ledger
 * shares no arithmetic with it. Amounts are whole numbers: the demo tenant counts in yen and points.
 */

export interface SeenOrder {
  /** As clients know it. */
  readonly id: string;
  readonly orderId: string;
  readonly account: string;
  readonly kind: string;
  readonly state: string;
  readonly amount: number;
  readonly refunded: number;
  /** Checkout sessions of its attempts. */
  readonly sessions: readonly string[];
  /** The provider's payment that paid it. */
  readonly paidBy: string | undefined;
}

export interface SeenPosting {
  readonly debit: string;
  readonly credit: string;
  readonly asset: string;
  readonly amount: number;
}

export interface SeenEntry {
  readonly id: string;
  readonly account: string;
  readonly type: string;
  readonly operation: string;
  readonly orderId: string | undefined;
  readonly provider: string | undefined;
  readonly postings: readonly SeenPosting[];
}

export interface SeenBalance {
  readonly account: string;
  readonly asset: string;
  readonly amount: number;
}

export interface Books {
  readonly items: number;
  readonly orders: readonly SeenOrder[];
  readonly entries: readonly SeenEntry[];
  readonly balances: readonly SeenBalance[];
  /** Payments of the provider that were recorded. */
  readonly payments: readonly string[];
  /** Outcomes of the provider's events by their ids. */
  readonly events: ReadonlyMap<string, string>;
}

/** The tenant that everything happens in. */
export const TENANT = 'demo';
const SEGMENTS = 4;

const orderSchema = z.looseObject({
  kind: z.string(),
  state: z.string(),
  amount: z.number(),
  refunded: z.number().default(0),
  attempts: z.array(z.looseObject({ i: z.string().optional() })).default([]),
  payment: z.looseObject({ i: z.string().optional() }).optional(),
});
const entrySchema = z.looseObject({
  op: z.string(),
  order: z.string().optional(),
  provider: z.string().optional(),
  postings: z.array(z.object({ d: z.string(), c: z.string(), a: z.string(), n: z.number() })),
});
const balanceSchema = z.looseObject({ balance: z.number() });
const eventSchema = z.looseObject({ outcome: z.string() });

/** An attribute as a plain value. */
function plain(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.L !== undefined) return value.L.map(plain);
  if (value.M !== undefined) return plainItem(value.M);
  return value.BOOL;
}

function plainItem(item: Readonly<Record<string, AttributeValue>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plain(value)]));
}

async function readSegment(client: DynamoDBClient, tableName: string, segment: number): Promise<Stored[]> {
  const found: Stored[] = [];
  let from: Record<string, AttributeValue> | undefined;
  do {
    const page: { Items?: Stored[] | undefined; LastEvaluatedKey?: Stored | undefined } = await client.send(
      new ScanCommand({
        TableName: tableName,
        ConsistentRead: true,
        Segment: segment,
        TotalSegments: SEGMENTS,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    found.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
  return found;
}

type Stored = Record<string, AttributeValue>;

/** Reads the whole table. */
export async function readBooks(client: DynamoDBClient, tableName: string): Promise<Books> {
  const segments = Array.from({ length: SEGMENTS }, (_, segment) => segment);
  const stored = (
    await Promise.all(segments.map((segment) => readSegment(client, tableName, segment)))
  ).flat();
  const books = {
    items: stored.length,
    orders: [] as SeenOrder[],
    entries: [] as SeenEntry[],
    balances: [] as SeenBalance[],
    payments: [] as string[],
    events: new Map<string, string>(),
  };
  for (const one of stored) {
    const { uuid, type, ...item } = plainItem(one);
    const [tenant = '', account = ''] = String(uuid).split('#');
    const [kind = '', ...rest] = String(type).split('#');
    const id = rest.join('#');
    if (tenant === 'stripe' && kind === 'PAYMENT') books.payments.push(account);
    if (tenant === 'stripe' && kind === 'EVENT') books.events.set(account, eventSchema.parse(item).outcome);
    if (tenant !== TENANT) continue;
    if (kind === 'BALANCE')
      books.balances.push({ account, asset: id, amount: balanceSchema.parse(item).balance });
    if (kind === 'ORDER') books.orders.push(seenOrder(account, id, item));
    if (kind === 'ENTRY') books.entries.push(seenEntry(account, id, item));
  }
  return books;
}

function seenOrder(account: string, orderId: string, item: unknown): SeenOrder {
  const { kind, state, amount, refunded, attempts, payment } = orderSchema.parse(item);
  return {
    id: encodeNodeId('Order', TENANT, account, orderId),
    orderId,
    account,
    kind,
    state,
    amount,
    refunded,
    sessions: attempts.flatMap(({ i }) => (i === undefined ? [] : [i])),
    paidBy: payment?.i,
  };
}

function seenEntry(account: string, entryId: string, item: unknown): SeenEntry {
  const { op, order, provider, postings } = entrySchema.parse(item);
  return {
    id: encodeNodeId('Entry', TENANT, account, entryId),
    account,
    type: `ENTRY#${entryId}`,
    operation: op,
    orderId: order,
    provider,
    postings: postings.map(({ d, c, a, n }) => ({ debit: d, credit: c, asset: a, amount: n })),
  };
}

/** What the postings of a wallet come to. */
export function postedSum({ entries }: Books, account: string, asset: string): number {
  const wallet = `wallet:${account}`;
  return entries
    .filter((entry) => entry.account === account)
    .flatMap(({ postings }) => postings)
    .filter((posting) => posting.asset === asset)
    .reduce((sum, { debit, credit, amount }) => {
      const into = credit === wallet ? amount : 0;
      return sum + into - (debit === wallet ? amount : 0);
    }, 0);
}

export function balanceOfWallet({ balances }: Books, account: string, asset = 'ECOPAY'): number {
  return balances.find((one) => one.account === account && one.asset === asset)?.amount ?? 0;
}

/** How many there are of each, the most frequent count: more than one of a thing is one too many. */
export function mostOfOne(names: readonly string[]): number {
  return Math.max(0, ...Object.values(tally(names)));
}

export function tally(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}
