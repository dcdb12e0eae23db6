import { isDeepStrictEqual } from 'node:util';
import { toAttributes } from '../../kernel/attributes.ts';
import type { OrderRef } from '../../kernel/keys.ts';
import type { DuePolicy } from '../../model/orders/due.ts';
import { newTransitions } from '../../model/orders/order-changes.ts';
import { orderAttributes } from '../../items/order-item.ts';
import { updateOrder } from '../../items/order-writes.ts';
import type { Order } from '../../model/orders/order.ts';
import { CONFLICT, THROTTLED, type UnstoredOf } from '../../model/outcomes.ts';
import { plan } from '../../items/plan.ts';
import { type CommitFailure, REREAD, type Transaction, decideAndCommit } from './decide-and-commit.ts';
import type { Ledger } from './ledger.ts';
import { readOrderAt } from './read-order.ts';

/** How a change of an order went. */
export type OrderChange =
  /** By this very call, also where every answer was lost and the order says that it was. */
  | { readonly kind: 'CHANGED'; readonly before: Order; readonly after: Order }
  /** There was nothing to change, or it had been changed already. */
  | { readonly kind: 'UNCHANGED'; readonly order: Order }
  | { readonly kind: 'GONE' }
  /** Nothing is known of it but that it may be tried again. */
  | { readonly kind: 'FAILED'; readonly failure: UnstoredOf<'TransactionConflict' | 'Throttled'> };

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
  return decideAndCommit<OrderChange>(ledger, {
    decide: async () => {
      const before = await readOrderAt(ledger.store, ref);
      if (before === undefined) return { kind: 'ANSWER', answer: { kind: 'GONE' } };
      const after = decide(before, ledger.clock.nowMs());
      if (after === undefined) return { kind: 'ANSWER', answer: { kind: 'UNCHANGED', order: before } };
      const change = { before, after };
      const transaction: Transaction<OrderChange> = {
        kind: 'COMMIT',
        plan: plan(ledger.ids.token(), updateOrder(before, after, ledger.settings)),
        committed: () => ({ kind: 'CHANGED', ...change }),
        resolve: async () => {
          const now = await readOrderAt(ledger.store, ref);
          // Sent as often as is safe, and nobody has written since: it may still come, so whoever asks again decides.
          if (now?.rev === before.rev) return { kind: 'ANSWER', answer: failed('THROTTLED') };
          const did = now !== undefined && holds(now, change, ledger.settings);
          return did ? { kind: 'COMMITTED', transaction } : REREAD;
        },
      };
      return transaction;
    },
    failed,
  });
}

function failed(failure: CommitFailure): OrderChange {
  return { kind: 'FAILED', failure: failure === 'CONFLICT' ? CONFLICT : THROTTLED };
}

/**
 * Whether an order that was written since has the change: it is as the change left it, or its timeline lists all that
 * the change did, whatever came after.
 */
function holds(
  order: Order,
  { before, after }: { readonly before: Order; readonly after: Order },
  policy: DuePolicy,
): boolean {
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
