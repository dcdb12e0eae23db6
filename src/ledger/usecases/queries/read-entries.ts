import { maySeeHistory } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { type Entry, ledgerAccount, netChanges, readEntry } from '../../model/entries/entry.ts';
import { isUlid } from '../../kernel/id-grammar.ts';
import { type AccountRef, type EntryRef, PREFIX, entryKey, partition } from '../../kernel/keys.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';
import { listPartition } from '../runtime/list-partition.ts';
import { type Page, type PageRequest, PageRequestError, pageReading } from '../runtime/pages.ts';

/** Up to 100 entries by one consistent read, in the order of `refs`; undefined where the viewer may not see them. */
export async function readEntries(
  ledger: Ledger,
  viewer: Viewer,
  refs: readonly EntryRef[],
): Promise<readonly (Entry | undefined)[]> {
  const entries = await readOwnEntries(ledger, refs);
  return entries.map((entry) =>
    entry !== undefined && maySeeHistory(viewer, entry.tenant, entry.accountId) ? entry : undefined,
  );
}

/**
 * Entries that the caller's own request has made, for the answer to it: a terminal sees what it charged, though not the
 * customer's history.
 */
export async function readOwnEntries(
  ledger: Ledger,
  refs: readonly EntryRef[],
): Promise<readonly (Entry | undefined)[]> {
  const items = await ledger.store.get(refs.map(entryKey));
  return items.map((item) => (item === undefined ? undefined : readEntry(item)));
}

/** An account's entries, of one asset if given; undefined where the viewer may not see them. Throws PageRequestError. */
export async function listEntries(
  ledger: Ledger,
  viewer: Viewer,
  { tenant, accountId }: AccountRef,
  asset: string | undefined,
  request: PageRequest,
): Promise<Page<Entry> | undefined> {
  const reading = pageReading(request);
  if (!maySeeHistory(viewer, tenant, accountId)) return undefined;
  if (asset !== undefined && !tenantOf(ledger, tenant).assets.has(asset))
    throw new PageRequestError('asset is none of this tenant');
  const wallet = ledgerAccount.wallet(accountId);
  const touches = (entry: Entry): boolean =>
    asset === undefined || netChanges(entry, wallet).some((change) => change.asset === asset);
  const read = (item: StoredItem): Entry | undefined => {
    const entry = readEntry(item);
    return touches(entry) ? entry : undefined;
  };
  const nameOf = (item: StoredItem): string => readEntry(item).entryId;
  const list = { uuid: partition(tenant, accountId), prefix: PREFIX.entry, descending: true };
  return listPartition(ledger, { ...list, isName: isUlid, nameOf, read }, reading);
}
