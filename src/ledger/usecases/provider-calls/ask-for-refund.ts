import type { ProviderRefund, ProviderResult, RefundRequest } from '../../../provider/port.ts';
import { currency } from '../../kernel/currencies.ts';
import { add, toMinorUnits } from '../../kernel/money.ts';
import type { Lease, Order, Refund } from '../../model/orders/order.ts';
import { providerKey } from '../../model/provider/attempts.ts';
import { providerOrderId } from '../../model/provider/session-metadata.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { refundPages } from '../runtime/provider-pages.ts';
import { readRefunds } from '../runtime/read-refunds.ts';
import { changeHeldRefund } from './change-held-refund.ts';
import { maySend } from './complete-claim.ts';

const HOUR_MS = 3_600_000;
/** The provider may forget a key after a day: under this age the same key still means the same refund. */
const KEY_KNOWN_MS = 23 * HOUR_MS;
/** Past this age a refund that isn't listed was never made, and can't be made any more by an earlier request. */
const NEVER_MADE_MS = 25 * HOUR_MS;
/** So far apart are two looks that don't show a refund whose key is spent. */
const LOOKS_APART_MS = 15 * 60_000;

/** What came of asking for a refund. */
export type RefundCallResult =
  | { readonly kind: 'MADE'; readonly made: ProviderRefund }
  | { readonly kind: 'REFUSED'; readonly code: string }
  /** Definite: there is no such refund at the provider, and won't be. */
  | { readonly kind: 'NOT_MADE'; readonly reason: string }
  | { readonly kind: 'UNKNOWN' };

/** A refund that is claimed, and who holds it. */
interface HeldRefund {
  readonly order: Order;
  readonly refund: Refund;
  readonly lease: Lease;
}

/** One POST. `isStored`: the key is spent, the provider will only repeat its failure. */
type Posted =
  Exclude<RefundCallResult, { kind: 'UNKNOWN' }> | { readonly kind: 'UNKNOWN'; readonly isStored: boolean };

const UNKNOWN = { kind: 'UNKNOWN' } as const;

/**
 * Asks the provider for a refund until something definite is known (docs/DESIGN.md §5.5).
 * @param taken whether somebody may have asked before: then it is looked for first
 */
export async function askForRefund(
  ledger: Ledger,
  held: HeldRefund,
  taken: boolean,
): Promise<RefundCallResult> {
  const startMs = ledger.clock.nowMs();
  if (!taken) {
    const first = await post(ledger, held);
    if (first.kind !== 'UNKNOWN') return first;
  }
  const found = await lookForRefund(ledger, held);
  if (found.kind !== 'NONE') return found;
  const { createdAtMs, triedAtMs = createdAtMs, providerRefundId } = held.refund;
  const keyAgeMs = ledger.clock.nowMs() - triedAtMs;
  if (keyAgeMs >= NEVER_MADE_MS) return { kind: 'NOT_MADE', reason: 'never_made' };
  // An event has told of it: the list is behind.
  if (keyAgeMs >= KEY_KNOWN_MS || providerRefundId !== undefined) return UNKNOWN;
  const refund = await withUsableKey(ledger, held, startMs);
  return refund === undefined ? UNKNOWN : askAgain(ledger, { ...held, refund });
}

async function askAgain(ledger: Ledger, held: HeldRefund): Promise<RefundCallResult> {
  const again = await post(ledger, held);
  if (again.kind === 'MADE') return again;
  if (again.kind === 'UNKNOWN' && again.isStored) await noteFirstLook(ledger, held);
  if (again.kind !== 'REFUSED') return UNKNOWN;
  // Had an earlier request been carried out, the same key would have told so; the list says that it wasn't meanwhile.
  const stillNone = await lookForRefund(ledger, held);
  return stillNone.kind === 'NONE' ? again : stillNone;
}

/**
 * The refund with a key that the provider may carry out; undefined while there is none. A spent key gives way to the next one
 * only after two looks far apart by which the provider hasn't made the refund. It is written before it is sent, so that
 * whoever takes over sends the same. Whoever still sends the spent one gets its failure again.
 */
