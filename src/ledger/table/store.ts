import {
  BatchGetItemCommand,
  type ConsumedCapacity,
  type DynamoDBClient,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  TransactGetItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { type StoredItem, readString } from '../kernel/attributes.ts';
import type { Ids } from '../kernel/ids.ts';
import type { ItemKey } from '../kernel/keys.ts';
import { readRequestFailure } from './request-errors.ts';

/** The table couldn't be read within its retries: an outage, never an answer. */
export class TableUnavailableError extends Error {
  constructor() {
    super('the table could not be read');
    this.name = 'TableUnavailableError';
  }
}

export interface QueryRequest {
  readonly uuid: string;
  readonly prefix: string;
  readonly limit: number;
  readonly newestFirst: boolean;
  /** Only what comes after this sort key, in the direction of reading. */
  readonly after?: string | undefined;
}

/** A sparse, keys-only index: its partition attribute, its sort attribute. */
export const INDEXES = {
  by_merchant: { hash: 'merchant', range: 'created' },
  due: { hash: 'due_shard', range: 'due_at' },
  listed: { hash: 'listed', range: 'listed_at' },
} as const;
export type IndexName = keyof typeof INDEXES;

export interface IndexRequest {
  readonly index: IndexName;
  readonly hash: string;
  readonly limit: number;
  readonly newestFirst: boolean;
  /** Inclusive bounds of the sort attribute, in milliseconds. */
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** Continues after this entry: its sort attribute and its key. */
  readonly after?: IndexEntry | undefined;
}

export interface IndexEntry extends ItemKey {
  readonly atMs: number;
}

export interface ScanPage {
  readonly items: readonly StoredItem[];
  readonly next: StoredItem | undefined;
}

/** Reads of the table. By key they are consistent; through an index they can't be, so keys alone come from there. */
export interface Store {
  /** One consistent read of up to 100 keys; the answer is in their order, undefined where there is no item. */
  readonly get: (keys: readonly ItemKey[]) => Promise<readonly (StoredItem | undefined)[]>;
  /** The same, all of it as it stood at one moment: what `get` answers may be of several. */
  readonly snapshot: (keys: readonly ItemKey[]) => Promise<readonly (StoredItem | undefined)[]>;
  /** A consistent range of one partition. */
  readonly query: (request: QueryRequest) => Promise<readonly StoredItem[]>;
  readonly queryIndex: (request: IndexRequest) => Promise<readonly IndexEntry[]>;
  /** One page of one of `segments` parts of the whole table, of at most `limit` items. */
  readonly scan: (
    segment: number,
    segments: number,
    from: StoredItem | undefined,
    limit?: number,
  ) => Promise<ScanPage>;
}

export interface StoreOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly ids: Ids;
  readonly wait: (ms: number) => Promise<void>;
  /** Told of the capacity units of each read by key, partition or scan; asked for only where somebody listens. */
  readonly onConsumed?: (units: number) => void;
}

const READ_RETRIES = 4;

export function createStore(options: StoreOptions): Store {
  return {
    get: (keys) => get(options, keys),
    snapshot: (keys) => snapshot(options, keys),
    query: (request) => query(options, request),
    queryIndex: (request) => queryIndex(options, request),
    scan: (segment, segments, from, limit) => scan(options, { segment, segments, from, limit }),
  };
}

/** What an answer always has one of, also when nothing was found. */
interface Answer {
  readonly Responses?: unknown;
  readonly Items?: unknown;
}

/** An empty body reads as an answer without content: never as "there is nothing", which would be acted upon. */
function whole<Value extends Answer>(answer: Value): Value {
  if (answer.Responses === undefined && answer.Items === undefined) {
    throw new Error('an answer of the table came without its content');
  }
  return answer;
}

async function retried<Value extends Answer>(
  { ids, wait }: StoreOptions,
  read: () => Promise<Value>,
): Promise<Value> {
  for (let tries = 0; ; tries += 1) {
    try {
      return whole(await read());
    } catch (error) {
      if (readRequestFailure(error).kind === 'INVALID') throw error;
      if (tries === READ_RETRIES) throw new TableUnavailableError();
      await wait(50 * 2 ** tries * (1 + ids.fraction() / 2));
    }
  }
}

async function get(
  options: StoreOptions,
  keys: readonly ItemKey[],
): Promise<readonly (StoredItem | undefined)[]> {
  if (keys.length === 0) return [];
  const found = new Map<string, StoredItem>();
  const distinct = new Map(
    keys.map((key) => [keyText(key), { uuid: { S: key.uuid }, type: { S: key.type } }]),
  );
  let wanted = [...distinct.values()];
  for (let rounds = 0; wanted.length > 0; rounds += 1) {
    if (rounds > READ_RETRIES) throw new TableUnavailableError();
    if (rounds > 0) await options.wait(50 * 2 ** rounds * (1 + options.ids.fraction() / 2));
    const RequestItems = { [options.tableName]: { Keys: wanted, ConsistentRead: true } };
    const answer = await retried(options, () =>
      options.client.send(new BatchGetItemCommand({ RequestItems, ...capacityAsked(options) })),
    );
    for (const consumed of answer.ConsumedCapacity ?? []) tell(options, consumed);
    for (const item of answer.Responses?.[options.tableName] ?? []) found.set(itemKeyText(item), item);
    wanted = (answer.UnprocessedKeys?.[options.tableName]?.Keys ?? []).map((key) => ({
      uuid: { S: readString(key, 'uuid') },
      type: { S: readString(key, 'type') },
    }));
  }
  return keys.map((key) => found.get(keyText(key)));
}

