import { leasesOf, lockedUntilMs, mayTakeOver } from '../../model/provider/attempts.ts';
import { idempotencyRecordKey, refundKey } from '../../kernel/keys.ts';
import type { IdempotencyRecord } from '../../items/idempotency-record.ts';
import { checkOrder } from '../../items/order-writes.ts';
import { readRefund } from '../../items/refund-item.ts';
import type { Lease, Order } from '../../model/orders/order.ts';
import {
  type Answered,
  PROVIDER_UNAVAILABLE,
  type ProviderFailure,
  type StoredKind,
  THROTTLED,
  type UnstoredOf,
} from '../../model/outcomes.ts';
import { plan } from '../../items/plan.ts';
import { TableUnavailableError } from '../../table/store.ts';
import { completeAbandoned, completeLeased } from './complete-abandoned.ts';
import { type ClaimResult, RELEASED, type RecordEnd, endRecord, ended } from './complete-claim.ts';
import { refundSuccess } from './complete-refund.ts';
import { type Request, answered, isContentKey, recognise } from '../runtime/idempotency.ts';
import type { ClaimFailure, Run } from '../runtime/guarded-command.ts';
import { type Ledger, commit } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';
import { readOrderAt } from '../runtime/read-order.ts';

type Answer<Kind extends StoredKind> = Answered<Kind> | ProviderFailure;

/** The wait that a client is told is never longer, however long a claim is locked. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Somebody holds the claim until its lease ends. */
export function inProgress(lease: Lease, nowMs: number): UnstoredOf<'IdempotencyInProgress'> {
  const leftMs = lockedUntilMs(lease) - nowMs;
  return { kind: 'IdempotencyInProgress', retryAfterMs: Math.min(Math.max(leftMs, 1), MAX_RETRY_AFTER_MS) };
}

/** Carries on from where the table left a request: asks the provider for what was claimed, or takes an old claim over. */
export async function answerRun<Kind extends StoredKind>(
  ledger: Ledger,
  run: Run<Kind, ClaimFailure>,
): Promise<Answer<Kind>> {
  switch (run.kind) {
    case 'ANSWERED':
      return run.answer;
    case 'CLAIMED':
      return guarded(async () =>
        answerClaimResult(ledger, run.request, await completeLeased(ledger, run.order, run.lease, false)),
      );
    case 'PROCESSING':
      return resumeRequest(ledger, run.request, run.record);
  }
}

function answerEnd<Kind extends StoredKind>(end: RecordEnd): Answer<Kind> {
  return end.kind === 'RELEASED' ? PROVIDER_UNAVAILABLE : answered(end.outcome, false);
}

/** What a request answers whose claim went like this. */
async function answerClaimResult<Kind extends StoredKind>(
  ledger: Ledger,
  request: Request,
  result: ClaimResult,
): Promise<Answer<Kind>> {
  switch (result.kind) {
    case 'COMPLETED':
      return answerEnd(result.end);
    case 'WAITING':
      return PROVIDER_UNAVAILABLE;
    case 'UNWRITTEN':
      return THROTTLED;
    case 'LOST':
      return guarded(() => answerLostClaim(ledger, request));
  }
}

/**
 * Answers a request whose key is PROCESSING: somebody else's work until its lease is past, then taken over by exactly
 * one caller (docs/DESIGN.md §5.5).
 */
