import type { OrderRef } from '../../kernel/keys.ts';
import { PREFIX } from '../../kernel/keys.ts';
import type { IndexEntry } from '../../table/store.ts';
import type { Ledger } from '../runtime/ledger.ts';

/** An order that the due index lists, and since when it is due. The index may be behind: the order's item decides. */
export interface DueOrder {
  readonly ref: OrderRef;
  readonly atMs: number;
}

export interface DuePage {
  readonly orders: readonly DueOrder[];
  /** Where the shard's next page begins; undefined when this one was the last. */
  readonly next: IndexEntry | undefined;
}

/** One page of a shard's due orders, the longest due first. Throws TableUnavailableError in an outage. */
export async function dueOrders(
  ledger: Ledger,
  shard: number,
  limit: number,
  after: IndexEntry | undefined,
): Promise<DuePage> {
  const entries = await ledger.store.queryIndex({
    index: 'due',
    hash: String(shard),
    limit,
    newestFirst: false,
    untilMs: ledger.clock.nowMs(),
    after,
  });
  return {
    orders: entries.map(({ uuid, type, atMs }) => ({ ref: orderRefOfKey(uuid, type), atMs })),
    next: entries.length < limit ? undefined : entries.at(-1),
  };
}

/** The order that an index entry's key names. */
export function orderRefOfKey(uuid: string, type: string): OrderRef {
  const [tenant = '', accountId = ''] = uuid.split('#');
  return { tenant, accountId, orderId: type.slice(PREFIX.order.length) };
}