async function withUsableKey(ledger: Ledger, held: HeldRefund, startMs: number): Promise<Refund | undefined> {
  const { order, refund, lease } = held;
  const { createdAtMs, lookedAtMs, tries = 0 } = refund;
  if (lookedAtMs === undefined) return refund;
  if (startMs - lookedAtMs < LOOKS_APART_MS || startMs - createdAtMs >= KEY_KNOWN_MS) return undefined;
  const isUnmade = await booksAgree(ledger, held);
  const changed = await changeHeldRefund(ledger, order, lease, (current, nowMs) => {
    if (current.providerRefundId !== undefined) return undefined;
    if (isUnmade) return { ...current, tries: tries + 1, triedAtMs: nowMs, lookedAtMs: undefined };
    // Something was given back that nobody has told of: it may be this one.
    return { ...current, lookedAtMs: undefined };
  });
  return isUnmade ? changed : undefined;
}

/** The key is spent. The first look is made after that is known: nothing sent before can be carried out any more. */
async function noteFirstLook(ledger: Ledger, held: HeldRefund): Promise<void> {
  const found = await lookForRefund(ledger, held);
  if (found.kind !== 'NONE' || !(await booksAgree(ledger, held))) return;
  await changeHeldRefund(ledger, held.order, held.lease, (refund, nowMs) => ({
    ...refund,
    lookedAtMs: nowMs,
  }));
}

async function post(ledger: Ledger, { order, refund, lease }: HeldRefund): Promise<Posted> {
  if (!maySend(ledger, lease)) return { kind: 'UNKNOWN', isStored: false };
  return read(await ledger.provider.createRefund(refundRequest(order, refund)));
}

function refundRequest(order: Order, refund: Refund): RefundRequest {
  return {
    idempotencyKey: providerKey(order, 'refund', refund.refundId, refund.tries ?? 0),
    paymentId: paymentOf(refund),
    amountMinor: toMinorUnits(refund.amount, currency(order.currency).exponent),
    tenant: order.tenant,
    orderId: providerOrderId(order),
    refundId: refund.refundId,
  };
}

function paymentOf({ paymentId }: Refund): string {
  if (paymentId === undefined) throw new RangeError('a refund at the provider names its payment');
  return paymentId;
}

function read(result: ProviderResult<ProviderRefund>): Posted {
  switch (result.kind) {
    case 'DONE':
      return { kind: 'MADE', made: result.value };
    case 'REFUSED':
      return result;
    case 'UNAVAILABLE':
      return { kind: 'NOT_MADE', reason: 'provider_unavailable' };
    case 'UNKNOWN':
      return { kind: 'UNKNOWN', isStored: result.isStored === true };
  }
}

/** Looks for our refund among all of its payment. "Can't be told" is never taken for "isn't there". */
async function lookForRefund(
  { provider }: Ledger,
  { refund }: HeldRefund,
): Promise<Extract<RefundCallResult, { kind: 'MADE' | 'UNKNOWN' }> | { readonly kind: 'NONE' }> {
  for await (const page of refundPages(provider, paymentOf(refund))) {
    if (page.kind !== 'DONE') return UNKNOWN;
    const made = page.value.items.find(({ metadata }) => metadata.refundId === refund.refundId);
    if (made !== undefined) return { kind: 'MADE', made };
  }
  return { kind: 'NONE' };
}

/**
 * Whether the provider counts as much given back of the payment as the ledger knows of, this refund apart. A list may be
 * behind; if the refund was made all the same, this sum is more.
 */
async function booksAgree(ledger: Ledger, { order, refund }: HeldRefund): Promise<boolean> {
  const { exponent } = currency(order.currency);
  const found = await ledger.provider.retrieveRefundedAmount(paymentOf(refund));
  if (found.kind !== 'DONE' || found.value.currency !== order.currency) return false;
  const made = (await readRefunds(ledger, order)).filter(
    ({ refundId, state, paymentId, providerRefundId }) =>
      refundId !== refund.refundId &&
      paymentId === refund.paymentId &&
      state !== 'FAILED' &&
      providerRefundId !== undefined,
  );
  return toMinorUnits(add(...made.map(({ amount }) => amount)), exponent) === found.value.amountMinor;
}
