import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  ExpiredIteratorException,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ResourceNotFoundException,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import type { StoredItem } from '../../ledger/kernel/attributes.ts';

export interface Shard {
  readonly shardId: string;
  /** Has older changes, so it's read to its end first. It may be gone already, after its 24 hours. */
  readonly parentId: string | undefined;
}

/** One change of the table: an item before and after it. */
export interface TableChange {
  readonly before: StoredItem | undefined;
  readonly after: StoredItem | undefined;
  readonly sequence: string;
}

export type Batch =
  | {
      readonly kind: 'RECORDS';
      readonly changes: readonly TableChange[];
      /** Undefined when the shard is closed and read to its end. */
      readonly next: string | undefined;
    }
  /** The iterator is older than 15 minutes: take a new one from the checkpoint. */
  | { readonly kind: 'EXPIRED' }
  /** The position is older than the 24 hours that a stream keeps: go on from the oldest record. */
  | { readonly kind: 'TRIMMED' }
  | { readonly kind: 'GONE' };

/** The stream of a table, read by shards. Every method throws in an outage, and when it is throttled. */
export interface ChangeStream {
  readonly shards: () => Promise<readonly Shard[]>;
  /** After the record of this sequence, or from the oldest. Undefined if the shard is gone or the record is no longer kept. */
  readonly iteratorAt: (shardId: string, after: string | undefined) => Promise<string | undefined>;
  readonly read: (iterator: string) => Promise<Batch>;
}

export interface ChangeStreamOptions {
  readonly table: DynamoDBClient;
  readonly streams: DynamoDBStreamsClient;
  readonly tableName: string;
}

const MAX_RECORDS = 500;

export function createStreamsClient(options: {
  readonly region: string;
  readonly endpoint?: string | undefined;
}): DynamoDBStreamsClient {
  const { region, endpoint } = options;
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const local = endpoint === undefined ? {} : { endpoint, credentials };
  return new DynamoDBStreamsClient({ region, maxAttempts: 1, ...local });
}

export function createChangeStream({ table, streams, tableName }: ChangeStreamOptions): ChangeStream {
  let arn: string | undefined;

  async function streamArn(): Promise<string> {
    arn ??= (await table.send(new DescribeTableCommand({ TableName: tableName }))).Table?.LatestStreamArn;
    if (arn === undefined) throw new Error('the table has no stream: switch it on, with new and old images');
    return arn;
  }

  return {
    shards: async () => {
      const shards: Shard[] = [];
      let after: string | undefined;
      do {
        const { StreamDescription: page } = await streams.send(
          new DescribeStreamCommand({ StreamArn: await streamArn(), ExclusiveStartShardId: after }),
        );
        for (const { ShardId, ParentShardId } of page?.Shards ?? []) {
          if (ShardId !== undefined) shards.push({ shardId: ShardId, parentId: ParentShardId });
        }
        after = page?.LastEvaluatedShardId;
      } while (after !== undefined);
      return shards;
    },
    iteratorAt: async (shardId, after) => {
      const command = new GetShardIteratorCommand({
        StreamArn: await streamArn(),
        ShardId: shardId,
        ShardIteratorType: after === undefined ? 'TRIM_HORIZON' : 'AFTER_SEQUENCE_NUMBER',
        SequenceNumber: after,
      });
      try {
        return (await streams.send(command)).ShardIterator;
      } catch (error) {
        if (lossOf(error) !== undefined) return undefined;
        throw error;
      }
    },
    read: async (iterator) => {
      try {
        const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: MAX_RECORDS });
        const { Records = [], NextShardIterator: next } = await streams.send(command);
        const changes = Records.map(({ dynamodb }) => ({
          before: dynamodb?.OldImage,
          after: dynamodb?.NewImage,
          sequence: dynamodb?.SequenceNumber ?? '',
        }));
        return { kind: 'RECORDS', changes, next };
      } catch (error) {
        if (error instanceof ExpiredIteratorException) return { kind: 'EXPIRED' };
        const loss = lossOf(error);
        if (loss === undefined) throw error;
        return { kind: loss };
      }
    },
  };
}

/** Why a position can't be read any more; undefined for any other error. */
function lossOf(error: unknown): 'TRIMMED' | 'GONE' | undefined {
  if (error instanceof TrimmedDataAccessException) return 'TRIMMED';
  return error instanceof ResourceNotFoundException ? 'GONE' : undefined;
}
