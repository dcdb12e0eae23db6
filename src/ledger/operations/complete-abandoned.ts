import {
  type Held,
  claimOwnedBy,
  claimsOf,
  isHeld,
  mayTakeOver,
  postponeClaim,
  takeOver,
} from '../provider/attempts.ts';
import type { OrderRef } from '../keys.ts';
import type { Attempt, Claim, Order, Refund } from '../orders/order.ts';
import { changeOrder } from './change-order.ts';
import type { Settled } from './complete-claim.ts';
import { completeRefund } from './complete-refund.ts';
import { completeSession } from './complete-session.ts';
import type { Ledger } from './ledger.ts';

/** The longest that a claim with an unknown outcome rests between two takeovers. */
const MAX_REST_MS = 600_000;

/** Completes a claim that is this caller's, whatever it is of. */
export async function completeHeld(
  ledger: Ledger,
  order: Order,
  claim: Claim,
  taken: boolean,
): Promise<Settled> {
  const attempt = heldPart<Attempt>(order.attempts, claim);
  if (attempt !== undefined) return completeSession(ledger, order, attempt, taken);
  const refund = heldPart<Refund>(order.refunds, claim);
  return refund === undefined ? { kind: 'LOST' } : completeRefund(ledger, order, refund, taken);
}

function heldPart<Part extends { readonly claim?: Claim | undefined }>(
  parts: readonly Part[],
  { owner }: Claim,
): Held<Part> | undefined {
  return parts.filter(isHeld<Part>).find(({ claim }) => claim.owner === owner);
}

/**
 * Takes over a claim whose lease is past, and completes it: the same key's next request does, another request for the
 * order, or the sweeper; exactly one of them, since the write conditions on owner and lease as read. Undefined where
 * somebody else was faster, or the table couldn't say.
 */
export async function completeAbandoned(
  ledger: Ledger,
  ref: OrderRef,
  abandoned: Claim,
): Promise<Settled | undefined> {
  const owner = ledger.ids.token();
  const change = await changeOrder(ledger, ref, (order, nowMs) =>
    takeOver(order, abandoned.owner, { owner, leaseEndMs: nowMs + ledger.settings.leaseMs }, nowMs),
  );
  if (change.kind === 'GONE' || change.kind === 'FAILED') return undefined;
  const order = change.kind === 'CHANGED' ? change.after : change.order;
  const claim = claimOwnedBy(order, owner);
  if (claim === undefined) return undefined;
  const settled = await completeHeld(ledger, order, claim, true);
  if (settled.kind === 'WAITING') await rest(ledger, order, claim);
  return settled;
}

/** Completes every claim of an order whose lease is past. */
export async function completeAllAbandoned(ledger: Ledger, order: Order): Promise<void> {
  const nowMs = ledger.clock.nowMs();
  for (const claim of claimsOf(order)) {
    if (mayTakeOver(claim, nowMs)) await completeAbandoned(ledger, order, claim);
  }
}

/** A provider that can't tell isn't asked at every lease's end: the older the refund, the longer the rest. */
async function rest(ledger: Ledger, ref: Order, claim: Claim): Promise<void> {
  const refund = heldPart<Refund>(ref.refunds, claim);
  const ageMs = refund === undefined ? 0 : ledger.clock.nowMs() - refund.createdAtMs;
  const restMs = Math.max(ledger.settings.leaseMs, Math.min(ageMs, MAX_REST_MS));
  await changeOrder(ledger, ref, (order, nowMs) => {
    const current = claimOwnedBy(order, claim.owner);
    return current?.leaseEndMs === claim.leaseEndMs
      ? postponeClaim(order, claim.owner, nowMs + restMs, nowMs)
      : undefined;
  });
}
