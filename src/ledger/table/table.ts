import {
  CreateTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
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

/**
 * Sees to it that the table is there with its indexes, its TTL and its recovery: what is missing is made, also after
 * somebody else began and died. Says whether it made the table itself.
 */
export async function createTable(client: DynamoDBClient, options: TableOptions): Promise<boolean> {
  const { tableName, protectedFromLoss } = options;
  const isMade = await ensure({
    isOn: () => tableExists(client, tableName),
    turnOn: () => makeTable(client, options),
  });
  await waitUntilTableExists({ client, minDelay: 1, maxWaitTime: 60 }, { TableName: tableName });
  await ensure(timeToLive(client, tableName));
  if (protectedFromLoss) await ensure(pointInTimeRecovery(client, tableName));
  return isMade;
}

async function makeTable(
  client: DynamoDBClient,
  { tableName, streams, protectedFromLoss }: TableOptions,
): Promise<void> {
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
}

/** Something that is there once, whoever makes it: the table, and what it gets when it is there. */
interface Switch {
  readonly isOn: () => Promise<boolean>;
  readonly turnOn: () => Promise<unknown>;
}

/** Whoever is slower than somebody else is refused, and finds it on. Says whether it was this call that did it. */
async function ensure({ isOn, turnOn }: Switch): Promise<boolean> {
  if (await isOn()) return false;
  try {
    await turnOn();
    return true;
  } catch (error) {
    if (await isOn()) return false;
    throw error;
  }
}

function timeToLive(client: DynamoDBClient, TableName: string): Switch {
  return {
    isOn: async () => {
      const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
      const status = TimeToLiveDescription?.TimeToLiveStatus;
      return status === 'ENABLED' || status === 'ENABLING';
    },
    turnOn: () =>
      client.send(
        new UpdateTimeToLiveCommand({
          TableName,
          TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
        }),
      ),
  };
}

function pointInTimeRecovery(client: DynamoDBClient, TableName: string): Switch {
  return {
    isOn: async () => {
      const { ContinuousBackupsDescription } = await client.send(
        new DescribeContinuousBackupsCommand({ TableName }),
      );
      const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
      return recovery?.PointInTimeRecoveryStatus === 'ENABLED';
    },
    turnOn: () =>
      client.send(
        new UpdateContinuousBackupsCommand({
          TableName,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ),
  };
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
