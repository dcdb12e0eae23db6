import { epochS } from '../clock.ts';
import { claimOwnedBy } from '../provider/attempts.ts';
import { type MarkerRef, markerKey, orderKey } from '../keys.ts';
import { MARKER_LIFE_S, type Marker, completeMarker, deleteMarker, readMarker } from '../marker.ts';
import { readOrder } from '../orders/order-item.ts';
import { updateOrder } from '../orders/order-writes.ts';
import type { Claim, Order } from '../orders/order.ts';
import type { Stored, UnstoredOf } from '../outcomes.ts';
import { type Plan, type PlanPart, plan } from '../plan.ts';
import { TableUnavailableError } from '../store.ts';
import { type Request, outcomeTtlS } from './idempotency.ts';
import { type Ledger, commit, publish } from './ledger.ts';

/** What settles a claim: the order as it will be, what is booked with it, and what becomes of the marker. */
export interface Settlement {
  readonly order: Order;
  readonly parts?: readonly PlanPart[];
  readonly marker: MarkerEnd;
}

export type MarkerEnd =
  | { readonly kind: 'KEPT'; readonly status: 'COMPLETED' | 'FAILED'; readonly outcome: Stored }
  /** Nothing came of it: the key may be used again. */
  | { readonly kind: 'FREED' };

/** How a claim went. */
export type Settled =
  | { readonly kind: 'SETTLED'; readonly end: MarkerEnd }
  /** It was no longer this owner's: somebody took it over, or the provider's event came first. */
  | { readonly kind: 'LOST' }
  /** The provider's answer is still unknown: the claim stands, and is taken up again once its lease is past. */
  | { readonly kind: 'WAITING' }
  /** The table couldn't be written: the claim stands. */
  | { readonly kind: 'UNSETTLED' };

export const PROVIDER_UNAVAILABLE: UnstoredOf<'ProviderUnavailable'> = {
  kind: 'ProviderUnavailable',
  retryAfterMs: 5_000,
};

/** A lost race on `rev` reads again and decides again, this often at most. */
const MAX_DECISIONS = 5;

/** The claim that a request takes with its marker: an unguessable owner, and a lease. */
export function claimFor(ledger: Ledger, { ref }: Request, nowMs: number): Claim {
  const { principal, operation, key } = ref;
  return {
    owner: ledger.ids.token(),
    leaseEndMs: nowMs + ledger.settings.leaseMs,
    marker: { principal, operation, key },
    markerTtlS: epochS(nowMs) + MARKER_LIFE_S,
  };
}

/**
 * Completes order and marker together, on the condition that the claim is still its owner's: a pure check on what is
 * read, and `rev` holds it until the commit. Where the order was written in between, it is read and judged again.
 */
export async function settleClaim(
  ledger: Ledger,
  { tenant, accountId, orderId }: Order,
  claim: Claim,
  settle: (order: Order, nowMs: number) => Settlement,
): Promise<Settled> {
  const ref: MarkerRef = { tenant, ...claim.marker };
  let unsettled: { readonly sent: Plan; readonly rev: number } | undefined;
  try {
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
      const [markerItem, orderItem] = await ledger.store.get([
        markerKey(ref),
        orderKey({ tenant, accountId, orderId }),
      ]);
      const marker = markerItem === undefined ? undefined : readMarker(markerItem);
      const order = orderItem === undefined ? undefined : readOrder(orderItem);
      if (order === undefined || claimOwnedBy(order, claim.owner) === undefined) {
        return ownEnd(ledger, marker, unsettled?.sent) ?? { kind: 'LOST' };
      }
      // Sent as often as is safe, and nobody has written since: it may still come, and the claim stands until then.
      if (order.rev === unsettled?.rev) return { kind: 'UNSETTLED' };
      const nowMs = ledger.clock.nowMs();
      const settlement = settle(order, nowMs);
      const token = ledger.ids.token();
      const sent = plan(
        token,
        ...(isOf(marker, order, claim)
          ? [markerPart(ledger, ref, marker, settlement.marker, token, nowMs)]
          : []),
        updateOrder(order, settlement.order, ledger.settings),
        ...(settlement.parts ?? []),
      );
      const result = await commit(ledger, sent);
      if (result.kind === 'COMMITTED') return { kind: 'SETTLED', end: settlement.marker };
      if (result.kind === 'CONFLICT' || result.kind === 'THROTTLED') return { kind: 'UNSETTLED' };
      if (result.kind === 'UNKNOWN') unsettled = { sent, rev: order.rev };
    }
    return { kind: 'UNSETTLED' };
  } catch (error) {
    if (error instanceof TableUnavailableError) return { kind: 'UNSETTLED' };
    throw error;
  }
}

/**
 * Whether the marker still waits for this claim. A claim may outlive its marker, whose key may by then be another
 * request's, of the same order even: then the order is completed alone.
 */
function isOf(marker: Marker | undefined, order: Order, { owner }: Claim): marker is Marker {
  const refund = order.refunds.find(({ claim }) => claim?.owner === owner);
  return (
    marker?.status === 'PROCESSING' &&
    marker.claimOf?.orderId === order.orderId &&
    marker.claimOf.refundId === refund?.refundId
  );
}

function markerPart(
  ledger: Ledger,
  ref: MarkerRef,
  marker: Marker,
  end: MarkerEnd,
  token: string,
  processedAtMs: number,
): PlanPart {
  if (end.kind === 'FREED') return deleteMarker(ref, marker.fingerprint);
  const { fingerprint } = marker;
  const { status, outcome } = end;
  const ttlS = outcomeTtlS(ledger, ref, processedAtMs);
  return completeMarker(ref, { status, fingerprint, transactionId: token, outcome, processedAtMs, ttlS });
}

/** The claim is gone: by our own commit whose answer was lost, if the marker has that transaction's id. */
function ownEnd(
  ledger: Ledger,
  marker: Marker | undefined,
  unsettled: Plan | undefined,
): Settled | undefined {
  if (unsettled === undefined || marker?.transactionId !== unsettled.token) return undefined;
  const { status, outcome } = marker;
  if (status === 'PROCESSING' || outcome === undefined) return undefined;
  publish(ledger.bus, unsettled);
  return { kind: 'SETTLED', end: { kind: 'KEPT', status, outcome } };
}
