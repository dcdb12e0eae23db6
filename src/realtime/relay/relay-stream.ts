import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record,
} from '@aws-sdk/client-dynamodb-streams';
import type { StoredItem } from '../../ledger/kernel/attributes.ts';
import type { TableChange } from './relay-notices.ts';

export interface Shard {
  readonly shardId: string;
  /** To be read to its end first: its changes are older. It may be gone already, past its 24 hours. */
  readonly parentId: string | undefined;
}

/** From where to read a shard: after a record that was told of, or from the oldest that there is. */
export type Position = { readonly kind: 'OLDEST' } | { readonly kind: 'AFTER'; readonly sequence: string };

export type Batch =
  | {
      readonly kind: 'RECORDS';
      readonly changes: readonly TableChange[];
      /** Undefined when the shard is closed and read to its end. */
      readonly next: string | undefined;
    }
  /** The iterator is older than 15 minutes: take a new one from the checkpoint. */
  | { readonly kind: 'EXPIRED' }
  /** The position lies before the 24 hours that a stream keeps: go on from the oldest. */
  | { readonly kind: 'TRIMMED' }
  | { readonly kind: 'GONE' };

/** The stream of a table, read by shards. Anything but what `Batch` names is thrown: an outage or throttling. */
export interface ChangeStream {
  readonly shards: () => Promise<readonly Shard[]>;
  /** Undefined when the shard is gone or the position was trimmed. */
  readonly iteratorAt: (shardId: string, position: Position) => Promise<string | undefined>;
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
  const aws = { region, maxAttempts: 1 };
  return new DynamoDBStreamsClient(
    endpoint === undefined
      ? aws
      : { ...aws, endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } },
  );
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
        const page = await streams.send(
          new DescribeStreamCommand({ StreamArn: await streamArn(), ExclusiveStartShardId: after }),
        );
        for (const { ShardId, ParentShardId } of page.StreamDescription?.Shards ?? []) {
          if (ShardId !== undefined) shards.push({ shardId: ShardId, parentId: ParentShardId });
        }
        after = page.StreamDescription?.LastEvaluatedShardId;
      } while (after !== undefined);
      return shards;
    },
    iteratorAt: async (shardId, position) => {
      const from =
        position.kind === 'OLDEST'
          ? ({ ShardIteratorType: 'TRIM_HORIZON' } as const)
          : ({ ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: position.sequence } as const);
      const command = new GetShardIteratorCommand({
        StreamArn: await streamArn(),
        ShardId: shardId,
        ...from,
      });
      try {
        return (await streams.send(command)).ShardIterator;
      } catch (error) {
        if (isNamed(error, 'TrimmedDataAccessException', 'ResourceNotFoundException')) return undefined;
        throw error;
      }
    },
    read: async (iterator) => {
      try {
        const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: MAX_RECORDS });
        const { Records, NextShardIterator } = await streams.send(command);
        return { kind: 'RECORDS', changes: (Records ?? []).map(toChange), next: NextShardIterator };
      } catch (error) {
        if (isNamed(error, 'ExpiredIteratorException')) return { kind: 'EXPIRED' };
        if (isNamed(error, 'TrimmedDataAccessException')) return { kind: 'TRIMMED' };
        if (isNamed(error, 'ResourceNotFoundException')) return { kind: 'GONE' };
        throw error;
      }
    },
  };
}

function toChange({ dynamodb }: _Record): TableChange {
  const before: StoredItem | undefined = dynamodb?.OldImage;
  const after: StoredItem | undefined = dynamodb?.NewImage;
  return { before, after, sequence: dynamodb?.SequenceNumber ?? '' };
}

function isNamed(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}
