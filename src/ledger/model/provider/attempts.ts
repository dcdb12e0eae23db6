import { digest } from '../../kernel/fingerprint.ts';
import type { OrderRef } from '../../kernel/keys.ts';
import { type TransitionDetails, move, touch } from '../orders/order-changes.ts';
import { type MetadataEntry, providerMetadata } from '../orders/order-metadata.ts';
import { providerOrderId, sessionMetadata } from './session-metadata.ts';
import { type Attempt, type Lease, type Order, closedAttempt } from '../orders/order.ts';
import { type PageLine, isItemizable, itemizedLines, singleLine } from './page-lines.ts';

/**
 * Attempts to have an order paid at the provider, as pure functions of the order (docs/DESIGN.md §5.5). An attempt is
 * claimed with its parameters frozen, so that every call with one key is the same call; then it is opened or closed.
 */

/** How long a payment page can be used. The provider takes half an hour to a day. */
export const SESSION_LIFE_MS = 3_600_000;

/** What an attempt freezes of a request: where the customer returns to, and how it may pay. */
export type SessionTerms = Pick<Attempt, 'successUrl' | 'cancelUrl' | 'paymentMethodTypes'>;

/** Seals the metadata that a session carries. */
export type SealMetadata = (texts: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;

/** What the provider made for an attempt. */
export interface MadeSession {
  readonly sessionId: string;
  readonly url: string;
  readonly expiresAtMs: number;
  readonly paymentId?: string;
}

/** An attempt, or a refund, that somebody holds. */
export type Leased<Part extends { readonly lease?: Lease | undefined }> = Part & { readonly lease: Lease };

/**
 * Claims the next attempt of an order. What never had a session can't be paid and isn't kept, so that an outage can't
 * use up an order's attempts. After a definite failure the same attempt is tried again, under the next try's key; a
 * number whose outcome stayed unknown is never used again.
 */
export function claimAttempt(
  order: Order,
  terms: SessionTerms,
  lease: Lease,
  atMs: number,
  seal: SealMetadata,
): Order {
  const last = order.attempts.at(-1);
  const again = last?.state === 'CLOSED' && last.sessionId === undefined && last.tries > 0;
  const number = (last?.number ?? 0) + (again ? 0 : 1);
  const attempt: Attempt = {
    ...terms,
    number,
    metadata: seal(sessionMetadata(order, number)),
    tries: again ? last.tries : 0,
    state: 'CLAIMED',
    lease,
    expiresAtMs: Math.floor((atMs + SESSION_LIFE_MS) / 1000) * 1000,
    itemized: isItemizable(order),
  };
  const kept = order.attempts.filter(({ sessionId }) => sessionId !== undefined);
  return touch(order, atMs, { attempts: [...kept, attempt] });
}

/** The attempt whose claim a token owns, if one still is. */
export function attemptLeasedBy(order: Order, owner: string): Leased<Attempt> | undefined {
  return order.attempts.filter(isLeased).find(({ lease }) => lease.owner === owner);
}

export function isLeased<Part extends { readonly lease?: Lease | undefined }>(
  part: Part,
): part is Leased<Part> {
  return part.lease !== undefined;
}

/** The claimed attempt has its session: the customer may go and pay. */
export function openSession(
  order: Order,
  attempt: Attempt,
  session: MadeSession,
  what: Omit<TransitionDetails, 'cause'>,
): Order {
  const opened: Attempt = { ...attempt, ...session, state: 'OPEN', lease: undefined, metadata: undefined };
  return move(
    order,
    'SESSION_MADE',
    'SESSION_CREATED',
    { ...what, cause: 'CHECKOUT_OPENED' },
    { attempts: replacedAttempt(order, opened) },
  );
}

/**
 * Closes a claimed attempt whose session's page nobody was given.
 * @param failed whether it failed definitely, which raises the try number; else its number is used up
 */
export function closeUnopened(order: Order, attempt: Attempt, atMs: number, failed: boolean): Order {
  const closed: Attempt = { ...closedAttempt(attempt), tries: failed ? attempt.tries + 1 : 0 };
  return touch(order, atMs, { attempts: replacedAttempt(order, closed) });
}

/** Closes a claimed attempt whose session came too late, since the order can't be paid any more; the session is kept. */
export function closeSuperseded(order: Order, attempt: Attempt, session: MadeSession, atMs: number): Order {
  const closed = closedAttempt({ ...attempt, ...session });
  return touch(order, atMs, { attempts: replacedAttempt(order, closed) });
}

/** An order with every attempt closed: none of them can be paid any more. */
export function closedAttempts(order: Order): readonly Attempt[] {
  return order.attempts.map(closedAttempt);
}

export function replacedAttempt(order: Order, attempt: Attempt): readonly Attempt[] {
  return order.attempts.map((other) => (other.number === attempt.number ? attempt : other));
}

/** Every claim that somebody holds on a part of the order. */
export function leasesOf(order: Order): readonly Lease[] {
  return [...order.attempts, ...order.refundClaims].flatMap(({ lease }) =>
    lease === undefined ? [] : [lease],
  );
}

/** The claim of an owner, if it still has one: its token is unguessable and used once. */
export function leaseOwnedBy(order: Order, owner: string): Lease | undefined {
  return leasesOf(order).find((lease) => lease.owner === owner);
}

/**
 * Until when a claim is its owner's alone. Without a lease end: until its idempotency record's `ttl`; 0 is a lease
 * long past.
 */
export function lockedUntilMs({ leaseEndMs, recordTtlS }: Lease): number {
  return leaseEndMs ?? recordTtlS * 1000;
}

export function mayTakeOver(lease: Lease, nowMs: number): boolean {
  return lockedUntilMs(lease) <= nowMs;
}

/**
 * Hands a claim whose lease is past to a new owner. Undefined where there is nothing to take: the claim has another
 * owner by now, it is settled, or its lease isn't past. The write that follows conditions on `rev`, and with it on the
 * owner and the lease as they are here.
 */
export function takeOver(
  order: Order,
  from: string,
  to: { readonly owner: string; readonly leaseEndMs: number },
  nowMs: number,
): Order | undefined {
  return changeLease(order, from, nowMs, (lease) =>
    mayTakeOver(lease, nowMs) ? { ...lease, ...to } : undefined,
  );
}

/** Lets a claim that couldn't be settled rest: nobody takes it over until then. */
export function extendLease(
  order: Order,
  owner: string,
  leaseEndMs: number,
  nowMs: number,
): Order | undefined {
  return changeLease(order, owner, nowMs, (lease) => ({ ...lease, leaseEndMs }));
}

function changeLease(
  order: Order,
  owner: string,
  nowMs: number,
  change: (lease: Lease) => Lease | undefined,
): Order | undefined {
  const held = leaseOwnedBy(order, owner);
  const changed = held === undefined ? undefined : change(held);
  if (changed === undefined) return undefined;
  const renew = <Part extends { readonly lease?: Lease | undefined }>(part: Part): Part =>
    part.lease?.owner === owner ? { ...part, lease: changed } : part;
  return touch(order, nowMs, {
    attempts: order.attempts.map(renew),
    refundClaims: order.refundClaims.map(renew),
  });
}

/** The idempotency key for the provider: the same for every call that means the same thing. */
export function providerKey(
  order: OrderRef,
  operation: 'session' | 'expire' | 'refund',
  part: string,
  tries: number,
): string {
  return digest(order.tenant, providerOrderId(order), operation, part, String(tries));
}

/** What the provider port takes to make a session; spelled out here, since the pure core imports nothing above it. */
export interface SessionParameters extends SessionTerms {
  readonly idempotencyKey: string;
  readonly orderId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly currency: string;
  readonly lines: readonly PageLine[];
  readonly merchantMetadata: Readonly<Record<string, string>>;
  readonly expiresAtS: number;
}

/**
 * An attempt's frozen parameters as the provider port takes them: the same whenever and by whomever they are sent. Lines and
 * metadata of an order never change.
 */
export function sessionParameters(
  order: Order,
  attempt: Attempt,
  metadata: readonly MetadataEntry[],
): SessionParameters {
  return {
    idempotencyKey: providerKey(order, 'session', String(attempt.number), attempt.tries),
    orderId: providerOrderId(order),
    // One that an earlier release claimed has none.
    metadata: attempt.metadata ?? sessionMetadata(order, attempt.number),
    currency: order.currency,
    lines: attempt.itemized ? itemizedLines(order) : [singleLine(order)],
    merchantMetadata: providerMetadata(metadata),
    successUrl: attempt.successUrl,
    cancelUrl: attempt.cancelUrl,
    paymentMethodTypes: attempt.paymentMethodTypes,
    expiresAtS: Math.floor(attempt.expiresAtMs / 1000),
  };
}
