import { type AttributeInput, type AttributeValue, toAttributes } from '../kernel/attributes.ts';
import type { Entry } from '../model/entries/entry.ts';
import type { ItemKey } from '../kernel/keys.ts';
import type { Order, Transition } from '../model/orders/order.ts';
import type { RecordChange } from '../model/record-changes.ts';

export interface Condition {
  ConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues?: Record<string, AttributeValue>;
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD';
}
type Key = Record<string, AttributeValue>;

/** One item of a transaction as DynamoDB's wire has it, less the table's name. */
export type TransactItem =
  | { Put: { Item: Record<string, AttributeValue> } & Partial<Condition> }
  | {
      Update: {
        Key: Key;
        UpdateExpression: string;
        ExpressionAttributeNames: Record<string, string>;
        ExpressionAttributeValues: Record<string, AttributeValue>;
        ConditionExpression?: string;
        ReturnValuesOnConditionCheckFailure?: 'ALL_OLD';
      };
    }
  | { Delete: { Key: Key } & Partial<Condition> }
  | { ConditionCheck: { Key: Key } & Condition };

/** What an item is for, which tells what its failed condition means. */
export type ItemRole =
  | 'record'
  | 'event'
  | 'order'
  | 'entry'
  | 'payment'
  | 'refund'
  | 'proposal'
  | 'code'
  | 'metadata'
  | 'metrics'
  | 'profile'
  | `balance:${string}`
  | `legacy:${string}`
  | 'other';

export interface PlannedItem {
  readonly role: ItemRole;
  readonly item: TransactItem;
  /** What it changes of an account's record: for whoever keeps another shape of the same record (src/migrations/). */
  readonly change?: RecordChange;
}

/** A piece of a transaction with what it will have done, so that nobody forgets to publish it. */
export interface PlanPart {
  readonly items: readonly PlannedItem[];
  readonly orders?: readonly OrderCommit[];
  readonly entries?: readonly Entry[];
}

export interface OrderCommit {
  readonly order: Order;
  readonly transitions: readonly Transition[];
}

/** A whole transaction. `token` is its client request token, and the id by which its idempotency record knows it. */
export interface Plan {
  readonly token: string;
  /** The client request token where it differs: of the same transaction with other items, sent after a refusal. */
  readonly requestToken?: string;
  readonly items: readonly PlannedItem[];
  readonly orders: readonly OrderCommit[];
  readonly entries: readonly Entry[];
}

/** Puts the parts together in the order given. Throws RangeError if an item is named twice or there are over 100. */
export function plan(token: string, ...parts: readonly PlanPart[]): Plan {
  const items = parts.flatMap((part) => part.items);
  const names = new Set(items.map(({ item }) => keyText(item)));
  if (names.size !== items.length) throw new RangeError('a transaction names an item twice');
  if (items.length === 0 || items.length > 100) throw new RangeError('a transaction has 1 to 100 items');
  return {
    token,
    items,
    orders: parts.flatMap((part) => part.orders ?? []),
    entries: parts.flatMap((part) => part.entries ?? []),
  };
}

function keyText(item: TransactItem): string {
  const key = keyOf(item);
  return JSON.stringify([key['uuid'], key['type']]);
}

/** The primary key that an item of a transaction names. */
export function keyOf(item: TransactItem): Key {
  if ('Put' in item) return item.Put.Item;
  if ('Update' in item) return item.Update.Key;
  return 'Delete' in item ? item.Delete.Key : item.ConditionCheck.Key;
}

/** Puts an item that must not be there yet. */
export function putNew(
  role: ItemRole,
  attributes: ItemKey & Readonly<Record<string, AttributeInput | undefined>>,
): PlannedItem {
  return {
    role,
    item: {
      Put: {
        Item: toAttributes(attributes),
        ConditionExpression: 'attribute_not_exists(#uuid)',
        ExpressionAttributeNames: { '#uuid': 'uuid' },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  };
}
