import { subjectOf } from '../../../auth/viewer.ts';
import type { ProviderResult, ProviderSession } from '../../../provider/port.ts';
import {
  type Leased,
  type MadeSession,
  attemptLeasedBy,
  closeSuperseded,
  closeUnopened,
  openSession,
  providerKey,
  sessionParameters,
} from '../../model/provider/attempts.ts';
import { defined } from '../../kernel/defined.ts';
import { allows } from '../../model/orders/order-states.ts';
import type { Attempt, Order } from '../../model/orders/order.ts';
import type { Stored } from '../../model/outcomes.ts';
import {
  type ClaimResult,
  type ClaimCompletion,
  RELEASED,
  completeClaim,
  ended,
  maySend,
} from './complete-claim.ts';
import { readMetadataOf } from '../queries/read-order-metadata.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { notPayable } from '../runtime/outcomes.ts';

/** What came of asking for a session. */
type SessionCallResult =
  | { readonly kind: 'MADE'; readonly session: MadeSession }
  | { readonly kind: 'REFUSED'; readonly code: string }
  /** Definite: nothing happened at the provider. */
  | { readonly kind: 'UNAVAILABLE' }
  | { readonly kind: 'UNKNOWN' };

/**
 * Asks the provider for the session of a claimed attempt and completes attempt and idempotency record with what it says
 * (docs/DESIGN.md §5.5). Used by whoever claimed it and by whoever takes it over.
 * @param taken whether somebody may have asked before: then only a session is a definite answer
 */
export async function completeSession(
  ledger: Ledger,
  order: Order,
  attempt: Leased<Attempt>,
  taken: boolean,
): Promise<ClaimResult> {
  const asked = await askForSession(ledger, order, attempt, taken);
  const settled = await completeClaim(ledger, order, attempt.lease, (current, nowMs) => {
    const held = attemptLeasedBy(current, attempt.lease.owner);
    if (held === undefined) throw new RangeError('settled only while it is held');
    return completionOf(current, held, asked, nowMs);
  });
  if (asked.kind === 'MADE' && isUseless(settled)) await discard(ledger, order, attempt, asked.session);
  return settled;
}

/**
 * An unknown outcome is asked for once more, with the same key and the same parameters. If there is still no session,
 * the attempt is over: nobody was given its page, so it can't be paid.
 */
async function askForSession(
  ledger: Ledger,
  order: Order,
  attempt: Leased<Attempt>,
  taken: boolean,
): Promise<SessionCallResult> {
  // The provider forgets keys after a day; a session that has ended by now needn't be asked for at all.
  if (attempt.expiresAtMs <= ledger.clock.nowMs()) return { kind: 'UNKNOWN' };
  const parameters = sessionParameters(order, attempt, await readMetadataOf(ledger, order));
  const ask = async (): Promise<SessionCallResult> =>
    maySend(ledger, attempt.lease)
      ? read(await ledger.provider.createSession(parameters))
      : { kind: 'UNKNOWN' };
  const first = await ask();
  if (first.kind === 'MADE') return first;
  if (taken) return { kind: 'UNKNOWN' };
  if (first.kind !== 'UNKNOWN') return first;
  const second = await ask();
  return second.kind === 'MADE' ? second : { kind: 'UNKNOWN' };
}

function read(result: ProviderResult<ProviderSession>): SessionCallResult {
  switch (result.kind) {
    case 'DONE': {
      const { sessionId, url, expiresAtS, paymentId } = result.value;
      if (url === undefined) return { kind: 'UNKNOWN' };
      return {
        kind: 'MADE',
        session: { sessionId, url, expiresAtMs: expiresAtS * 1000, ...defined({ paymentId }) },
      };
    }
    case 'REFUSED':
      return { kind: 'REFUSED', code: result.code };
    case 'UNAVAILABLE':
    case 'UNKNOWN':
      return { kind: result.kind };
  }
}

function completionOf(
  order: Order,
  attempt: Leased<Attempt>,
  asked: SessionCallResult,
  atMs: number,
): ClaimCompletion {
  const actor = subjectOf(attempt.lease.request.principal);
  switch (asked.kind) {
    case 'MADE': {
      if (allows('SESSION_MADE', order.state)) {
        return {
          order: openSession(order, attempt, asked.session, { actor, atMs }),
          record: ended('COMPLETED', success(order, attempt)),
        };
      }
      // Money of an earlier session arrived meanwhile.
      return {
        order: closeSuperseded(order, attempt, asked.session, atMs),
        record: ended('FAILED', notPayable(order)),
      };
    }
    case 'REFUSED':
      return {
        order: closeUnopened(order, attempt, atMs, true),
        record: ended('FAILED', { kind: 'ProviderRefused', code: asked.code }),
      };
    case 'UNAVAILABLE':
    case 'UNKNOWN':
      return {
        order: closeUnopened(order, attempt, atMs, asked.kind === 'UNAVAILABLE'),
        record: RELEASED,
      };
  }
}

/** The claim's idempotency record says which operation asked. */
function success({ accountId, orderId, asset }: Order, { lease }: Leased<Attempt>): Stored {
  if (lease.request.operation === 'topUp' && asset !== undefined) {
    return { kind: 'TopUpSuccess', accountId, orderId, asset };
  }
  return { kind: 'CheckoutSuccess', accountId, orderId };
}

/** A session whose page nobody will be given. */
function isUseless(settled: ClaimResult): boolean {
  return settled.kind === 'COMPLETED' && settled.end.kind === 'COMPLETED' && settled.end.status === 'FAILED';
}

/** Tidiness alone: it would end by itself, and its page is known to nobody. */
async function discard(
  ledger: Ledger,
  order: Order,
  { number, tries }: Attempt,
  { sessionId }: MadeSession,
): Promise<void> {
  await ledger.provider.expireSession(sessionId, providerKey(order, 'expire', String(number), tries));
}
