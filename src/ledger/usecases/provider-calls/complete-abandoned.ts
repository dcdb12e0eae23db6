import { readRefund } from '../../items/refund-item.ts';
import { type OrderRef, refundKey } from '../../kernel/keys.ts';
import { ulidTimeMs } from '../../kernel/ulid-time.ts';
import type { Lease, Order } from '../../model/orders/order.ts';
import {
  attemptLeasedBy,
  leaseOwnedBy,
  leasesOf,
  mayTakeOver,
  extendLease,
  takeOver,
} from '../../model/provider/attempts.ts';
import { changeOrder } from '../runtime/change-order.ts';
import { readAgain } from './ask-provider.ts';
import { type ClaimResult, refundClaimOf } from './complete-claim.ts';
import { completeRefund } from './complete-refund.ts';
import { completeSession } from './complete-session.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';

/** The longest that a claim with an unknown outcome rests between two takeovers. */
const MAX_REST_MS = 600_000;

/** Completes a claim that is this caller's, whatever it is of. Throws TableUnavailableError. */
export async function completeLeased(
  ledger: Ledger,
  order: Order,
  lease: Lease,
  taken: boolean,
): Promise<ClaimResult> {
  const attempt = attemptLeasedBy(order, lease.owner);
  if (attempt !== undefined) return completeSession(ledger, order, attempt, taken);
  const claim = refundClaimOf(order, lease);
  if (claim === undefined) return { kind: 'LOST' };
  const refund = await readItem(ledger, refundKey({ ...order, refundId: claim.refundId }), readRefund);
  return refund === undefined ? { kind: 'LOST' } : completeRefund(ledger, order, refund, lease, taken);
}

/**
 * Takes over a claim whose lease is past, and completes it: the same key's next request does, another request for the
 * order, or the sweeper; exactly one of them, since the write conditions on owner and lease as read. Undefined where
 * somebody else was faster, the table couldn't say, or this process's clock can't tell that the lease is past.
 */
export async function completeAbandoned(
  ledger: Ledger,
  ref: OrderRef,
  abandoned: Lease,
): Promise<ClaimResult | undefined> {
  if (!ledger.clock.isRight()) return undefined;
  const owner = ledger.ids.token();
  const change = await changeOrder(ledger, ref, (order, nowMs) =>
    takeOver(order, abandoned.owner, { owner, leaseEndMs: nowMs + ledger.settings.leaseMs }, nowMs),
  );
  if (change.kind === 'GONE' || change.kind === 'FAILED') return undefined;
  const order = change.kind === 'CHANGED' ? change.after : change.order;
  const lease = leaseOwnedBy(order, owner);
  if (lease === undefined) return undefined;
  const result = await completeLeased(ledger, order, lease, true);
  if (result.kind === 'WAITING') await rest(ledger, order, lease);
  return result;
}

/** Completes every claim of an order whose lease is past. Gives the order as it stands then. */
export async function completeAllAbandoned(ledger: Ledger, order: Order): Promise<Order> {
  const nowMs = ledger.clock.nowMs();
  const abandoned = leasesOf(order).filter((lease) => mayTakeOver(lease, nowMs));
  for (const lease of abandoned) await completeAbandoned(ledger, order, lease);
  return abandoned.length === 0 ? order : readAgain(ledger, order);
}

/** A provider that can't tell isn't asked at every lease's end: the older the refund, the longer the rest. */
async function rest(ledger: Ledger, ref: Order, lease: Lease): Promise<void> {
  const claim = refundClaimOf(ref, lease);
  const ageMs = claim === undefined ? 0 : ledger.clock.nowMs() - ulidTimeMs(claim.refundId);
  const restMs = Math.max(ledger.settings.leaseMs, Math.min(ageMs, MAX_REST_MS));
  await changeOrder(ledger, ref, (order, nowMs) => {
    const current = leaseOwnedBy(order, lease.owner);
    return current?.leaseEndMs === lease.leaseEndMs
      ? extendLease(order, lease.owner, nowMs + restMs, nowMs)
      : undefined;
  });
}
