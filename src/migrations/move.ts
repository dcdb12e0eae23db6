import {
  MalformedItemError,
  type StoredItem,
  optionalInteger,
  readString,
  toAttributes,
} from '../ledger/kernel/attributes.ts';
import {
  type Entry,
  entryAttributes,
  ledgerAccount,
  netChanges,
  postings,
  readEntry,
} from '../ledger/model/entries/entry.ts';
import { integer } from '../ledger/kernel/integers.ts';
import { type AccountRef, PREFIX, balanceKey, profileKey } from '../ledger/kernel/keys.ts';
import { type Decimal, ZERO, add, negate, subtract } from '../ledger/kernel/money.ts';
import { type PlanPart, type PlannedItem, plan, putNew } from '../ledger/items/plan.ts';
import { InvalidTransactionError } from '../ledger/table/transact.ts';
import { ItemUpdate } from './item-update.ts';
import {
  type Migration,
  accountOf,
  hasMoved,
  heldAmount,
  heldAttributes,
  heldProfile,
  isRecord,
  legacyKey,
  legacyRole,
  objectionToMove,
} from './legacy-record.ts';
import { wholeRange } from './scan.ts';
import type { Toolkit } from './toolkit.ts';

/** Who an opening entry is by. No principal has this name: a principal's is never two words. */
export const BACKFILL_ACTOR = 'migration backfill';

/** What a walk does to each record. */
export type Treatment = 'MOVE' | 'REMOVE';

/** What became of a record. */
export type Handled =
  | { readonly kind: 'DONE' }
  /** It was done already, or there is nothing to do. */
  | { readonly kind: 'NOTHING' }
  /** It stays as it was, for this reason. */
  | { readonly kind: 'LEFT'; readonly reason: string };

/** Live writes of a record make its move begin again; so often, then it is left for the next walk. */
const MAX_TRIES = 12;
const FIRST_WAIT_MS = 20;

/** What would become of a record, as far as it can be told from the record alone. */
export function foresee(migration: Migration, record: StoredItem | undefined, treatment: Treatment): Handled {
  if (!isRecord(migration, record)) return { kind: 'NOTHING' };
  const moved = hasMoved(migration, record);
  if (treatment === 'REMOVE') return moved ? { kind: 'DONE' } : left('it has not moved');
  if (moved) return { kind: 'NOTHING' };
  const reason = objectionToMove(migration, record);
  return reason === undefined ? { kind: 'DONE' } : left(reason);
}

function left(reason: string): Handled {
  return { kind: 'LEFT', reason };
}

/**
 * Moves a record into the new shape, or removes the old shape of one that has moved; exactly once: whoever comes second
 * finds it marked, or gone. One that can't be handled keeps no other from it.
 * @param scanned the legacy item as it was read
 */
export async function handleRecord(
  toolkit: Toolkit,
  migration: Migration,
  scanned: StoredItem,
  treatment: Treatment,
): Promise<Handled> {
  const { table, ids, wait } = toolkit;
  try {
    let record: StoredItem | undefined = scanned;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (tries > 0) {
        await wait(FIRST_WAIT_MS * tries * (1 + ids.fraction()));
        [record] = await table.store.get([legacyKey(migration, accountOf(scanned))]);
      }
      const foreseen = foresee(migration, record, treatment);
      // After a try it was us, before an answer got lost, or somebody who was faster.
      if (foreseen.kind === 'NOTHING' && tries > 0) return { kind: 'DONE' };
      if (foreseen.kind !== 'DONE' || record === undefined) return foreseen;
      const part =
        treatment === 'MOVE'
          ? await moveNow(toolkit, migration, record)
          : { items: [removal(migration, record)] };
      const result = await table.transactor.commit(plan(ids.token(), part));
      if (result.kind === 'COMMITTED') return { kind: 'DONE' };
      if (result.kind === 'REFUSED' && !result.failed.has(legacyRole(accountOf(record))))
        return left(`the new shape is there already (${[...result.failed.keys()].join(', ')})`);
    }
    return left(
      treatment === 'MOVE' ? 'it kept moving, or the table was too busy' : 'the table was too busy',
    );
  } catch (error) {
    if (isOfRecord(error))
      return left(`it can't be ${treatment === 'MOVE' ? 'moved' : 'removed'}: ${error.message}`);
    throw error;
  }
}

/** Whether something was thrown for what the record or one of its entries holds: an outage is none of that. */
function isOfRecord(error: unknown): error is Error {
  return [MalformedItemError, RangeError, InvalidTransactionError].some((kind) => error instanceof kind);
}

/** The move of a record as it is. Its entries are read after it: what is posted in between raises `writes`. */
async function moveNow(
  { table, clock, ids }: Toolkit,
  migration: Migration,
  record: StoredItem,
): Promise<PlanPart> {
  const items = await wholeRange(table.store, readString(record, 'uuid'), PREFIX.entry);
  const posted = postedToWallet(accountOf(record).accountId, items.map(readEntry));
  const atMs = clock.nowMs();
  return moveRecords(migration, record, posted, { entryId: ids.ulid(atMs), atMs });
}