async function resumeRequest<Kind extends StoredKind>(
  ledger: Ledger,
  request: Request,
  record: IdempotencyRecord,
): Promise<Answer<Kind>> {
  return guarded(async () => {
    const order = await orderOf(ledger, request, record);
    const lease = order === undefined ? undefined : claimOf(order, request);
    if (order === undefined || lease === undefined) return answerUnclaimed(ledger, request, record, order);
    const nowMs = ledger.clock.nowMs();
    if (!mayTakeOver(lease, nowMs)) return inProgress(lease, nowMs);
    const result = await completeAbandoned(ledger, order, lease);
    if (result !== undefined) return answerClaimResult(ledger, request, result);
    return inProgress({ ...lease, leaseEndMs: nowMs + ledger.settings.leaseMs }, nowMs);
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

/** Somebody else settled the claim: the idempotency record says how, unless the provider's event did. */
async function answerLostClaim<Kind extends StoredKind>(
  ledger: Ledger,
  request: Request,
): Promise<Answer<Kind>> {
  const [item] = await ledger.store.get([idempotencyRecordKey(request.ref)]);
  const seen = recognise<Kind>(ledger, request, item);
  if (seen.kind === 'NEW') return PROVIDER_UNAVAILABLE;
  if (seen.kind === 'ANSWER') return seen.answer;
  const order = await orderOf(ledger, request, seen.record);
  const lease = order === undefined ? undefined : claimOf(order, request);
  if (lease !== undefined) return inProgress(lease, ledger.clock.nowMs());
  return answerUnclaimed(ledger, request, seen.record, order);
}

async function orderOf(
  ledger: Ledger,
  { ref }: Request,
  { claimOf: of }: IdempotencyRecord,
): Promise<Order | undefined> {
  if (of === undefined) return undefined;
  return readOrderAt(ledger.store, { tenant: ref.tenant, accountId: of.accountId, orderId: of.orderId });
}

/** The claim that a request took with its idempotency record. */
function claimOf(order: Order, { ref }: Request): Lease | undefined {
  return leasesOf(order).find(
    ({ request }) =>
      request.principal === ref.principal && request.operation === ref.operation && request.key === ref.key,
  );
}

/**
 * The idempotency record waits, yet nobody holds a claim for it: the provider's event settled the refund first. The
 * idempotency record is completed from the refund, on the condition that the order is as it was read.
 */
async function answerUnclaimed<Kind extends StoredKind>(
  ledger: Ledger,
  request: Request,
  record: IdempotencyRecord,
  order: Order | undefined,
): Promise<Answer<Kind>> {
  if (order === undefined) return THROTTLED;
  const token = ledger.ids.token();
  const nowMs = ledger.clock.nowMs();
  const end = isPast(ledger, request, record, order, nowMs) ? RELEASED : await endOf(ledger, order, record);
  const recordPart = endRecord(ledger, { ...request, fingerprint: record.fingerprint }, end, token, nowMs);
  const result = await commit(ledger, plan(token, recordPart, checkOrder(order)));
  if (result.kind === 'COMMITTED') return answerEnd(end);
  if (result.kind !== 'SEEN') return THROTTLED;
  const seen = recognise<Kind>(ledger, request, result.record);
  return seen.kind === 'ANSWER' ? seen.answer : THROTTLED;
}

/**
 * Whether a content key is a new request's by now: its claim is settled, and its window over. The event that settled it
 * has written the order: what came last on either tells when the window began at the latest.
 */
function isPast(
  { settings }: Ledger,
  { ref }: Request,
  { processedAtMs }: IdempotencyRecord,
  { updatedAtMs }: Order,
  nowMs: number,
): boolean {
  const sinceMs = Math.max(processedAtMs, updatedAtMs);
  return isContentKey(ref.key) && sinceMs + settings.contentKeyWindowS * 1000 < nowMs;
}

/** Reads the refund after the order, so that the condition on the order holds for both. */
async function endOf(ledger: Ledger, order: Order, { claimOf: of }: IdempotencyRecord): Promise<RecordEnd> {
  if (of?.refundId === undefined) return RELEASED;
  const refund = await readItem(ledger, refundKey({ ...order, refundId: of.refundId }), readRefund);
  if (refund === undefined) return RELEASED;
  if (refund.state !== 'FAILED') return ended('COMPLETED', refundSuccess(order, refund));
  return ended('FAILED', { kind: 'ProviderRefused', code: refund.failureReason ?? 'failed' });
}
