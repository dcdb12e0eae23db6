import { mayListMerchantOrders } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { isId, isUlid } from '../../kernel/id-grammar.ts';
import { type AccountRef, PREFIX, partition } from '../../kernel/keys.ts';
import { readOrder } from '../../items/order-item.ts';
import type { OrderState } from '../../model/orders/order-states.ts';
import type { Order } from '../../model/orders/order.ts';
import type { IndexEntry, IndexRequest } from '../../table/store.ts';
import { leastUlidAt } from '../../kernel/ulid-time.ts';
import { orderRefOfKey } from '../steps/due-orders.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { listPartition } from '../runtime/list-partition.ts';
import {
  MAX_PAGE_SIZE,
  type Page,
  type PageReading,
  type PageRequest,
  PageRequestError,
  decodeCursor,
  encodeCursor,
  pageReading,
  readPage,
} from '../runtime/pages.ts';
import { readOrders } from './read-orders.ts';

export interface OrderFilter {
  readonly accountId?: string | undefined;
  readonly merchantId?: string | undefined;
  readonly state?: OrderState | undefined;
  readonly createdFromMs?: number | undefined;
  readonly createdBeforeMs?: number | undefined;
}

/**
 * A customer's own orders, a merchant's or terminal's merchant's; an admin names an account or a merchant. Undefined for
 * what isn't the viewer's. Throws PageRequestError for arguments that make no page.
 */
export async function listOrders(
  ledger: Ledger,
  viewer: Viewer,
  filter: OrderFilter,
  request: PageRequest,
): Promise<Page<Order> | undefined> {
  const reading = pageReading(request);
  const scope = scopeOf(viewer, filter);
  if (scope === undefined) return undefined;
  if (!isId('accountId' in scope ? scope.accountId : scope.merchantId)) return undefined;
  const matches = (order: Order): boolean => isWithin(order, filter);
  return 'accountId' in scope
    ? listAccountOrders(ledger, scope, filter, matches, reading)
    : listMerchantOrders(ledger, viewer, scope.merchantId, filter, matches, reading);
}

function scopeOf(
  viewer: Viewer,
  { accountId, merchantId }: OrderFilter,
): AccountRef | { readonly merchantId: string } | undefined {
  const { tenant, subject, role } = viewer;
  switch (role) {
    case 'CUSTOMER':
      return (accountId ?? subject) === subject ? { tenant, accountId: subject } : undefined;
    case 'MERCHANT':
    case 'TERMINAL': {
      const own = merchantId ?? viewer.merchantId;
      return own !== undefined && mayListMerchantOrders(viewer, tenant, own)
        ? { merchantId: own }
        : undefined;
    }
    case 'ADMIN':
      if (accountId !== undefined) return { tenant, accountId };
      if (merchantId !== undefined) return { merchantId };
      throw new PageRequestError('an admin names an account or a merchant');
  }
}

function isWithin(order: Order, filter: OrderFilter): boolean {
  const { accountId, merchantId, state, createdFromMs, createdBeforeMs } = filter;
  return (
    (accountId === undefined || order.accountId === accountId) &&
    (merchantId === undefined || order.merchantId === merchantId) &&
    (state === undefined || order.state === state) &&
    (createdFromMs === undefined || order.createdAtMs >= createdFromMs) &&
    (createdBeforeMs === undefined || order.createdAtMs < createdBeforeMs)
  );
}

async function listAccountOrders(
  ledger: Ledger,
  { tenant, accountId }: AccountRef,
  { createdFromMs, createdBeforeMs }: OrderFilter,
  matches: (order: Order) => boolean,
  reading: PageReading,
): Promise<Page<Order>> {
  const list = {
    uuid: partition(tenant, accountId),
    prefix: PREFIX.order,
    descending: true,
    isName: isUlid,
    nameOf: (item: Parameters<typeof readOrder>[0]) => readOrder(item).orderId,
    read: (item: Parameters<typeof readOrder>[0]) => {
      const order = readOrder(item);
      return matches(order) ? order : undefined;
    },
    // Ids sort by time: what is too new isn't even read, and the first that is too old ends the list.
    range: { from: leastUlid(createdFromMs), before: leastUlid(createdBeforeMs) },
  };
  return listPartition(ledger, list, reading);
}

function leastUlid(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : leastUlidAt(atMs);
}

/** Through the index, which names keys alone and may be behind: the orders themselves are read consistently. */
async function listMerchantOrders(
  ledger: Ledger,
  viewer: Viewer,
  merchantId: string,
  { createdFromMs = 0, createdBeforeMs = Number.MAX_SAFE_INTEGER }: OrderFilter,
  matches: (order: Order) => boolean,
  reading: PageReading,
): Promise<Page<Order>> {
  const { tenant } = viewer;
  const range = { fromMs: createdFromMs, untilMs: createdBeforeMs - 1 };
  return readPage(reading, async (cursor, limit) => {
    const left = leftOf(range, cursor === undefined ? undefined : entryOfCursor(tenant, cursor), reading);
    if (left === undefined) return [];
    const entries = await ledger.store.queryIndex({
      index: 'by_merchant',
      hash: partition(tenant, merchantId),
      limit,
      newestFirst: !reading.backward,
      ...left,
    });
    const refs = entries.map(({ uuid, type }) => orderRefOfKey(uuid, type));
    // A page of a hundred reads one more, to know whether that is all.
    const parts = [refs.slice(0, MAX_PAGE_SIZE), refs.slice(MAX_PAGE_SIZE)];
    const orders = (await Promise.all(parts.map((part) => readOrders(ledger, viewer, part)))).flat();
    return entries.map((entry, index) => {
      const order = orders[index];
      return { row: order !== undefined && matches(order) ? order : undefined, cursor: cursorOf(entry) };
    });
  });
}

type IndexRange = Pick<IndexRequest, 'after'> & { readonly fromMs: number; readonly untilMs: number };

/**
 * What is still to be read of a range; undefined if nothing. DynamoDB refuses bounds the wrong way round, and a start outside of
 * them: a cursor from there has all of the range before it, or behind it.
 */
function leftOf(
  range: Omit<IndexRange, 'after'>,
  after: IndexEntry | undefined,
  { backward }: PageReading,
): IndexRange | undefined {
  const { fromMs, untilMs } = range;
  if (fromMs > untilMs) return undefined;
  if (after === undefined) return range;
  if (backward ? after.atMs > untilMs : after.atMs < fromMs) return undefined;
  return after.atMs < fromMs || after.atMs > untilMs ? range : { ...range, after };
}

function cursorOf({ uuid, type, atMs }: IndexEntry): string {
  const { accountId, orderId } = orderRefOfKey(uuid, type);
  return encodeCursor(accountId, orderId, String(atMs));
}

/** The tenant is the viewer's, whatever the cursor was made for. */
function entryOfCursor(tenant: string, cursor: string): IndexEntry {
  const isInstant = (part: string): boolean => /^\d{1,15}$/.test(part);
  const [accountId = '', orderId = '', at = ''] = decodeCursor(cursor, isId, isUlid, isInstant);
  return {
    uuid: partition(tenant, accountId),
    type: `${PREFIX.order}${orderId}`,
    atMs: Number.parseInt(at, 10),
  };
}
