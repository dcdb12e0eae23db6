import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { optionalString, readBoolean, readString, toAttributes } from '../../ledger/kernel/attributes.ts';
import { epochS } from '../../ledger/kernel/clock.ts';
import { integer } from '../../ledger/kernel/integers.ts';
import { systemKey } from '../../ledger/kernel/keys.ts';

/** How far a shard was told of: up to a record, or to its end. */
export type Checkpoint = { readonly kind: 'AFTER'; readonly sequence: string } | { readonly kind: 'DONE' };

/** What the relay keeps in the table, under `system#relay`: who reads, and how far it has come. */
export interface RelayCheckpoints {
  /** Takes the lease, or holds it longer; false while somebody else has it. */
  readonly lease: (owner: string, nowMs: number, leaseMs: number) => Promise<boolean>;
  /** Gives the lease back, so that the next one need not wait for its end. */
  readonly release: (owner: string, nowMs: number) => Promise<void>;
  readonly load: () => Promise<ReadonlyMap<string, Checkpoint>>;
  readonly save: (shardId: string, checkpoint: Checkpoint, nowMs: number) => Promise<void>;
}

const SHARD_PREFIX = 'SHARD#';
/** A shard is gone a day after it was closed; its checkpoint some days later. */
const DONE_TTL_S = 3 * 24 * 3600;
const NAMES = { '#uuid': 'uuid', '#owner': 'owner', '#end': 'lease_end' };

export function createRelayCheckpoints(client: DynamoDBClient, tableName: string): RelayCheckpoints {
  /** A lease may be taken by whoever has it, and by anybody after its end. */
  async function putLease(owner: string, nowMs: number, endMs: number): Promise<boolean> {
    try {
      await client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: toAttributes({ ...systemKey('relay', 'LEASE'), owner, lease_end: integer(endMs) }),
          ConditionExpression: 'attribute_not_exists(#uuid) OR #owner = :owner OR #end < :now',
          ExpressionAttributeNames: NAMES,
          ExpressionAttributeValues: toAttributes({ ':owner': owner, ':now': integer(nowMs) }),
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  }

  return {
    lease: (owner, nowMs, leaseMs) => putLease(owner, nowMs, nowMs + leaseMs),
    release: async (owner, nowMs) => {
      await putLease(owner, nowMs, 0);
    },
    load: () => loadCheckpoints(client, tableName),
    save: async (shardId, checkpoint, nowMs) => {
      const done = checkpoint.kind === 'DONE';
      const item = {
        ...systemKey('relay', SHARD_PREFIX + shardId),
        sequence: done ? undefined : checkpoint.sequence,
        done: done ? true : undefined,
        ttl: done ? integer(epochS(nowMs) + DONE_TTL_S) : undefined,
      };
      await client.send(new PutItemCommand({ TableName: tableName, Item: toAttributes(item) }));
    },
  };
}

async function loadCheckpoints(
  client: DynamoDBClient,
  tableName: string,
): Promise<ReadonlyMap<string, Checkpoint>> {
  const checkpoints = new Map<string, Checkpoint>();
  let start: QueryCommand['input']['ExclusiveStartKey'];
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: tableName,
        ConsistentRead: true,
        KeyConditionExpression: '#uuid = :uuid AND begins_with(#type, :prefix)',
        ExpressionAttributeNames: { '#uuid': 'uuid', '#type': 'type' },
        ExpressionAttributeValues: {
          ':uuid': { S: systemKey('relay', '').uuid },
          ':prefix': { S: SHARD_PREFIX },
        },
        ExclusiveStartKey: start,
      }),
    );
    for (const item of page.Items ?? []) {
      const sequence = optionalString(item, 'sequence');
      const shardId = readString(item, 'type').slice(SHARD_PREFIX.length);
      if (readBoolean(item, 'done')) checkpoints.set(shardId, { kind: 'DONE' });
      else if (sequence !== undefined) checkpoints.set(shardId, { kind: 'AFTER', sequence });
    }
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return checkpoints;
}
