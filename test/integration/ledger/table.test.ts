import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { createDynamoDbClient } from '../../../src/ledger/table/dynamodb.ts';
import { createTable } from '../../../src/ledger/table/table.ts';

/** The table of infra/table.json, which production deploys, is the one that everything here is tested on. */

const attribute = z.object({ AttributeName: z.string(), AttributeType: z.string() });
const key = z.object({ AttributeName: z.string(), KeyType: z.string() });
const templateSchema = z.object({
  Resources: z.object({
    Table: z.object({
      DeletionPolicy: z.string(),
      Properties: z.object({
        BillingMode: z.string(),
        DeletionProtectionEnabled: z.boolean(),
        AttributeDefinitions: z.array(attribute),
        KeySchema: z.array(key),
        GlobalSecondaryIndexes: z.array(
          z.object({
            IndexName: z.string(),
            KeySchema: z.array(key),
            Projection: z.object({ ProjectionType: z.string() }),
          }),
        ),
        TimeToLiveSpecification: z.object({ AttributeName: z.string(), Enabled: z.boolean() }),
        PointInTimeRecoverySpecification: z.object({ PointInTimeRecoveryEnabled: z.boolean() }),
        StreamSpecification: z.object({ StreamViewType: z.string() }),
      }),
    }),
  }),
});
type Properties = z.output<typeof templateSchema>['Resources']['Table']['Properties'];

const tableName = `t${randomUUID()}`;
let client: DynamoDBClient;
let template: Properties;
beforeAll(async () => {
  client = createDynamoDbClient({ region: 'local', endpoint: inject('engineEndpoint') });
  await createTable(client, { tableName, streams: false, protectedFromLoss: false });
  const text = await readFile(join(import.meta.dirname, '../../../infra/table.json'), 'utf8');
  template = templateSchema.parse(JSON.parse(text)).Resources.Table.Properties;
});
afterAll(() => {
  client.destroy();
});

function byName<Name extends string, Named extends Partial<Readonly<Record<Name, unknown>>>>(
  name: Name,
  list: readonly Named[] | undefined,
): readonly Named[] {
  return [...(list ?? [])].sort((one, other) => String(one[name]).localeCompare(String(other[name])));
}

describe('infra/table.json', () => {
  it('has the keys, indexes and TTL of the table that the programs make', async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
    expect(template.KeySchema).toEqual(Table?.KeySchema);
    expect(byName('AttributeName', template.AttributeDefinitions)).toEqual(
      byName('AttributeName', Table?.AttributeDefinitions),
    );
    const indexes = Table?.GlobalSecondaryIndexes?.map(({ IndexName = '', KeySchema, Projection }) => ({
      IndexName,
      KeySchema,
      Projection: { ProjectionType: Projection?.ProjectionType },
    }));
    expect(byName('IndexName', template.GlobalSecondaryIndexes)).toEqual(byName('IndexName', indexes));
    const { TimeToLiveDescription } = await client.send(
      new DescribeTimeToLiveCommand({ TableName: tableName }),
    );
    expect(template.TimeToLiveSpecification.AttributeName).toBe(TimeToLiveDescription?.AttributeName);
  });

  it('keeps what is in it: on demand, protected, recoverable, with both images for the relay', () => {
    expect(template).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: true,
      TimeToLiveSpecification: { Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
  });
});

it('a table that several make at once is made once, and each of them finds it whole', async () => {
  const name = `t${randomUUID()}`;
  const options = { tableName: name, streams: false, protectedFromLoss: false };
  const made = await Promise.all([1, 2, 3].map(() => createTable(client, options)));
  expect(made.filter((isMine) => isMine)).toHaveLength(1);
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: name }));
  expect(TimeToLiveDescription).toEqual({ AttributeName: 'ttl', TimeToLiveStatus: 'ENABLED' });
});

describe('a table whose maker died before it was done', () => {
  const recovery = { asked: 0, on: false };
  let dying: DynamoDBClient;
  beforeEach(() => {
    recovery.asked = 0;
    recovery.on = false;
    dying = createDynamoDbClient({ region: 'local', endpoint: inject('engineEndpoint') });
  });
  afterEach(() => {
    dying.destroy();
  });

  /** No local engine knows continuous backups: this is what AWS says of them. */
  function withRecovery(of: DynamoDBClient): void {
    of.middlewareStack.add(
      (next, { commandName }) =>
        async (given) => {
          if (commandName === 'UpdateContinuousBackupsCommand') {
            recovery.asked += 1;
            recovery.on = true;
            return { output: { $metadata: {} }, response: undefined };
          }
          if (commandName !== 'DescribeContinuousBackupsCommand') return await next(given);
          const PointInTimeRecoveryStatus = recovery.on ? 'ENABLED' : 'DISABLED';
          const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus };
          const ContinuousBackupsDescription = { PointInTimeRecoveryDescription };
          return { output: { $metadata: {}, ContinuousBackupsDescription }, response: undefined };
        },
      { step: 'initialize' },
    );
  }

  function dieAt(doomed: string): void {
    dying.middlewareStack.add(
      (next, { commandName }) =>
        async (given) => {
          if (commandName === doomed) throw new Error('killed');
          return await next(given);
        },
      { step: 'initialize', priority: 'high' },
    );
  }

  async function timeToLive(name: string): Promise<string | undefined> {
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: name }));
    return TimeToLiveDescription?.TimeToLiveStatus;
  }

  it('gets its TTL from whoever comes next', async () => {
    const name = `t${randomUUID()}`;
    const options = { tableName: name, streams: false, protectedFromLoss: false };
    dieAt('UpdateTimeToLiveCommand');
    await expect(createTable(dying, options)).rejects.toThrow('killed');
    expect(await timeToLive(name)).toBe('DISABLED');
    expect(await createTable(client, options)).toBe(false);
    expect(await timeToLive(name)).toBe('ENABLED');
    expect(await createTable(client, options)).toBe(false);
  });

  it('gets its recovery from whoever comes next, once', async () => {
    const name = `t${randomUUID()}`;
    const options = { tableName: name, streams: false, protectedFromLoss: true };
    withRecovery(dying);
    dieAt('UpdateContinuousBackupsCommand');
    await expect(createTable(dying, options)).rejects.toThrow('killed');
    expect(recovery).toEqual({ asked: 0, on: false });
    const living = createDynamoDbClient({ region: 'local', endpoint: inject('engineEndpoint') });
    withRecovery(living);
    expect(await createTable(living, options)).toBe(false);
    expect(await createTable(living, options)).toBe(false);
    expect(recovery).toEqual({ asked: 1, on: true });
    living.destroy();
  });
});
