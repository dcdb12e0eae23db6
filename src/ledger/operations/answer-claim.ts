import { claimsOf, lockedUntilMs, mayTakeOver } from '../provider/attempts.ts';
import { type OrderRef, markerKey, orderKey } from '../keys.ts';
import { type Marker, completeMarker, deleteMarker } from '../marker.ts';
import { readOrder } from '../orders/order-item.ts';
import { checkOrder } from '../orders/order-writes.ts';
import { type Claim, type Order, findRefund } from '../orders/order.ts';
import {
  type Answered,
  type ProviderFailure,
  type Stored,
  type StoredKind,
  THROTTLED,
  type UnstoredOf,
} from '../outcomes.ts';
import { plan } from '../plan.ts';
import { TableUnavailableError } from '../store.ts';
import { completeAbandoned } from './complete-abandoned.ts';
import { PROVIDER_UNAVAILABLE, type Settled } from './complete-claim.ts';
import { refundSuccess } from './complete-refund.ts';
import { type Request, answered, isContentKey, outcomeTtlS, recognise } from './idempotency.ts';
import { type Ledger, commit } from './ledger.ts';

type Answer<Kind extends StoredKind> = Answered<Kind> | ProviderFailure;

/** The wait that a client is told is never longer, however long a claim is locked. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Somebody holds the claim until its lease ends. */
export function inProgress(claim: Claim, nowMs: number): UnstoredOf<'IdempotencyInProgress'> {
  const leftMs = lockedUntilMs(claim) - nowMs;
  return { kind: 'IdempotencyInProgress', retryAfterMs: Math.min(Math.max(leftMs, 1), MAX_RETRY_AFTER_MS) };
}

/** What a request answers whose claim went like this. */
export async function answerSettled<Kind extends StoredKind>(
  ledger: Ledger,
  request: Request,
  settled: Settled,
): Promise<Answer<Kind>> {
  switch (settled.kind) {
    case 'SETTLED':
      return settled.end.kind === 'FREED' ? PROVIDER_UNAVAILABLE : answered(settled.end.outcome, false);
    case 'WAITING':
      return PROVIDER_UNAVAILABLE;
    case 'UNSETTLED':
      return THROTTLED;
    case 'LOST':
      return guarded(() => answerLost(ledger, request));
  }
}

/**
 * Answers a request whose key is PROCESSING: somebody else's work until its lease is past, then taken over by exactly
 * one caller (docs/DESIGN.md §5.5).
 */
export async function resumeClaim<Kind extends StoredKind>(
  ledger: Ledger,
  request: Request,
  marker: Marker,
): Promise<Answer<Kind>> {
  return guarded(async () => {
    const order = await orderOf(ledger, request, marker);
    const claim = order === undefined ? undefined : claimOf(order, request);
    if (order === undefined || claim === undefined) return answerUnclaimed(ledger, request, marker, order);
    const nowMs = ledger.clock.nowMs();
    if (!mayTakeOver(claim, nowMs)) return inProgress(claim, nowMs);
    const settled = await completeAbandoned(ledger, order, claim);
    if (settled !== undefined) return answerSettled(ledger, request, settled);
    return inProgress({ ...claim, leaseEndMs: nowMs + ledger.settings.leaseMs }, nowMs);
  });
}

async function guarded<Kind extends StoredKind>(answer: () => Promise<Answer<Kind>>): Promise<Answer<Kind>> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof TableUnavailableError) return THROTTLED;
    throw error;
  }
}

/** Somebody else settled the claim: the marker says how, unless the provider's event did. */
async function answerLost<Kind extends StoredKind>(ledger: Ledger, request: Request): Promise<Answer<Kind>> {
  const [item] = await ledger.store.get([markerKey(request.ref)]);
  const seen = recognise<Kind>(ledger, request, item);
  if (seen.kind === 'NEW') return PROVIDER_UNAVAILABLE;
  if (seen.kind === 'ANSWER') return seen.answer;
  const order = await orderOf(ledger, request, seen.marker);
  const claim = order === undefined ? undefined : claimOf(order, request);
  if (claim !== undefined) return inProgress(claim, ledger.clock.nowMs());
  return answerUnclaimed(ledger, request, seen.marker, order);
}

async function orderOf(
  ledger: Ledger,
  { ref }: Request,
  { claimOf: of }: Marker,
): Promise<Order | undefined> {
  if (of === undefined) return undefined;
  const key: OrderRef = { tenant: ref.tenant, accountId: of.accountId, orderId: of.orderId };
  const [item] = await ledger.store.get([orderKey(key)]);
  return item === undefined ? undefined : readOrder(item);
}

/** The claim that a request took with its marker. */
function claimOf(order: Order, { ref }: Request): Claim | undefined {
  return claimsOf(order).find(
    ({ marker }) =>
      marker.principal === ref.principal && marker.operation === ref.operation && marker.key === ref.key,
  );
}

/**
 * The marker waits, yet nobody holds a claim for it: the provider's event settled the refund first. The marker is
 * completed from the refund, on the condition that the order is as it was read.
 */
async function answerUnclaimed<Kind extends StoredKind>(
  ledger: Ledger,
  request: Request,
  marker: Marker,
  order: Order | undefined,
): Promise<Answer<Kind>> {
  if (order === undefined) return THROTTLED;
  const token = ledger.ids.token();
  const nowMs = ledger.clock.nowMs();
  const end = isPast(ledger, request, marker, order, nowMs) ? undefined : outcomeOf(order, marker);
  const { fingerprint } = marker;
  const markerPart =
    end === undefined
      ? deleteMarker(request.ref, fingerprint)
      : completeMarker(request.ref, {
          ...end,
          fingerprint,
          transactionId: token,
          processedAtMs: nowMs,
          ttlS: outcomeTtlS(ledger, request.ref, nowMs),
        });
  const result = await commit(ledger, plan(token, markerPart, checkOrder(order)));
  if (result.kind === 'COMMITTED')
    return end === undefined ? PROVIDER_UNAVAILABLE : answered(end.outcome, false);
  if (result.kind !== 'SEEN') return THROTTLED;
  const seen = recognise<Kind>(ledger, request, result.marker);
  return seen.kind === 'ANSWER' ? seen.answer : THROTTLED;
}

/**
 * Whether a content key is a new request's by now: its claim is settled, and its window over. The event that settled it
 * has written the order: what came last on either tells when the window began at the latest.
 */
function isPast(
  { settings }: Ledger,
  { ref }: Request,
  { processedAtMs }: Marker,
  { updatedAtMs }: Order,
  nowMs: number,
): boolean {
  const sinceMs = Math.max(processedAtMs, updatedAtMs);
  return isContentKey(ref.key) && sinceMs + settings.contentKeyWindowS * 1000 < nowMs;
}

function outcomeOf(
  order: Order,
  { claimOf: of }: Marker,
): { readonly status: 'COMPLETED' | 'FAILED'; readonly outcome: Stored } | undefined {
  const refund = of?.refundId === undefined ? undefined : findRefund(order, of.refundId);
  if (refund === undefined) return undefined;
  if (refund.state !== 'FAILED') return { status: 'COMPLETED', outcome: refundSuccess(order, refund) };
  return { status: 'FAILED', outcome: { kind: 'ProviderRefused', code: refund.failureReason ?? 'failed' } };
}
