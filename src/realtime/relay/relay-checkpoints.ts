import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  paginateQuery,
} from '@aws-sdk/client-dynamodb';
import {
  type StoredItem,
  optionalString,
  readBoolean,
  readInteger,
  readString,
  toAttributes,
} from '../../ledger/kernel/attributes.ts';
import { type SharedClock, epochS } from '../../ledger/kernel/clock.ts';
import { integer } from '../../ledger/kernel/integers.ts';
import { systemKey } from '../../ledger/kernel/keys.ts';

/** How far a shard was read: up to a record, or to its end. */
export type ShardCheckpoint =
  { readonly kind: 'AFTER'; readonly sequence: string } | { readonly kind: 'DONE' };

/** What the relay keeps in the table, under `system#relay`: who reads, and how far it has come. */
export interface RelayCheckpoints {
  /** Takes or renews the lease. False while another owner has it, and where this process's clock is wrong. */
  readonly lease: (owner: string, clock: SharedClock, leaseMs: number) => Promise<boolean>;
  /** Gives the lease back, so that the next owner need not wait for its end. */
  readonly release: (owner: string, nowMs: number) => Promise<void>;
  readonly load: () => Promise<ReadonlyMap<string, ShardCheckpoint>>;
  readonly save: (shardId: string, checkpoint: ShardCheckpoint, nowMs: number) => Promise<void>;
}

const SHARD_PREFIX = 'SHARD#';
/** A shard disappears a day after it was closed; its checkpoint some days later. */
const DONE_TTL_S = 3 * 24 * 3600;

export function createRelayCheckpoints(client: DynamoDBClient, TableName: string): RelayCheckpoints {
  /** A lease may be taken by its owner at any time, and by others after its end. */
  async function putLease(owner: string, nowMs: number, endMs: number): Promise<boolean> {
    try {
      await client.send(
        new PutItemCommand({
          TableName,
          Item: toAttributes({ ...systemKey('relay', 'LEASE'), owner, lease_end: integer(endMs) }),
          ConditionExpression: 'attribute_not_exists(#uuid) OR #owner = :owner OR #end < :now',
          ExpressionAttributeNames: { '#uuid': 'uuid', '#owner': 'owner', '#end': 'lease_end' },
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
    lease: async (owner, clock, leaseMs) => {
      // Read first: with its answer comes the table's time, by which leases are kept.
      const item = await leaseNow(client, TableName);
      const nowMs = clock.nowMs();
      return clock.isRight() && mayLease(item, owner, nowMs) && putLease(owner, nowMs, nowMs + leaseMs);
    },
    release: async (owner, nowMs) => {
      await putLease(owner, nowMs, 0);
    },
    load: async () => {
      const checkpoints = new Map<string, ShardCheckpoint>();
      const query = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: '#uuid = :uuid AND begins_with(#type, :prefix)',
        ExpressionAttributeNames: { '#uuid': 'uuid', '#type': 'type' },
        ExpressionAttributeValues: toAttributes({
          ':uuid': systemKey('relay', '').uuid,
          ':prefix': SHARD_PREFIX,
        }),
      };
      for await (const { Items = [] } of paginateQuery({ client }, query)) {
        for (const item of Items) {
          const sequence = optionalString(item, 'sequence');
          const shardId = readString(item, 'type').slice(SHARD_PREFIX.length);
          if (readBoolean(item, 'done')) checkpoints.set(shardId, { kind: 'DONE' });
          else if (sequence !== undefined) checkpoints.set(shardId, { kind: 'AFTER', sequence });
        }
      }
      return checkpoints;
    },
    save: async (shardId, checkpoint, nowMs) => {
      const key = systemKey('relay', SHARD_PREFIX + shardId);
      const item =
        checkpoint.kind === 'DONE'
          ? { ...key, done: true, ttl: integer(epochS(nowMs) + DONE_TTL_S) }
          : { ...key, sequence: checkpoint.sequence };
      await client.send(new PutItemCommand({ TableName, Item: toAttributes(item) }));
    },
  };
}

/** A query, since it is what the relay may do on the table (infra/table.json). */
async function leaseNow(client: DynamoDBClient, TableName: string): Promise<StoredItem | undefined> {
  const { uuid, type } = systemKey('relay', 'LEASE');
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName,
      ConsistentRead: true,
      KeyConditionExpression: '#uuid = :uuid AND #type = :type',
      ExpressionAttributeNames: { '#uuid': 'uuid', '#type': 'type' },
      ExpressionAttributeValues: toAttributes({ ':uuid': uuid, ':type': type }),
    }),
  );
  return Items[0];
}

function mayLease(item: StoredItem | undefined, owner: string, nowMs: number): boolean {
  return item === undefined || readString(item, 'owner') === owner || readInteger(item, 'lease_end') < nowMs;
}
