import {
  type DynamoDBClient,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { type StoredItem, optionalString } from '../kernel/attributes.ts';
import { type CancellationVerdict, readCancellation } from './cancellation.ts';
import type { Ids } from '../kernel/ids.ts';
import type { ItemRole, Plan, TransactItem } from '../items/plan.ts';
import { type RequestFailure, readRequestFailure } from './request-errors.ts';

/** How a transaction ended, after every retry that is safe. */
export type CommitResult =
  | { readonly kind: 'COMMITTED' }
  /** Its idempotency record was there already, by another request: a replay. */
  | { readonly kind: 'SEEN'; readonly record: StoredItem | undefined }
  /** Conditions alone refused it: the role → the item as it stood. */
  | { readonly kind: 'REFUSED'; readonly failed: ReadonlyMap<ItemRole, StoredItem | undefined> }
  /** Nothing was written, and why is not clear: read again, then decide. What was in the way had a moment to end. */
  | { readonly kind: 'UNCLEAR' }
  | { readonly kind: 'CONFLICT' }
  | { readonly kind: 'THROTTLED' }
  /** It may have been committed, now or soon: only the idempotency record tells. */
  | { readonly kind: 'UNKNOWN' };

export interface TransactorOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly ids: Ids;
  /** Waits; an argument so that tests own time. */
  readonly wait: (ms: number) => Promise<void>;
  /** Told of the capacity units of each committed transaction; asked for only where somebody listens. */
  readonly onConsumed?: (units: number) => void;
}

/** What a commit asks and tells while it is under way. */
export interface CommitHooks {
  /** Asked each time before the plan is sent: where what it rests on may have ended, nothing more is. */
  readonly maySend?: (() => boolean) | undefined;
  /** Told of each try that met another transaction on the same item. */
  readonly onConflict?: (() => void) | undefined;
}

export interface Transactor {
  readonly commit: (plan: Plan, hooks?: CommitHooks) => Promise<CommitResult>;
}

/** The request itself was wrong. It is a bug: loud, never retried, nothing was written. */
export class InvalidTransactionError extends Error {
  constructor() {
    super('the table refused a transaction as invalid');
    this.name = 'InvalidTransactionError';
  }
}

type Attempt =
  { readonly kind: 'COMMITTED' } | CancellationVerdict | Exclude<RequestFailure, { kind: 'CANCELED' }>;
type Retried = 'CONFLICT' | 'THROTTLED' | 'IN_PROGRESS' | 'UNKNOWN';

/** The first wait of contention, which also comes before what was unclear is read and decided again. */
const CONTENTION_MS = 50;

/** First wait and number of retries of each (docs/DESIGN.md §6); waits double and get up to 50 % jitter. */
const RETRIES: Readonly<Record<Retried, { readonly firstMs: number; readonly times: number }>> = {
  CONFLICT: { firstMs: CONTENTION_MS, times: 3 },
  THROTTLED: { firstMs: 200, times: 4 },
  IN_PROGRESS: { firstMs: 50, times: 5 },
  UNKNOWN: { firstMs: 50, times: 2 },
};

/** Makes the one function that writes to the table: whole transactions, resent with their own token only. */
export function createTransactor(options: TransactorOptions): Transactor {
  const { client, tableName, ids, wait, onConsumed } = options;

  async function attempt(plan: Plan): Promise<Attempt> {
    const TransactItems = plan.items.map(({ item }) => withTable(item, tableName));
    try {
      const answer = await client.send(
        new TransactWriteItemsCommand({
          TransactItems,
          ClientRequestToken: plan.requestToken ?? plan.token,
          ...(onConsumed === undefined ? {} : { ReturnConsumedCapacity: 'TOTAL' }),
        }),
      );
      for (const { CapacityUnits } of answer.ConsumedCapacity ?? []) onConsumed?.(CapacityUnits ?? 0);
      return { kind: 'COMMITTED' };
    } catch (error) {
      const failure = readRequestFailure(error);
      if (failure.kind !== 'CANCELED') return failure;
      return readCancellation(failure.reasons, plan.items.length, hasRecord(plan));
    }
  }

  async function commit(plan: Plan, { maySend, onConflict }: CommitHooks = {}): Promise<CommitResult> {
    const left: Record<Retried, number> = {
      CONFLICT: RETRIES.CONFLICT.times,
      THROTTLED: RETRIES.THROTTLED.times,
      IN_PROGRESS: RETRIES.IN_PROGRESS.times,
      UNKNOWN: RETRIES.UNKNOWN.times,
    };
    let maybeCommitted = false;
    for (;;) {
      if (maySend?.() === false) return exhausted('THROTTLED', maybeCommitted);
      const outcome = await attempt(plan);
      switch (outcome.kind) {
        case 'COMMITTED':
          return outcome;
        case 'UNCLEAR':
          await wait(jittered(CONTENTION_MS, ids.fraction()));
          return outcome;
        case 'SEEN':
          return isOwn(outcome.record, plan) ? { kind: 'COMMITTED' } : outcome;
        case 'REFUSED':
          return { kind: 'REFUSED', failed: byRole(plan, outcome.failed) };
        case 'INVALID':
          throw new InvalidTransactionError();
        case 'CONFLICT':
          onConflict?.();
          break;
        case 'IN_PROGRESS':
        case 'UNKNOWN':
          maybeCommitted = true;
          break;
        case 'THROTTLED':
          break;
      }
      if (left[outcome.kind] === 0) return exhausted(outcome.kind, maybeCommitted);
      await wait(backOffMs(outcome.kind, left[outcome.kind], ids.fraction()));
      left[outcome.kind] -= 1;
    }
  }

  return { commit };
}

function exhausted(kind: Retried, maybeCommitted: boolean): CommitResult {
  if (maybeCommitted) return { kind: 'UNKNOWN' };
  return { kind: kind === 'CONFLICT' ? 'CONFLICT' : 'THROTTLED' };
}

function backOffMs(kind: Retried, left: number, fraction: number): number {
  const { firstMs, times } = RETRIES[kind];
  return jittered(firstMs * 2 ** (times - left), fraction);
}

function jittered(ms: number, fraction: number): number {
  return ms * (1 + fraction / 2);
}

function hasRecord(plan: Plan): boolean {
  const role = plan.items[0]?.role;
  return role === 'record' || role === 'event';
}

/** An idempotency record that this very transaction wrote: our answer was lost, not our commit. */
function isOwn(record: StoredItem | undefined, plan: Plan): boolean {
  return record !== undefined && optionalString(record, 'tx') === plan.token;
}

function byRole(
  plan: Plan,
  failed: ReadonlyMap<number, StoredItem | undefined>,
): ReadonlyMap<ItemRole, StoredItem | undefined> {
  return new Map(
    plan.items.flatMap(({ role }, index) => (failed.has(index) ? [[role, failed.get(index)]] : [])),
  );
}

function withTable(item: TransactItem, TableName: string): TransactWriteItem {
  if ('Put' in item) return { Put: { TableName, ...item.Put } };
  if ('Update' in item) return { Update: { TableName, ...item.Update } };
  if ('Delete' in item) return { Delete: { TableName, ...item.Delete } };
  return { ConditionCheck: { TableName, ...item.ConditionCheck } };
}
