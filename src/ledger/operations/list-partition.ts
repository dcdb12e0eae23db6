import type { StoredItem } from '../attributes.ts';
import type { Ledger } from './ledger.ts';
import { type Page, type PageReading, decodeCursor, encodeCursor, toPage } from './pages.ts';

/** Items of one partition whose sort keys begin with a prefix; the rest of a sort key names the item. */
export interface PartitionList<Row> {
  readonly uuid: string;
  readonly prefix: string;
  /** Whether the greatest sort key comes first: ULIDs make that the newest. */
  readonly descending: boolean;
  readonly isName: (name: string) => boolean;
  readonly nameOf: (item: StoredItem) => string;
  /** Undefined leaves the item out. */
  readonly read: (item: StoredItem) => Row | undefined;
  /** Where a forward reading without a cursor begins: after this name. */
  readonly startAfter?: string | undefined;
}

/** One page of such a list, by consistent reads. Throws PageRequestError for a cursor of another list. */
export async function listPartition<Row>(
  ledger: Ledger,
  list: PartitionList<Row>,
  reading: PageReading,
): Promise<Page<Row>> {
  const { uuid, prefix, descending, isName, nameOf, read, startAfter } = list;
  const [name = reading.backward ? undefined : startAfter] =
    reading.cursor === undefined ? [] : decodeCursor(reading.cursor, isName);
  const items = await ledger.store.query({
    uuid,
    prefix,
    limit: reading.size + 1,
    newestFirst: descending !== reading.backward,
    after: name === undefined ? undefined : `${prefix}${name}`,
  });
  return toPage(
    reading,
    items.map((item) => ({ row: read(item), cursor: encodeCursor(nameOf(item)) })),
  );
}
