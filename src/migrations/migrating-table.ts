import type { StoredItem } from '../ledger/kernel/attributes.ts';
import type { Ids } from '../ledger/kernel/ids.ts';
import { type ItemKey, sameKey } from '../ledger/kernel/keys.ts';
import type { Plan } from '../ledger/items/plan.ts';
import { type Store, TableUnavailableError } from '../ledger/table/store.ts';
import type { CommitHooks, CommitResult, Transactor } from '../ledger/table/transact.ts';
import { asNewItem, hasMoved, isRecord, standsFor } from './legacy-record.ts';
import { conductIn, isAtLeast } from './phases.ts';
import { recordsOf, refusalOf, rewrite } from './rewrite.ts';
import type { Acting, MigrationView } from './view.ts';

/** What the ledger reads and writes with. */
export interface Table {
  readonly store: Store;
  readonly transactor: Transactor;
}

/** A record moves once; a write that keeps meeting a change of its record is left to be decided again. */
const MAX_REWRITES = 4;
const MAX_KEYS = 100;

/**
 * The table as the ledger knows it, while its data changes shape underneath: what is read of a record that is still in
 * its old shape looks like the new one, and what is planned for the new one is written where the record is. The
 * operations know nothing of it. Without a migration under way it is the table itself.
 */
export function followMigrations(table: Table, view: MigrationView, ids: Ids): Table {
  return {
    store: {
      ...table.store,
      get: (keys) => view.act((acting) => readAs(table.store, acting, keys)),
    },
    transactor: {
      commit: (plan, hooks) =>
        throttledByOutage(() =>
          view.act((acting, isCurrent) => commit({ table, acting, isCurrent, ids, hooks }, plan)),
        ),
    },
  };
}

/** Reads by key as operations of the new shape expect it, from where the phase says that the records are. */
export async function readAs(
  store: Store,
  acting: Acting | undefined,
  keys: readonly ItemKey[],
): Promise<readonly (StoredItem | undefined)[]> {
  if (acting === undefined || isAtLeast(acting.phase, 'contract')) return store.get(keys);
  const { shape } = acting.migration;
  const covered = keys.filter((key) => standsFor(shape, key));
  if (covered.length === 0) return store.get(keys);
  const { reads } = conductIn(acting.phase);
  const recordKey = ({ uuid }: ItemKey): ItemKey => ({ uuid, type: shape.type });
  const wanted = [
    ...keys.filter((key) => reads === 'NEW' || !standsFor(shape, key)),
    ...covered.map(recordKey),
  ];
  const items = await getAll(store, wanted);
  const found = (key: ItemKey): StoredItem | undefined => items[wanted.findIndex((one) => sameKey(one, key))];
  return keys.map((key) => {
    if (!standsFor(shape, key)) return found(key);
    const record = found(recordKey(key));
    const readsNew = reads === 'NEW' && !(isRecord(shape, record) && !hasMoved(shape, record));
    return readsNew ? found(key) : asNewItem(shape, key, record);
  });
}

/** A read of as many keys as it takes: those of the old shape may come on top of a full one. */
async function getAll(store: Store, keys: readonly ItemKey[]): Promise<readonly (StoredItem | undefined)[]> {
  const items = [...(await store.get(keys.slice(0, MAX_KEYS)))];
  for (let start = MAX_KEYS; start < keys.length; start += MAX_KEYS) {
    items.push(...(await store.get(keys.slice(start, start + MAX_KEYS))));
  }
  return items;
}

/** What was to be looked up before writing couldn't be: nothing was written, and the same may be tried again. */
async function throttledByOutage(write: () => Promise<CommitResult>): Promise<CommitResult> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof TableUnavailableError) return { kind: 'THROTTLED' };
    throw error;
  }
}

interface Commit {
  readonly table: Table;
  readonly acting: Acting | undefined;
  readonly isCurrent: () => boolean;
  readonly ids: Ids;
  readonly hooks: CommitHooks | undefined;
}

async function commit({ table, acting, isCurrent, ids, hooks }: Commit, plan: Plan): Promise<CommitResult> {
  const { store, transactor } = table;
  // Also where no migration is under way: one may begin while this is tried again.
  const whileCurrent: CommitHooks = { ...hooks, maySend: isCurrent };
  if (acting === undefined || isAtLeast(acting.phase, 'contract'))
    return transactor.commit(plan, whileCurrent);
  const { migration, phase } = acting;
  const keys = recordsOf(migration, plan);
  if (keys.length === 0) return transactor.commit(plan, whileCurrent);
  for (let rewrites = 0; rewrites < MAX_REWRITES; rewrites += 1) {
    // In `off` nothing has moved, and the condition says so: no need to look.
    const records = phase === 'off' ? [] : await store.get(keys);
    const rewritten = rewrite(migration, conductIn(phase), plan, records);
    const requestToken = rewrites === 0 ? plan.token : ids.token();
    const result = await transactor.commit({ ...rewritten.plan, requestToken }, whileCurrent);
    if (result.kind !== 'REFUSED') return result;
    const failed = refusalOf(migration, rewritten, result.failed);
    if (failed !== undefined) return { kind: 'REFUSED', failed };
  }
  return { kind: 'UNCLEAR' };
}
