import { isDeepStrictEqual } from 'node:util';
import { toAttributes } from '../../kernel/attributes.ts';
import { type OrderRef, orderKey } from '../../kernel/keys.ts';
import type { DuePolicy } from '../../model/orders/due.ts';
import { newTransitions } from '../../model/orders/order-changes.ts';
import { orderAttributes, readOrder } from '../../items/order-item.ts';
import { updateOrder } from '../../items/order-writes.ts';
import type { Order } from '../../model/orders/order.ts';
import { CONFLICT, THROTTLED, type UnstoredOf } from '../../model/outcomes.ts';
import { type Plan, plan } from '../../items/plan.ts';
import { TableUnavailableError } from '../../table/store.ts';
import { type Ledger, commit, publish } from './ledger.ts';

/** How a change of an order went. */
export type OrderChange =
  /** By this very call, also where every answer was lost and the order says that it was. */
  | { readonly kind: 'CHANGED'; readonly before: Order; readonly after: Order }
  /** There was nothing to change, or it had been changed already. */
  | { readonly kind: 'UNCHANGED'; readonly order: Order }
  | { readonly kind: 'GONE' }
  /** Nothing is known of it but that it may be tried again. */
  | { readonly kind: 'FAILED'; readonly failure: UnstoredOf<'TransactionConflict' | 'Throttled'> };

/** A lost race on `rev` reads again and decides again, this often at most. */
const MAX_DECISIONS = 5;

/**
 * Changes one order and nothing beside it: a consistent read, a pure decision, a write on the condition that nobody
 * wrote the order in between. `decide` gives undefined where nothing is to be changed. It may be called several times,
 * also on an order that has its change already, where answers were lost and others wrote since, and must then recognise it.
 */
export async function changeOrder(
  ledger: Ledger,
  ref: OrderRef,
  decide: (order: Order, nowMs: number) => Order | undefined,
): Promise<OrderChange> {
  try {
    let unsettled: Unsettled | undefined;
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
      const [item] = await ledger.store.get([orderKey(ref)]);
      if (item === undefined) return { kind: 'GONE' };
      const before = readOrder(item);
      if (unsettled !== undefined) {
        // Sent as often as is safe, and nobody has written since: it may still come, so whoever asks again decides.
        if (before.rev === unsettled.before.rev) return { kind: 'FAILED', failure: THROTTLED };
        if (holds(before, unsettled, ledger.settings)) {
          publish(ledger.bus, unsettled.sent);
          return { kind: 'CHANGED', before: unsettled.before, after: unsettled.after };
        }
      }
      const after = decide(before, ledger.clock.nowMs());
      if (after === undefined) return { kind: 'UNCHANGED', order: before };
      const sent = plan(ledger.ids.token(), updateOrder(before, after, ledger.settings));
      const result = await commit(ledger, sent);
      switch (result.kind) {
        case 'COMMITTED':
          return { kind: 'CHANGED', before, after };
        case 'SEEN':
        case 'REFUSED':
        case 'UNCLEAR':
          unsettled = undefined;
          break;
        case 'UNKNOWN':
          unsettled = { before, after, sent };
          break;
        case 'CONFLICT':
          return { kind: 'FAILED', failure: CONFLICT };
        case 'THROTTLED':
          return { kind: 'FAILED', failure: THROTTLED };
      }
    }
    return { kind: 'FAILED', failure: CONFLICT };
  } catch (error) {
    if (error instanceof TableUnavailableError) return { kind: 'FAILED', failure: THROTTLED };
    throw error;
  }
}

/** A change that was sent, and no answer said whether it came to be. */
interface Unsettled {
  readonly before: Order;
  readonly after: Order;
  readonly sent: Plan;
}

/**
 * Whether an order that was written since has the change: it is as the change left it, or its timeline lists all that
 * the change did, whatever came after.
 */
function holds(order: Order, { before, after }: Unsettled, policy: DuePolicy): boolean {
  if (isSame(order, after, policy)) return true;
  const made = newTransitions(before, after);
  return (
    made.length > 0 && made.every((one) => order.timeline.some((listed) => isDeepStrictEqual(listed, one)))
  );
}

/** Whether two orders are one and the same item. */
function isSame(one: Order, other: Order, policy: DuePolicy): boolean {
  const asItem = (order: Order): string => JSON.stringify(toAttributes(orderAttributes(order, policy)));
  return asItem(one) === asItem(other);
}
