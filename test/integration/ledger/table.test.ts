import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { createDynamoDbClient } from '../../../src/ledger/dynamodb.ts';
import { createTable } from '../../../src/ledger/table.ts';

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
