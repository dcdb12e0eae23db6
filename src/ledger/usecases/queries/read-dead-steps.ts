import type { Viewer } from '../../../auth/viewer.ts';
import { isId, isUlid } from '../../kernel/id-grammar.ts';
import { PREFIX, partition } from '../../kernel/keys.ts';
import type { Order, Step } from '../../model/orders/order.ts';
import type { IndexEntry } from '../../table/store.ts';
import { orderRefOfKey } from '../steps/due-orders.ts';
import type { Ledger } from '../runtime/ledger.ts';
import {
  type Page,
  type PageRequest,
  type Positioned,
  decodeCursor,
  encodeCursor,
  pageReading,
  toPage,
} from '../runtime/pages.ts';
import { readOrders } from './read-orders.ts';

export interface OrderStep {
  readonly order: Order;
  readonly step: Step;
}

/**
 * The dead-letter queue of the viewer's tenant, forward only. The index lists orders, and an order may have several dead
 * steps, so a cursor names the step within its order. Throws PageRequestError.
 */
export async function listDeadSteps(
  ledger: Ledger,
  viewer: Viewer,
  request: Pick<PageRequest, 'first' | 'after'>,
): Promise<Page<OrderStep>> {
  const reading = pageReading(request);
  const from = reading.cursor === undefined ? undefined : readCursor(viewer.tenant, reading.cursor);
  const entries = await ledger.store.queryIndex({
    index: 'listed',
    hash: `dead#${viewer.tenant}`,
    limit: reading.size + 1,
    newestFirst: true,
    after: from?.entry,
  });
  // The cursor's own order first: what of it comes after the cursor's step.
  const all = from === undefined ? entries : [from.entry, ...entries];
  const steps: Positioned<OrderStep>[] = [];
  for (let at = 0; at < all.length && steps.length <= reading.size; at += MAX_READ) {
    const batch = all.slice(at, at + MAX_READ);
    const orders = await readOrders(
      ledger,
      viewer,
      batch.map(({ uuid, type }) => orderRefOfKey(uuid, type)),
    );
    for (const [index, entry] of batch.entries()) {
      steps.push(...deadStepsOf(entry, orders[index], entry === from?.entry ? from.stepName : undefined));
    }
  }
  return toPage(reading, steps);
}

const MAX_READ = 100;

/** What a cursor names where an order has no dead step any more: the index is a moment behind. */
const NO_STEP = '-';

/** The dead steps of an order of the index; where there is none, its place alone, so that the page goes on behind it. */
function deadStepsOf(
  entry: IndexEntry,
  order: Order | undefined,
  afterStep: string | undefined,
): readonly Positioned<OrderStep>[] {
  const { accountId, orderId } = orderRefOfKey(entry.uuid, entry.type);
  const cursorOf = (stepName: string): string =>
    encodeCursor(accountId, orderId, String(entry.atMs), stepName);
  const steps = order?.steps ?? [];
  const from = afterStep === undefined ? 0 : steps.findIndex(({ name }) => name === afterStep) + 1;
  const dead = steps.slice(from).filter(({ state }) => state === 'DEAD');
  if (order === undefined || (dead.length === 0 && afterStep === undefined)) {
    return [{ row: undefined, cursor: cursorOf(NO_STEP) }];
  }
  return dead.map((step) => ({ row: { order, step }, cursor: cursorOf(step.name) }));
}

interface Position {
  readonly entry: IndexEntry;
  readonly stepName: string;
}

function readCursor(tenant: string, cursor: string): Position {
  const isInstant = (part: string): boolean => /^\d{1,15}$/.test(part);
  const isName = (part: string): boolean => part.length > 0 && part.length <= 255;
  const [accountId = '', orderId = '', at = '', stepName = ''] = decodeCursor(
    cursor,
    isId,
    isUlid,
    isInstant,
    isName,
  );
  const type = `${PREFIX.order}${orderId}`;
  return {
    entry: { uuid: partition(tenant, accountId), type, atMs: Number.parseInt(at, 10) },
    stepName,
  };
}
