import type { StoredItem } from '../../kernel/attributes.ts';
import type { Ledger } from './ledger.ts';
import { type Page, type PageReading, decodeCursor, encodeCursor, readPage } from './pages.ts';

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
  /** Of a descending list: names at or above this one, and below that one, are all there is. */
  readonly range?: { readonly from?: string | undefined; readonly before?: string | undefined };
}

/** One page of such a list, by consistent reads. Throws PageRequestError for a cursor of another list. */
export async function listPartition<Row>(
  ledger: Ledger,
  list: PartitionList<Row>,
  reading: PageReading,
): Promise<Page<Row>> {
  const { uuid, prefix, descending, isName, nameOf, read, range = {} } = list;
  const start = reading.backward ? range.from : range.before;
  const isWithin = (name: string): boolean =>
    (range.from === undefined || name >= range.from) && (range.before === undefined || name < range.before);
  return readPage(reading, async (cursor, limit) => {
    const [name = start] = cursor === undefined ? [] : decodeCursor(cursor, isName);
    const items = await ledger.store.query({
      uuid,
      prefix,
      limit,
      newestFirst: descending !== reading.backward,
      after: name === undefined ? undefined : `${prefix}${name}`,
    });
    return items
      .filter((item) => isWithin(nameOf(item)))
      .map((item) => ({ row: read(item), cursor: encodeCursor(nameOf(item)) }));
  });
}
