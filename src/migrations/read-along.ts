import type { Clock } from '../ledger/kernel/clock.ts';
import { type Store, TableUnavailableError } from '../ledger/table/store.ts';
import type { Transactor } from '../ledger/table/transact.ts';
import { LEASE_MS } from './heartbeat.ts';
import { type Table, readAs } from './migrating-table.ts';
import { type Acting, POLL_MS, actingOn, underWay } from './view.ts';

/*
 * The table for tools that only read: they follow a migration's shapes and are none of its fleet, so that they write
 * nothing, not even a heartbeat, and no step waits for them.
 *
 * That is safe in every phase. Steps wait for the fleet so that no write of an older phase is still on its way, and a
 * reader has none. What it shows is right as long as the shape that it looks at is still written: the old one up to and
 * including `read-new`, the new one of what has moved from `expand` on. So a step that is taken between its look at the
 * state and its look at the items makes no difference. Two might, from `verify` to `contract`: the old shape is as it was
 * at the last write before. The state is read anew every second of a run, and what took longer than a process may act on
 * one state is read again, so that nothing is shown that wasn't true within the last LEASE_MS; and nothing is decided by it.
 */

/** So often a reading may take too long; then the table is too slow to be read. */
const MAX_READINGS = 3;

/** Follows migrations by reading alone; a commit is a bug, and throws. */
export function readAlongMigrations(store: Store, clock: Clock): Table {
  let known: { readonly acting: Acting | undefined; readonly readAtMs: number } | undefined;
  const stateOfNow = async (): Promise<NonNullable<typeof known>> => {
    const readAtMs = clock.nowMs();
    if (known !== undefined && readAtMs - known.readAtMs <= POLL_MS) return known;
    known = { acting: actingOn(await underWay(store)), readAtMs };
    return known;
  };
  return {
    store: {
      ...store,
      get: async (keys) => {
        for (let readings = 0; readings < MAX_READINGS; readings += 1) {
          const { acting, readAtMs } = await stateOfNow();
          const items = await readAs(store, acting, keys);
          if (clock.nowMs() - readAtMs <= LEASE_MS) return items;
        }
        throw new TableUnavailableError();
      },
    },
    transactor: refusesToWrite,
  };
}

const refusesToWrite: Transactor = {
  commit: () => Promise.reject(new Error('a tool that only reads was about to write')),
};
