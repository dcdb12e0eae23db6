import type { StoredItem } from '../ledger/kernel/attributes.ts';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Ids } from '../ledger/kernel/ids.ts';
import { type ItemKey, sameKey } from '../ledger/kernel/keys.ts';
import type { Plan } from '../ledger/items/plan.ts';
import { type Store, TableUnavailableError } from '../ledger/table/store.ts';
import type { CommitHooks, CommitResult } from '../ledger/table/transact.ts';
import { recordsOf, refusalOf, rewrite } from './dual-write.ts';
import { type Migration, asNewItem, hasMoved, isNewType, isRecord } from './legacy-record.ts';
import { isAtLeast, policyOf } from './phases.ts';
import { LEASE_MS } from './state.ts';
import type { Table } from './toolkit.ts';
import { type Acting, type MigrationView, POLL_MS, actingOn, underWay } from './view.ts';

/** A record moves once; a write that keeps meeting a change of its record is left to be decided again. */
const MAX_REWRITES = 4;
const MAX_KEYS = 100;
/** So often a reading may take too long; then the table is too slow to be read. */
const MAX_READINGS = 3;

/**
 * The table as the ledger knows it, while its data changes shape underneath: what is read of a record that is still in
 * its old shape looks like the new one, and what is planned for the new one is written where the record is. The
 * operations know nothing of it. Without a migration under way it is the table itself.
 */
export function followMigrations(table: Table, view: MigrationView, ids: Ids): Table {
  const { store } = table;
  return {
    store: { ...store, get: (keys) => view.act((acting) => readAs(store, acting, keys)) },
    transactor: {
      commit: async (plan, hooks) => {
        try {
          return await view.act((acting, isCurrent) =>
            // Also where no migration is under way: one may begin while this is tried again.
            commitAs(acting, table, plan, { ...hooks, maySend: isCurrent }, () => ids.token()),
          );
        } catch (error) {
          // What was to be looked up before writing couldn't be: nothing was written, and the same may be tried again.
          if (error instanceof TableUnavailableError) return { kind: 'THROTTLED' };
          throw error;
        }
      },
    },
  };
}

/**
 * The table for tools that only read: they follow a migration's shapes and are none of its fleet, so that they write
 * nothing, not even a heartbeat, and no step waits for them. A commit is a bug, and throws.
 *
 * That is safe in every phase. Steps wait for the fleet so that no write of an older phase is still on its way, and a
 * reader has none. What it shows is right as long as the shape that it looks at is still written: the old one up to and
 * including `read-new`, the new one of what has moved from `expand` on. So a step that is taken between its look at the
 * state and its look at the items makes no difference. Two might, from `verify` to `contract`: the old shape is as it was
 * at the last write before. The state is read anew every second of a run, and what took longer than a process may act on
 * one state is read again, so that nothing is shown that wasn't true within the last LEASE_MS; and nothing is decided by it.
 */
export function readAlongMigrations(store: Store, clock: Clock): Table {
  let known: { readonly acting: Acting | undefined; readonly readAtMs: number } | undefined;
  const stateOfNow = async (): Promise<NonNullable<typeof known>> => {
    const readAtMs = clock.nowMs();
    if (known !== undefined && readAtMs - known.readAtMs <= POLL_MS) return known;
    known = { acting: actingOn(await underWay(store)), readAtMs };
    return known;
  };
  const get = async (keys: readonly ItemKey[]): ReturnType<Store['get']> => {
    for (let readings = 0; readings < MAX_READINGS; readings += 1) {
      const { acting, readAtMs } = await stateOfNow();
      const items = await readAs(store, acting, keys);
      if (clock.nowMs() - readAtMs <= LEASE_MS) return items;
    }
    throw new TableUnavailableError();
  };
  const commit = (): Promise<never> => Promise.reject(new Error('a tool that only reads was about to write'));
  return { store: { ...store, get }, transactor: { commit } };
}

/** From `contract` on there is only the new shape, which is the ledger's own. */
function migrationIn(acting: Acting | undefined): Migration | undefined {
  return acting === undefined || isAtLeast(acting.phase, 'contract') ? undefined : acting.migration;
}

/** Reads by key as operations of the new shape expect it, from where the phase says that the records are. */
async function readAs(
  store: Store,
  acting: Acting | undefined,
  keys: readonly ItemKey[],
): ReturnType<Store['get']> {
  const migration = migrationIn(acting);
  const isCovered = ({ type }: ItemKey): boolean => migration !== undefined && isNewType(migration, type);
  const covered = keys.filter(isCovered);
  if (acting === undefined || migration === undefined || covered.length === 0) return store.get(keys);
  const { reads } = policyOf(acting.phase);
  const recordKey = ({ uuid }: ItemKey): ItemKey => ({ uuid, type: migration.type });
  const wanted = [...keys.filter((key) => reads === 'NEW' || !isCovered(key)), ...covered.map(recordKey)];
  const items = await getAll(store, wanted);
  const found = (key: ItemKey): StoredItem | undefined => items[wanted.findIndex((one) => sameKey(one, key))];
  return keys.map((key) => {
    if (!isCovered(key)) return found(key);
    const record = found(recordKey(key));
    const readsNew = reads === 'NEW' && !(isRecord(migration, record) && !hasMoved(migration, record));
    return readsNew ? found(key) : asNewItem(migration, key, record);
  });
}

/** A read of as many keys as it takes: those of the old shape may come on top of a full one. */
async function getAll(store: Store, keys: readonly ItemKey[]): ReturnType<Store['get']> {
  const items = [...(await store.get(keys.slice(0, MAX_KEYS)))];
  for (let start = MAX_KEYS; start < keys.length; start += MAX_KEYS) {
    items.push(...(await store.get(keys.slice(start, start + MAX_KEYS))));
  }
  return items;
}

/** Commits a plan of the new shape as the phase says: a record that moved meanwhile is looked at again. */
async function commitAs(
  acting: Acting | undefined,
  { store, transactor }: Table,
  plan: Plan,
  hooks: CommitHooks,
  newToken: () => string,
): Promise<CommitResult> {
  const migration = migrationIn(acting);
  const keys = migration === undefined ? [] : recordsOf(migration, plan);
  if (acting === undefined || migration === undefined || keys.length === 0)
    return transactor.commit(plan, hooks);
  for (let rewrites = 0; rewrites < MAX_REWRITES; rewrites += 1) {
    // In `off` nothing has moved, and the condition says so: no need to look.
    const records = acting.phase === 'off' ? [] : await store.get(keys);
    const rewritten = rewrite(migration, policyOf(acting.phase), plan, records);
    const requestToken = rewrites === 0 ? plan.token : newToken();
    const result = await transactor.commit({ ...rewritten.plan, requestToken }, hooks);
    if (result.kind !== 'REFUSED') return result;
    const failed = refusalOf(migration, rewritten, result.failed);
    if (failed !== undefined) return { kind: 'REFUSED', failed };
  }
  return { kind: 'UNCLEAR' };
}
