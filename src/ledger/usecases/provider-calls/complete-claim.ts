import { epochS } from '../../kernel/clock.ts';
import { leaseOwnedBy, mayTakeOver } from '../../model/provider/attempts.ts';
import { type IdempotencyRef, idempotencyRecordKey, orderKey, refundKey } from '../../kernel/keys.ts';
import {
  IDEMPOTENCY_RECORD_LIFE_S,
  type IdempotencyRecord,
  completeIdempotencyRecord,
  deleteIdempotencyRecord,
  readIdempotencyRecord,
} from '../../items/idempotency-record.ts';
import { updateOrder } from '../../items/order-writes.ts';
import { readRefund } from '../../items/refund-item.ts';
import type { Lease, Order, Refund, RefundClaim } from '../../model/orders/order.ts';
import type { Stored } from '../../model/outcomes.ts';
import { type PlanPart, plan } from '../../items/plan.ts';
import { REREAD, type Transaction, decideAndCommit } from '../runtime/decide-and-commit.ts';
import { type Request, outcomeTtlS } from '../runtime/idempotency.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { orderIn } from '../runtime/read-order.ts';

/** What settles a claim: the order as it will be, what is booked with it, and what becomes of the idempotency record. */
export interface ClaimCompletion {
  readonly order: Order;
  readonly parts?: readonly PlanPart[];
  readonly record: RecordEnd;
}

export type RecordEnd =
  | { readonly kind: 'COMPLETED'; readonly status: 'COMPLETED' | 'FAILED'; readonly outcome: Stored }
  | typeof RELEASED;

/** Nothing came of it: the key may be used again. */
export const RELEASED = { kind: 'RELEASED' } as const;

/** A success, or a no of the provider, that the idempotency record keeps. */
export function ended(status: 'COMPLETED' | 'FAILED', outcome: Stored): RecordEnd {
  return { kind: 'COMPLETED', status, outcome };
}

/** How a claim went. */
export type ClaimResult =
  | { readonly kind: 'COMPLETED'; readonly end: RecordEnd }
  /** It was no longer this owner's: somebody took it over, or the provider's event came first. */
  | { readonly kind: 'LOST' }
  /** The provider's answer is still unknown: the claim stands, and is taken up again once its lease is past. */
  | { readonly kind: 'WAITING' }
  /** The table couldn't be written: the claim stands. */
  | { readonly kind: 'UNWRITTEN' };

/** The claim that a request takes with its idempotency record: an unguessable owner, and a lease. */
export function newLease(ledger: Ledger, { ref }: Request, nowMs: number): Lease {
  const { principal, operation, key } = ref;
  return {
    owner: ledger.ids.token(),
    leaseEndMs: nowMs + ledger.settings.leaseMs,
    request: { principal, operation, key },
    recordTtlS: epochS(nowMs) + IDEMPOTENCY_RECORD_LIFE_S,
  };
}

/**
 * Whether a claim's owner may still send: asked right before each POST. A process that slept past its lease must not go
 * on from what it knew before: somebody else may have settled the claim, and the provider forgets keys after a day.
 */
export function maySend({ clock }: Ledger, lease: Lease): boolean {
  return !mayTakeOver(lease, clock.nowMs());
}

/**
 * Completes order and idempotency record together, on the condition that the claim is still its owner's: a pure check
 * on what is read, and `rev` holds it until the commit. Where the order was written in between, it is read and judged
 * again.
 * @param complete is given the refund besides, where the claim is of one
 */
export async function completeClaim(
  ledger: Ledger,
  claimed: Order,
  lease: Lease,
  complete: (order: Order, nowMs: number, refund: Refund | undefined) => ClaimCompletion,
): Promise<ClaimResult> {
  const { tenant, accountId, orderId } = claimed;
  const ref: IdempotencyRef = { tenant, ...lease.request };
  const claim = refundClaimOf(claimed, lease);
  const read = async (): Promise<ClaimRead> => {
    const keys = [
      idempotencyRecordKey(ref),
      orderKey({ tenant, accountId, orderId }),
      ...(claim === undefined ? [] : [refundKey({ ...claimed, refundId: claim.refundId })]),
    ];
    const [recordItem, orderItem, refundItem] = await ledger.store.get(keys);
    const order = orderIn(orderItem);
    return {
      record: recordItem === undefined ? undefined : readIdempotencyRecord(recordItem),
      refund: refundItem === undefined ? undefined : readRefund(refundItem),
      order: order !== undefined && leaseOwnedBy(order, lease.owner) !== undefined ? order : undefined,
    };
  };
  return decideAndCommit<ClaimResult>(ledger, {
    decide: async () => {
      const { record, order, refund } = await read();
      if (order === undefined) return LOST;
      const nowMs = ledger.clock.nowMs();
      const completion = complete(order, nowMs, refund);
      const token = ledger.ids.token();
      const transaction: Transaction<ClaimResult> = {
        kind: 'COMMIT',
        plan: plan(
          token,
          ...(isOf(record, order, lease)
            ? [endRecord(ledger, { ref, fingerprint: record.fingerprint }, completion.record, token, nowMs)]
            : []),
          updateOrder(order, completion.order, ledger.settings),
          ...(completion.parts ?? []),
        ),
        committed: () => ({ kind: 'COMPLETED', end: completion.record }),
        resolve: async () => {
          const now = await read();
          // The idempotency record has the id of the transaction that completed it.
          if (now.order === undefined)
            return now.record?.transactionId === token ? { kind: 'COMMITTED', transaction } : LOST;
          // Sent as often as is safe, and nobody has written since: it may still come, and the claim stands until then.
          return now.order.rev === order.rev ? { kind: 'ANSWER', answer: { kind: 'UNWRITTEN' } } : REREAD;
        },
      };
      return transaction;
    },
    failed: () => ({ kind: 'UNWRITTEN' }),
  });
}

const LOST = { kind: 'ANSWER', answer: { kind: 'LOST' } } as const;

interface ClaimRead {
  readonly record: IdempotencyRecord | undefined;
  readonly refund: Refund | undefined;
  /** Undefined where the claim is no longer its owner's. */
  readonly order: Order | undefined;
}

/**
 * Whether the idempotency record still waits for this claim. A claim may outlive its idempotency record, whose key
 * may by then be another request's, of the same order even: then the order is completed alone.
 */
function isOf(
  record: IdempotencyRecord | undefined,
  order: Order,
  lease: Lease,
): record is IdempotencyRecord {
  return (
    record?.status === 'PROCESSING' &&
    record.claimOf?.orderId === order.orderId &&
    record.claimOf.refundId === refundClaimOf(order, lease)?.refundId
  );
}

/** The refund that a claim is of; undefined for one of an attempt. */
export function refundClaimOf({ refundClaims }: Order, { owner }: Lease): RefundClaim | undefined {
  return refundClaims.find(({ lease }) => lease.owner === owner);
}

/** The write by which a transaction ends a request's idempotency record. */
export function endRecord(
  ledger: Ledger,
  { ref, fingerprint }: Request,
  end: RecordEnd,
  transactionId: string,
  processedAtMs: number,
): PlanPart {
  if (end.kind === 'RELEASED') return deleteIdempotencyRecord(ref, fingerprint);
  const { status, outcome } = end;
  const ttlS = outcomeTtlS(ledger, ref, processedAtMs);
  return completeIdempotencyRecord(ref, { status, fingerprint, transactionId, outcome, processedAtMs, ttlS });
}
