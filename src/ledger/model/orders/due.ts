import { isWaitingForProvider } from './order-changes.ts';
import { type Order, openAttempt, stepsDone } from './order.ts';

/** Work on due orders is spread over this many partitions of the index. */
export const DUE_SHARDS = 8;

const DAY_MS = 86_400_000;
/** After a session's end Stripe's own event gets this long before we ask. */
const SESSION_END_GRACE_MS = 60_000;
/** So long after its session's time an attempt of which the provider knows no session can't be paid any more. */
export const SESSION_GONE_AFTER_MS = 15 * 60_000;
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export interface DuePolicy {
  /** How long the provider's word is waited for before it is asked; doubles up to a day. */
  readonly sweepAfterMs: number;
}

/** The partition of the due index: an order's random last character spreads them evenly. */
export function dueShard({ orderId }: Pick<Order, 'orderId'>): string {
  return String(BASE32.indexOf(orderId.charAt(orderId.length - 1)) % DUE_SHARDS);
}

/**
 * When an order needs somebody next, or undefined if never (docs/DESIGN.md §3, "due"). The earliest of: the next step
 * (while leased, its lease's end), a PAID order whose steps are all done, an open claim's lease, a session's end,
 * and the next time to ask the provider about what waits.
 */
export function dueAtMs(order: Order, policy: DuePolicy): number | undefined {
  return earliest([...stepTimes(order), ...providerTimes(order, policy)]);
}

/** When an order needs the provider to be asked, or a claim to be taken over: the part of `dueAtMs` that isn't its steps. */
export function sweepDueAtMs(order: Order, policy: DuePolicy): number | undefined {
  return earliest(providerTimes(order, policy));
}

function earliest(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : Math.min(...times);
}

function providerTimes(order: Order, policy: DuePolicy): readonly number[] {
  return [...leaseTimes(order), ...checkTimes(order, policy)];
}

function stepTimes(order: Order): readonly number[] {
  if (order.state === 'PAID' && stepsDone(order)) return [order.updatedAtMs];
  return order.steps
    .filter((step) => step.state === 'PENDING')
    .map((step) => step.leaseEndMs ?? step.nextAttemptAtMs);
}

/** A claim without a lease end is locked until its idempotency record's `ttl`. */
function leaseTimes(order: Order): readonly number[] {
  return [...order.attempts, ...order.refundClaims].flatMap(({ lease }) =>
    lease === undefined ? [] : [lease.leaseEndMs ?? lease.recordTtlS * 1000],
  );
}

function checkTimes(order: Order, { sweepAfterMs }: DuePolicy): readonly number[] {
  if (!isWaitingForProvider(order)) return [];
  const { count, lastAtMs } = order.checks ?? { count: 0, lastAtMs: order.updatedAtMs };
  const nextCheckMs = lastAtMs + pauseMs(sweepAfterMs, count);
  return [nextCheckMs, ...sessionEndChecks(order, lastAtMs)];
}

/** When an open session is asked about in any case, as far as that is later: after its end, and once it may be given up. */
function sessionEndChecks(order: Order, afterMs: number): readonly number[] {
  const session = openAttempt(order);
  if (session?.state !== 'OPEN') return [];
  const { expiresAtMs } = session;
  const checksMs = [expiresAtMs + SESSION_END_GRACE_MS, expiresAtMs + SESSION_GONE_AFTER_MS];
  return checksMs.filter((checkMs) => checkMs > afterMs);
}

/**
 * What is noted once the provider has been asked and the order still waits: each pause is twice the one before, up to a
 * day, and scattered by up to a tenth, so that orders that began to wait together don't come back together. It lies
 * ahead of now by the scatter, though never past the end of an open session, which is asked about in any case.
 * @param answered whether the provider could be asked: if not, the pause stays as it was
 */
export function checkedNow(
  order: Order,
  { sweepAfterMs }: DuePolicy,
  nowMs: number,
  { fraction, answered }: { readonly fraction: number; readonly answered: boolean },
): NonNullable<Order['checks']> {
  const count = (order.checks?.count ?? 0) + (answered ? 1 : 0);
  const scatterMs = Math.floor((fraction * pauseMs(sweepAfterMs, count)) / 10);
  const [nextEndMs = Infinity] = sessionEndChecks(order, nowMs);
  return { count, lastAtMs: Math.min(nowMs + scatterMs, nextEndMs - 1) };
}

function pauseMs(sweepAfterMs: number, count: number): number {
  return Math.min(sweepAfterMs * 2 ** Math.min(count, 20), DAY_MS);
}
