import type { StoredItem } from '../../ledger/kernel/attributes.ts';
import { readEntry } from '../../ledger/model/entries/entry.ts';
import { PREFIX } from '../../ledger/kernel/keys.ts';
import { newTransitions } from '../../ledger/model/orders/order-changes.ts';
import { readOrder } from '../../ledger/items/order-item.ts';
import { type Bus, tellOfEntry, tellOfTransition } from '../bus/bus.ts';

/** One change of the table, as its stream tells it: an item before and after. */
export interface TableChange {
  readonly before: StoredItem | undefined;
  readonly after: StoredItem | undefined;
  readonly sequence: string;
}

/** The relay's own records, and everybody's migrations: nothing that a subscriber hears of. */
export function isSystemChange({ before, after }: TableChange): boolean {
  return (after ?? before)?.['uuid']?.S?.startsWith('system#') ?? true;
}

/** Tells of the transitions and entries that a change made. Throws MalformedItemError for an item that this code can't read. */
export function tellOfChange(bus: Bus, change: TableChange): void {
  const { before, after } = change;
  if (after === undefined || isSystemChange(change)) return;
  const type = after['type']?.S ?? '';
  if (type.startsWith(PREFIX.order)) {
    const order = readOrder(after);
    const seen = before === undefined ? undefined : readOrder(before);
    for (const transition of newTransitions(seen, order)) tellOfTransition(bus, order, transition);
  }
  if (type.startsWith(PREFIX.entry) && before === undefined) tellOfEntry(bus, readEntry(after));
}
