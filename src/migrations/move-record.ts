import { MalformedItemError, type StoredItem, readString } from '../ledger/kernel/attributes.ts';
import { type Entry, readEntry } from '../ledger/model/entries/entry.ts';
import { PREFIX } from '../ledger/kernel/keys.ts';
import { plan } from '../ledger/items/plan.ts';
import type { Store } from '../ledger/table/store.ts';
import { InvalidTransactionError } from '../ledger/table/transact.ts';
import { hasMoved, isRecord } from './legacy-record.ts';
import { type Migration, legacyKey } from './migration.ts';
import { legacyRole } from './mirror.ts';
import { accountOf, move, objectionToMove, postedToWallet, removal } from './move.ts';
import { wholeRange } from './range.ts';
import type { Toolkit } from './steps.ts';

/** What became of a record. LEFT: it stays as it was, for this reason. */
export type Handled =
  | { readonly kind: 'DONE' }
  /** It was done already, or there is nothing to do. */
  | { readonly kind: 'NOTHING' }
  | { readonly kind: 'LEFT'; readonly reason: string };

const UNMOVED: Handled = { kind: 'LEFT', reason: 'it has not moved' };

/** Live writes of a record make its move begin again; so often, then it is left for the next walk. */
const MAX_TRIES = 12;
const FIRST_WAIT_MS = 20;

/** What would become of a record, as far as it can be told from the record alone. */
export function foresee({ shape }: Migration, record: StoredItem, removes: boolean): Handled {
  if (!isRecord(shape, record)) return { kind: 'NOTHING' };
  if (removes) return hasMoved(shape, record) ? { kind: 'DONE' } : UNMOVED;
  if (hasMoved(shape, record)) return { kind: 'NOTHING' };
  const reason = objectionToMove(shape, record);
  return reason === undefined ? { kind: 'DONE' } : { kind: 'LEFT', reason };
}

/**
 * Moves a record into the new shape, exactly once: whoever comes second finds it marked. One that can't be moved keeps
 * no other from it.
 */
export async function moveRecord(
  toolkit: Toolkit,
  migration: Migration,
  scanned: StoredItem,
): Promise<Handled> {
  try {
    return await moveOnce(toolkit, migration, scanned);
  } catch (error) {
    if (isOfRecord(error)) return { kind: 'LEFT', reason: `it can't be moved: ${error.message}` };
    throw error;
  }
}

/** Whether something was thrown for what the record or one of its entries holds: an outage is none of that. */
function isOfRecord(error: unknown): error is Error {
  return [MalformedItemError, RangeError, InvalidTransactionError].some((kind) => error instanceof kind);
}

async function moveOnce(toolkit: Toolkit, migration: Migration, scanned: StoredItem): Promise<Handled> {
  const { table, clock, ids } = toolkit;
  const { shape } = migration;
  const account = accountOf(scanned);
  let record: StoredItem | undefined = scanned;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (tries > 0) {
      await toolkit.wait(FIRST_WAIT_MS * tries * (1 + ids.fraction()));
      [record] = await table.store.get([legacyKey(migration, account)]);
    }
    if (!isRecord(shape, record) || hasMoved(shape, record)) {
      return tries === 0 ? { kind: 'NOTHING' } : { kind: 'DONE' };
    }
    const objection = objectionToMove(shape, record);
    if (objection !== undefined) return { kind: 'LEFT', reason: objection };
    // After the record: what is posted in between raises `writes`, and the condition on it fails.
    const posted = postedToWallet(account.accountId, await readEntries(table.store, record));
    const atMs = clock.nowMs();
    const part = move(migration, record, posted, { entryId: ids.ulid(atMs), atMs });
    const result = await table.transactor.commit(plan(ids.token(), part));
    if (result.kind === 'COMMITTED') return { kind: 'DONE' };
    if (result.kind === 'REFUSED' && !result.failed.has(legacyRole(migration, account))) {
      return {
        kind: 'LEFT',
        reason: `the new shape is there already (${[...result.failed.keys()].join(', ')})`,
      };
    }
  }
  return { kind: 'LEFT', reason: 'it kept moving, or the table was too busy' };
}

/** Removes the old shape of a record that has moved; one that hasn't is left, and said to be. */
export async function removeRecord(
  { table, ids, wait }: Toolkit,
  migration: Migration,
  record: StoredItem,
): Promise<Handled> {
  const { shape } = migration;
  if (!isRecord(shape, record)) return { kind: 'NOTHING' };
  if (!hasMoved(shape, record)) return UNMOVED;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (tries > 0) await wait(FIRST_WAIT_MS * tries * (1 + ids.fraction()));
    const result = await table.transactor.commit(plan(ids.token(), { items: [removal(migration, record)] }));
    if (result.kind === 'COMMITTED') return { kind: 'DONE' };
    // The mark was there and marks are never taken away: it is gone, by us before an answer got lost.
    if (result.kind === 'REFUSED') return { kind: 'NOTHING' };
  }
  return { kind: 'LEFT', reason: 'the table was too busy' };
}

async function readEntries(store: Store, record: StoredItem): Promise<readonly Entry[]> {
  const range = { uuid: readString(record, 'uuid'), prefix: PREFIX.entry };
  return (await wholeRange(store, range)).map(readEntry);
}
