import { type OrderRef, orderKey } from '../keys.ts';
import { newTransitions } from '../orders/order-changes.ts';
import { readOrder } from '../orders/order-item.ts';
import { updateOrder } from '../orders/order-writes.ts';
import type { Order } from '../orders/order.ts';
import { CONFLICT, THROTTLED, type UnstoredOf } from '../outcomes.ts';
import { type Plan, plan } from '../plan.ts';
import { TableUnavailableError } from '../store.ts';
import { type Ledger, commit, publish } from './ledger.ts';

/** How a change of an order went. */
export type OrderChange =
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
 * also on an order that has its change already (after a lost answer), and must then recognise it.
 */
export async function changeOrder(
  ledger: Ledger,
  ref: OrderRef,
  decide: (order: Order, nowMs: number) => Order | undefined,
): Promise<OrderChange> {
  try {
    let unsettled: { readonly sent: Plan; readonly rev: number } | undefined;
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
      const [item] = await ledger.store.get([orderKey(ref)]);
      if (item === undefined) return { kind: 'GONE' };
      const before = readOrder(item);
      if (unsettled !== undefined) {
        // Sent as often as is safe, and nobody has written since: it may still come, so whoever asks again decides.
        if (before.rev === unsettled.rev) return { kind: 'FAILED', failure: THROTTLED };
        if (holds(before, unsettled.sent)) publish(ledger.bus, unsettled.sent);
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
          unsettled = { sent, rev: before.rev };
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

/** Whether the order has the transitions of a plan whose answer was lost: then it committed, and nobody was told. */
function holds(order: Order, { orders }: Plan): boolean {
  return orders.every(({ transitions }) =>
    transitions.every((transition) =>
      newTransitions(undefined, order).some(
        (listed) =>
          listed.version === transition.version &&
          listed.cause === transition.cause &&
          listed.atMs === transition.atMs,
      ),
    ),
  );
}