/** What each asset's earlier postings come to in the account's wallet. */
export function postedToWallet(
  accountId: string,
  entries: readonly Pick<Entry, 'postings'>[],
): ReadonlyMap<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const entry of entries) {
    for (const { asset, net } of netChanges(entry, ledgerAccount.wallet(accountId))) {
      sums.set(asset, add(sums.get(asset) ?? ZERO, net));
    }
  }
  return sums;
}

/**
 * Moves a record in one transaction: it marks the old shape on the condition that nothing of it changed since it was
 * read, puts what it holds in the new shape, and records as an opening entry from the issuer what no posting accounts
 * for, so that from this moment each balance is the sum of its postings (I2).
 * @param posted what the account's entries come to, read after the record
 */
export function moveRecords(
  migration: Migration,
  record: StoredItem,
  posted: ReadonlyMap<string, Decimal>,
  { entryId, atMs }: { readonly entryId: string; readonly atMs: number },
): PlanPart {
  const account = accountOf(record);
  const held = Object.keys(migration.amounts).map((asset) => {
    const amount = heldAmount(migration, record, asset);
    return { asset, amount, opening: subtract(amount ?? ZERO, posted.get(asset) ?? ZERO) };
  });
  const entry: Entry = {
    ...account,
    entryId,
    operation: 'ADJUSTMENT',
    postings: postings(
      ...held.map(({ asset, opening }) => openingPosting(account.accountId, asset, opening)),
    ),
    reason: `opening balance, ${migration.id}`,
    actor: BACKFILL_ACTOR,
    atMs,
  };
  const entries = entry.postings.length === 0 ? [] : [entry];
  const updatedAt = optionalInteger(record, 'updated_at') ?? integer(atMs);
  return {
    items: [
      markRecord(migration, record, atMs),
      ...held
        .filter(({ amount, opening }) => amount !== undefined || !opening.isZero())
        .map(({ asset, amount = ZERO }) =>
          putNew(`balance:${asset}`, {
            ...balanceKey({ ...account, asset }),
            balance: amount,
            writes: integer(1),
            updated_at: updatedAt,
          }),
        ),
      ...putProfile(migration, account, record),
      ...entries.map((one) => putNew('entry', entryAttributes(one))),
    ],
    entries,
  };
}

function openingPosting(accountId: string, asset: string, opening: Decimal): Entry['postings'][number] {
  const wallet = ledgerAccount.wallet(accountId);
  return opening.lt(ZERO)
    ? { debit: wallet, credit: ledgerAccount.issuer, asset, amount: negate(opening) }
    : { debit: ledgerAccount.issuer, credit: wallet, asset, amount: opening };
}

/**
 * `writes` says that nobody wrote the record since it was read. What it holds is compared too: a release from before the
 * migration wrote records without counting, and one that was thought dead may still be running.
 */
function markRecord(migration: Migration, record: StoredItem, atMs: number): PlannedItem {
  const account = accountOf(record);
  const update = new ItemUpdate(legacyRole(account), legacyKey(migration, account));
  const mark = update.name(migration.mark, 'mark');
  update.conditions.push(`attribute_not_exists(${mark})`);
  for (const attribute of ['writes', ...heldAttributes(migration)]) {
    const name = update.name(attribute);
    const stored = record[attribute];
    if (stored === undefined) {
      update.conditions.push(`attribute_not_exists(${name})`);
      continue;
    }
    update.conditions.push(`${name} = :${attribute}`);
    // As the table has it: its number may be written in another way than ours.
    update.clauses.values[`:${attribute}`] =
      stored.N === undefined ? { S: readString(record, attribute) } : { N: stored.N };
  }
  update.clauses.sets.push(`${mark} = ${update.value('at', integer(atMs))}`);
  update.countWrite();
  return update.asUpdate();
}

/** A field that the new shape has already is newer than what moves: it stays. */
function putProfile(migration: Migration, account: AccountRef, record: StoredItem): readonly PlannedItem[] {
  const fields = heldProfile(migration, record);
  if (Object.keys(fields).length === 0) return [];
  const attributes = { ...fields, ...toAttributes({ updated_at: optionalInteger(record, 'updated_at') }) };
  const names = Object.keys(attributes);
  const values = Object.entries(attributes).map(([name, value]) => [`:${name}`, value] as const);
  const Update = {
    Key: toAttributes({ ...profileKey(account) }),
    UpdateExpression: `SET ${names.map((name) => `#${name} = if_not_exists(#${name}, :${name})`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(values),
  };
  return [{ role: 'profile', item: { Update } }];
}

/** Removes the old shape of a record that has moved: the item, or what moved out of an item that stays. */
export function removal(migration: Migration, record: StoredItem): PlannedItem {
  const account = accountOf(record);
  const update = new ItemUpdate(legacyRole(account), legacyKey(migration, account));
  const mark = update.name(migration.mark);
  update.conditions.push(`${mark} > ${update.value('never', integer(0))}`);
  if (migration.removal === 'ITEM') return update.asDelete();
  update.clauses.removes.push(mark, ...heldAttributes(migration).map((name) => update.name(name)));
  return update.asUpdate();
}
