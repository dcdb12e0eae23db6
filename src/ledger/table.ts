import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { INDEXES } from './store.ts';

export interface TableOptions {
  readonly tableName: string;
  /** Old and new images for the relay. Off where nothing reads them: a local engine gets slower with them. */
  readonly streams: boolean;
  /** Point-in-time recovery and deletion protection: on AWS, not on a local engine. */
  readonly protectedFromLoss: boolean;
}

/** Creates the table with its indexes and its TTL, if it isn't there. Says whether it did. */
export async function createTable(client: DynamoDBClient, options: TableOptions): Promise<boolean> {
  const { tableName, streams, protectedFromLoss } = options;
  if (await tableExists(client, tableName)) return false;
  const indexes = Object.entries(INDEXES);
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: protectedFromLoss,
      AttributeDefinitions: [
        { AttributeName: 'uuid', AttributeType: 'S' },
        { AttributeName: 'type', AttributeType: 'S' },
        ...indexes.flatMap(([, { hash, range }]) => [
          { AttributeName: hash, AttributeType: 'S' as const },
          { AttributeName: range, AttributeType: 'N' as const },
        ]),
      ],
      KeySchema: [
        { AttributeName: 'uuid', KeyType: 'HASH' },
        { AttributeName: 'type', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: indexes.map(([IndexName, { hash, range }]) => ({
        IndexName,
        KeySchema: [
          { AttributeName: hash, KeyType: 'HASH' },
          { AttributeName: range, KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      })),
      ...(streams
        ? { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } }
        : {}),
    }),
  );
  await waitUntilTableExists({ client, minDelay: 1, maxWaitTime: 60 }, { TableName: tableName });
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: tableName,
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    }),
  );
  if (protectedFromLoss) {
    await client.send(
      new UpdateContinuousBackupsCommand({
        TableName: tableName,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    );
  }
  return true;
}

async function tableExists(client: DynamoDBClient, tableName: string): Promise<boolean> {
  try {
    await client.send(new DescribeTableCommand({ TableName: tableName }));
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return false;
    throw error;
  }
}

/** About how many items the table has, as DynamoDB counted them some hours ago; 0 where it hasn't yet. */
export async function approximateItemCount(client: DynamoDBClient, tableName: string): Promise<number> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  return Table?.ItemCount ?? 0;
}
