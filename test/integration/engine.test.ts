import { randomUUID } from 'node:crypto';
import {
  BatchGetItemCommand,
  CreateTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateTimeToLiveCommand,
  type AttributeValue,
  type TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

/** What the ledger takes for granted of any engine that it runs on (docs/DESIGN.md §3, §5, §6). */

const TableName = `engine-${randomUUID()}`;
const client = new DynamoDBClient({
  endpoint: inject('engineEndpoint'),
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
});

beforeAll(async () => {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['uuid', 'type', 'merchant', 'created'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: [
        { AttributeName: 'uuid', KeyType: 'HASH' },
        { AttributeName: 'type', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by_merchant',
          KeySchema: [
            { AttributeName: 'merchant', KeyType: 'HASH' },
            { AttributeName: 'created', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    }),
  );
});

afterAll(() => {
  client.destroy();
});

function item(
  uuid: string,
  more: Readonly<Record<string, AttributeValue>> = {},
): Record<string, AttributeValue> {
  return { uuid: { S: uuid }, type: { S: 'BALANCE#ECOPAY' }, ...more };
}

async function put(Item: Record<string, AttributeValue>): Promise<void> {
  await client.send(new PutItemCommand({ TableName, Item }));
}

async function read(uuid: string): Promise<Record<string, AttributeValue> | undefined> {
  const Keys = [item(uuid)];
  const { Responses } = await client.send(
    new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead: true } } }),
  );
  return Responses?.[TableName]?.[0];
}

function putIfAbsent(Item: Record<string, AttributeValue>): TransactWriteItem {
  return {
    Put: {
      TableName,
      Item,
      ConditionExpression: 'attribute_not_exists(#uuid)',
      ExpressionAttributeNames: { '#uuid': 'uuid' },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
}

function addTo(uuid: string, amount: string): TransactWriteItem {
  return {
    Update: {
      TableName,
      Key: item(uuid),
      UpdateExpression: 'ADD #balance :amount',
      ExpressionAttributeNames: { '#balance': 'balance' },
      ExpressionAttributeValues: { ':amount': { N: amount } },
    },
  };
}

describe('a transaction', () => {
  it('does nothing when one condition fails, and returns the old item of the one that failed', async () => {
    const balance = { N: '12345678901234567890.123456' };
    await put(item('w1', { balance }));
    const transaction = new TransactWriteItemsCommand({
      TransactItems: [addTo('w2', '1'), putIfAbsent(item('w1'))],
    });
    const error: unknown = await client.send(transaction).catch((reason: unknown) => reason);
    if (!(error instanceof TransactionCanceledException))
      throw new Error('The transaction was not cancelled.');
    expect(error.CancellationReasons?.map((reason) => reason.Code)).toEqual([
      'None',
      'ConditionalCheckFailed',
    ]);
    expect(error.CancellationReasons?.[1]?.Item).toEqual(item('w1', { balance }));
    expect(await read('w2')).toBeUndefined();
  });

  it('sent twice with the same client token is applied once', async () => {
    const transaction = { TransactItems: [addTo('w3', '10')], ClientRequestToken: randomUUID() };
    await client.send(new TransactWriteItemsCommand(transaction));
    await client.send(new TransactWriteItemsCommand(transaction));
    expect(await read('w3')).toEqual(item('w3', { balance: { N: '10' } }));
  });

  it('with a used client token and other contents is refused', async () => {
    const ClientRequestToken = randomUUID();
    const send = (amount: string): Promise<unknown> =>
      client.send(
        new TransactWriteItemsCommand({ TransactItems: [addTo('w4', amount)], ClientRequestToken }),
      );
    await send('10');
    await expect(send('11')).rejects.toMatchObject({ name: 'IdempotentParameterMismatchException' });
    expect(await read('w4')).toEqual(item('w4', { balance: { N: '10' } }));
  });
});

describe('a table', () => {
  it('lists through a sparse index only the items that carry its keys', async () => {
    const created = { S: '2026-11-30' };
    await put(item('o1', { merchant: { S: 'cafe' }, created }));
    await put(item('o2', { created }));
    const { Items } = await client.send(
      new QueryCommand({
        TableName,
        IndexName: 'by_merchant',
        KeyConditionExpression: '#merchant = :merchant',
        ExpressionAttributeNames: { '#merchant': 'merchant' },
        ExpressionAttributeValues: { ':merchant': { S: 'cafe' } },
      }),
    );
    expect(Items).toEqual([item('o1', { merchant: { S: 'cafe' }, created })]);
  });

  it('keeps a time-to-live attribute', async () => {
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName,
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      }),
    );
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'ttl', TimeToLiveStatus: 'ENABLED' });
  });
});
