import type { Viewer } from '../../auth/viewer.ts';
import { isId, isUlid } from '../id-grammar.ts';
import { orderKey } from '../keys.ts';
import { readOrder } from '../order-item.ts';
import type { Order, Step } from '../order.ts';
import type { IndexEntry } from '../store.ts';
import { orderRefOfKey } from './due-orders.ts';
import type { Ledger } from './ledger.ts';
import {
  type Page,
  type PageRequest,
  type Positioned,
  decodeCursor,
  encodeCursor,
  pageReading,
  toPage,
} from './pages.ts';

/** A step that ran out of attempts, with the order it belongs to. */
export interface DeadStep {
  readonly order: Order;
  readonly step: Step;
}

/** Counting stops here: past it an operator needs no exact number. */
const MAX_COUNTED = 1_000;

/**
 * The dead-letter queue of the viewer's tenant, the orders that changed last first. Keys come from the index, the steps
 * from consistent reads, so that a step that was revived a moment ago isn't listed. Throws PageRequestError.
 */
export async function listDeadSteps(
  ledger: Ledger,
  { tenant }: Pick<Viewer, 'tenant'>,
  { first, after }: Pick<PageRequest, 'first' | 'after'>,
): Promise<Page<DeadStep>> {
  const reading = pageReading({ first, after });
  const from = reading.cursor === undefined ? undefined : readCursor(tenant, reading.cursor);
  const found: Positioned<DeadStep>[] = [];
  if (from !== undefined) {
    // An order may have several: the page before may have ended between two of them.
    const ofOrder = await deadStepsOf(ledger, [from.entry]);
    found.push(...ofOrder.filter(({ row }) => row.step.name > from.stepName));
  }
  let start = from?.entry;
  for (;;) {
    const limit = reading.size + 1 - found.length;
    if (limit <= 0) break;
    const hash = listName(tenant);
    const query = { index: 'listed', hash, limit, newestFirst: true, after: start } as const;
    const entries = await ledger.store.queryIndex(query);
    found.push(...(await deadStepsOf(ledger, entries)));
    start = entries.at(-1);
    if (entries.length < limit) break;
  }
  return toPage(reading, found);
}

/** How many orders have dead steps, over all tenants, counted up to a thousand a tenant: the alert's number. */
export async function countDeadOrders(ledger: Ledger): Promise<number> {
  const counts = await Promise.all(
    [...ledger.tenants.keys()].map(async (tenant) => {
      const query = { index: 'listed', hash: listName(tenant), limit: MAX_COUNTED } as const;
      return (await ledger.store.queryIndex({ ...query, newestFirst: true })).length;
    }),
  );
  return counts.reduce((sum, one) => sum + one, 0);
}

function listName(tenant: string): string {
  return `dead#${tenant}`;
}

/** The dead steps of the listed orders; those of one order by name, so that a cursor can stand between them. */
async function deadStepsOf(
  ledger: Ledger,
  entries: readonly IndexEntry[],
): Promise<readonly (Positioned<DeadStep> & { readonly row: DeadStep })[]> {
  const refs = entries.map(({ uuid, type }) => orderRefOfKey(uuid, type));
  const items = await ledger.store.get(refs.map(orderKey));
  return entries.flatMap(({ atMs }, index) => {
    const item = items[index];
    if (item === undefined) return [];
    const order = readOrder(item);
    return order.steps
      .filter((step) => step.state === 'DEAD')
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map((step) => ({
        row: { order, step },
        cursor: encodeCursor(String(atMs), order.accountId, order.orderId, step.name),
      }));
  });
}

function readCursor(
  tenant: string,
  cursor: string,
): { readonly entry: IndexEntry; readonly stepName: string } {
  const isInstant = (text: string): boolean => /^\d{1,15}$/.test(text);
  const isName = (text: string): boolean => text !== '';
  const parts = decodeCursor(cursor, isInstant, isId, isUlid, isName);
  const [atMs = '', accountId = '', orderId = '', stepName = ''] = parts;
  const entry = { ...orderKey({ tenant, accountId, orderId }), atMs: Number.parseInt(atMs, 10) };
  return { entry, stepName };
}