async function snapshot(
  options: StoreOptions,
  keys: readonly ItemKey[],
): Promise<readonly (StoredItem | undefined)[]> {
  if (keys.length === 0) return [];
  const TransactItems = keys.map(({ uuid, type }) => ({
    Get: { TableName: options.tableName, Key: { uuid: { S: uuid }, type: { S: type } } },
  }));
  const { Responses = [] } = await retried(options, () =>
    options.client.send(new TransactGetItemsCommand({ TransactItems })),
  );
  if (Responses.length !== keys.length) throw new TableUnavailableError();
  return Responses.map(({ Item }) => Item);
}

async function query(
  options: StoreOptions,
  { uuid, prefix, limit, newestFirst, after }: QueryRequest,
): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = [];
  let start: QueryCommandInput['ExclusiveStartKey'] =
    after === undefined ? undefined : { uuid: { S: uuid }, type: { S: after } };
  do {
    const page = await retried(options, () =>
      options.client.send(
        new QueryCommand({
          TableName: options.tableName,
          ConsistentRead: true,
          KeyConditionExpression: '#uuid = :uuid AND begins_with(#type, :prefix)',
          ExpressionAttributeNames: { '#uuid': 'uuid', '#type': 'type' },
          ExpressionAttributeValues: { ':uuid': { S: uuid }, ':prefix': { S: prefix } },
          ScanIndexForward: !newestFirst,
          Limit: limit - items.length,
          ExclusiveStartKey: start,
          ...capacityAsked(options),
        }),
      ),
    );
    tell(options, page.ConsumedCapacity);
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start !== undefined && items.length < limit);
  return items;
}

async function queryIndex(options: StoreOptions, request: IndexRequest): Promise<readonly IndexEntry[]> {
  const { hash, range } = INDEXES[request.index];
  const entries: IndexEntry[] = [];
  let start: QueryCommandInput['ExclusiveStartKey'] =
    request.after === undefined ? undefined : startKey(request, request.after);
  do {
    const page = await retried(options, () =>
      options.client.send(
        new QueryCommand({
          TableName: options.tableName,
          IndexName: request.index,
          KeyConditionExpression: '#hash = :hash AND #range BETWEEN :from AND :until',
          ExpressionAttributeNames: { '#hash': hash, '#range': range },
          ExpressionAttributeValues: {
            ':hash': { S: request.hash },
            ':from': { N: String(request.fromMs ?? 0) },
            ':until': { N: String(request.untilMs ?? Number.MAX_SAFE_INTEGER) },
          },
          ScanIndexForward: !request.newestFirst,
          Limit: request.limit - entries.length,
          ExclusiveStartKey: start,
        }),
      ),
    );
    for (const item of page.Items ?? []) {
      entries.push({
        uuid: readString(item, 'uuid'),
        type: readString(item, 'type'),
        atMs: Number.parseInt(item[range]?.N ?? '0', 10),
      });
    }
    start = page.LastEvaluatedKey;
  } while (start !== undefined && entries.length < request.limit);
  return entries;
}

interface ScanRequest {
  readonly segment: number;
  readonly segments: number;
  readonly from: StoredItem | undefined;
  readonly limit: number | undefined;
}

async function scan(
  options: StoreOptions,
  { segment, segments, from, limit }: ScanRequest,
): Promise<ScanPage> {
  const page = await retried(options, () =>
    options.client.send(
      new ScanCommand({
        TableName: options.tableName,
        ConsistentRead: true,
        Segment: segment,
        TotalSegments: segments,
        Limit: limit,
        ExclusiveStartKey:
          from === undefined
            ? undefined
            : { uuid: { S: readString(from, 'uuid') }, type: { S: readString(from, 'type') } },
        ...capacityAsked(options),
      }),
    ),
  );
  tell(options, page.ConsumedCapacity);
  return { items: page.Items ?? [], next: page.LastEvaluatedKey };
}

function capacityAsked({ onConsumed }: StoreOptions): { readonly ReturnConsumedCapacity?: 'TOTAL' } {
  return onConsumed === undefined ? {} : { ReturnConsumedCapacity: 'TOTAL' };
}

function tell({ onConsumed }: StoreOptions, consumed: ConsumedCapacity | undefined): void {
  if (consumed?.CapacityUnits !== undefined) onConsumed?.(consumed.CapacityUnits);
}

function startKey({ index, hash }: IndexRequest, after: IndexEntry): QueryCommandInput['ExclusiveStartKey'] {
  return {
    uuid: { S: after.uuid },
    type: { S: after.type },
    [INDEXES[index].hash]: { S: hash },
    [INDEXES[index].range]: { N: String(after.atMs) },
  };
}

function keyText(key: ItemKey): string {
  return `${key.uuid}\n${key.type}`;
}

function itemKeyText(item: StoredItem): string {
  return keyText({ uuid: readString(item, 'uuid'), type: readString(item, 'type') });
}
