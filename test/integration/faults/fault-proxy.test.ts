import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  BatchGetItemCommand,
  type DynamoDBClient,
  TransactWriteItemsCommand,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { createDynamoDbClient } from '../../../src/ledger/table/dynamodb.ts';
import { createTable } from '../../../src/ledger/table/table.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import type { Fault } from '../../support/faults.ts';

const tableName = `t${randomUUID()}`;
let proxy: FaultProxy;
let client: DynamoDBClient;

beforeAll(async () => {
  proxy = await startFaultProxy({ target: inject('engineEndpoint') });
  client = createDynamoDbClient({ region: 'local', endpoint: proxy.endpoint, requestTimeoutMs: 300 });
  await createTable(client, { tableName, streams: false, protectedFromLoss: false });
});
afterEach(async () => {
  proxy.calm();
  await proxy.release();
});
afterAll(async () => {
  client.destroy();
  await proxy.stop();
});

async function put(id: string, token = randomUUID()): Promise<void> {
  const Item = { uuid: { S: id }, type: { S: 'X' } };
  const Put = { TableName: tableName, Item, ConditionExpression: 'attribute_not_exists(#type)' };
  const items = [{ Put: { ...Put, ExpressionAttributeNames: { '#type': 'type' } } }];
  await client.send(new TransactWriteItemsCommand({ TransactItems: items, ClientRequestToken: token }));
}

async function isThere(id: string): Promise<boolean> {
  const Keys = [{ uuid: { S: id }, type: { S: 'X' } }];
  const RequestItems = { [tableName]: { Keys, ConsistentRead: true } };
  const { Responses } = await client.send(new BatchGetItemCommand({ RequestItems }));
  return Responses?.[tableName]?.length === 1;
}

/** How a put ended for its sender: `done`, or the error's name. */
async function outcomeOf(fault: Fault, id: string): Promise<string> {
  proxy.next({ operation: 'TransactWriteItems', fault });
  try {
    await put(id);
    return 'done';
  } catch (error) {
    return error instanceof Error ? error.name : 'no error';
  }
}

const LOST: readonly (readonly [name: string, fault: Fault, happened: boolean])[] = [
  ['dropped before the engine', { kind: 'DROP_BEFORE' }, false],
  ['dropped after the engine', { kind: 'DROP_AFTER' }, true],
  ['reset before the engine', { kind: 'RESET', after: false }, false],
  ['reset after the engine', { kind: 'RESET', after: true }, true],
  ['cut in half', { kind: 'TRUNCATE', keep: 'HALF', cleanly: false }, true],
  ['cut to nothing', { kind: 'TRUNCATE', keep: 'NOTHING', cleanly: false }, true],
  ['half, as if it were all', { kind: 'TRUNCATE', keep: 'HALF', cleanly: true }, true],
  ['answered 500 before the engine', { kind: 'SERVER_ERROR', status: 500, after: false }, false],
  ['answered 504 after the engine', { kind: 'SERVER_ERROR', status: 504, after: true }, true],
];

describe('the fault proxy', () => {
  it.each(LOST)('a request %s fails, and is sent once', async (_, fault, happened) => {
    const id = randomUUID();
    proxy.resetCounts();
    expect(await outcomeOf(fault, id)).not.toBe('done');
    expect(proxy.seen('TransactWriteItems')).toBe(1);
    expect(proxy.forwarded('TransactWriteItems')).toBe(happened ? 1 : 0);
    expect(await isThere(id)).toBe(happened);
  });

  it('holds a late request past the time-out of its sender, and lets it commit when told to', async () => {
    const id = randomUUID();
    expect(await outcomeOf({ kind: 'LATE', client: 'TIMES_OUT' }, id)).toBe('TimeoutError');
    expect(await isThere(id)).toBe(false);
    await proxy.release();
    expect(await isThere(id)).toBe(true);
  });

  it('sends a request twice and answers with the second answer', async () => {
    proxy.resetCounts();
    expect(await outcomeOf({ kind: 'DUPLICATE', answer: 'SECOND' }, randomUUID())).toBe('done');
    expect(proxy.forwarded('TransactWriteItems')).toBe(2);
  });

  it('answers errors that the SDK knows by their names', async () => {
    const names = [
      'ThrottlingException',
      'ProvisionedThroughputExceededException',
      'TransactionInProgressException',
    ] as const;
    for (const name of names) expect(await outcomeOf({ kind: 'ERROR', name }, randomUUID())).toBe(name);
  });

  it('cancels with one reason per item', async () => {
    proxy.next({
      operation: 'TransactWriteItems',
      fault: { kind: 'CANCELED', reasons: ['TransactionConflict'] },
    });
    const error = await put(randomUUID()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect(error).toMatchObject({ CancellationReasons: [{ Code: 'TransactionConflict' }] });
  });

  it('does a read but for one key, which it gives back', async () => {
    const ids = [randomUUID(), randomUUID()];
    await Promise.all(ids.map((id) => put(id)));
    const [first, last] = ids.map((id) => ({ uuid: { S: id }, type: { S: 'X' } }));
    const read = async (key: 'FIRST' | 'LAST', Keys = [first, last]): Promise<unknown> => {
      proxy.next({ operation: 'BatchGetItem', fault: { kind: 'UNPROCESSED', key } });
      const RequestItems = {
        [tableName]: { Keys: Keys.filter((one) => one !== undefined), ConsistentRead: true },
      };
      const { Responses, UnprocessedKeys } = await client.send(new BatchGetItemCommand({ RequestItems }));
      return [Responses?.[tableName], UnprocessedKeys?.[tableName]?.Keys];
    };
    expect(await read('FIRST')).toEqual([[last], [first]]);
    expect(await read('LAST')).toEqual([[first], [last]]);
    expect(await read('LAST', [first])).toEqual([undefined, [first]]);
  });

  it('gives the same faults for the same seed', async () => {
    const run = async (): Promise<string[]> => {
      const faults: Fault[] = [{ kind: 'DROP_BEFORE' }, { kind: 'ERROR', name: 'ThrottlingException' }];
      proxy.randomly({ seed: 42, rate: 0.5, faults });
      const outcomes: string[] = [];
      for (let count = 0; count < 12; count += 1) {
        outcomes.push(
          await put(randomUUID()).then(
            () => 'done',
            (error: unknown) => (error instanceof Error ? error.name : ''),
          ),
        );
      }
      proxy.calm();
      return outcomes;
    };
    const first = await run();
    expect(new Set(first).size).toBe(3);
    expect(await run()).toEqual(first);
  });

  it('states the checksum of its own answers', async () => {
    proxy.next({ operation: 'TransactWriteItems', fault: { kind: 'ERROR', name: 'ThrottlingException' } });
    const headers = { 'x-amz-target': 'DynamoDB_20120810.TransactWriteItems' };
    const response = await fetch(proxy.endpoint, { method: 'POST', body: '{}', headers });
    const body = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('x-amz-crc32')).toBe(String(crc32(body)));
    expect(response.headers.get('content-type')).toBe('application/x-amz-json-1.0');
  });
});
