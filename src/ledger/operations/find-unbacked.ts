import type { ProviderResult } from '../../stripe/port.ts';
import { type StoredItem, readString } from '../attributes.ts';
import { PREFIX } from '../keys.ts';
import { type Decimal, plainDecimal } from '../money.ts';
import { readOrder } from '../orders/order-item.ts';
import type { Order } from '../orders/order.ts';
import { type MinorAmount, amountOfMinor } from '../provider/provider-facts.ts';
import type { Difference } from './compare-with-provider.ts';
import type { Ledger } from './ledger.ts';

/** An object of the provider as far as it backs something that the ledger booked. */
export interface Backing extends MinorAmount {
  readonly status: string;
}

/** What an order says that the provider has: an object in one of these states, of exactly this amount. */
interface Claim {
  readonly kind: Difference['kind'];
  readonly providerId: string;
  /** What it must be by now; undefined: whatever it is, it must be there. */
  readonly status?: string;
  readonly amount: Decimal;
  readonly retrieve: (ledger: Ledger) => Promise<ProviderResult<Backing>>;
}

export interface Unbacked {
  /** How many payments, refunds and disputes the orders name. */
  readonly bookings: number;
  readonly differences: readonly Difference[];
  /** False where the provider couldn't be asked about one. */
  readonly complete: boolean;
}

export interface UnbackedOptions {
  /** Orders that were written since. */
  readonly sinceMs: number;
  /** What the provider is known to have, by id: it is asked only about the rest. */
  readonly known: ReadonlyMap<string, Backing>;
  readonly onProgress?: (progress: { readonly listed: number; readonly differences: number }) => void;
}

const SEGMENTS = 4;

/**
 * Reads the whole table and gives what orders have booked that the provider doesn't bear out: a payment that it never
 * received, a refund that it didn't make, a dispute that wasn't lost. The provider is asked after the order was read, so
 * what it says is never older than the ledger. Throws TableUnavailableError.
 */
export async function findUnbacked(
  ledger: Ledger,
  { sinceMs, known, onProgress }: UnbackedOptions,
): Promise<Unbacked> {
  const differences: Difference[] = [];
  let bookings = 0;
  let complete = true;
  async function judgeOrder(order: Order): Promise<void> {
    for (const claim of claimsOf(order)) {
      bookings += 1;
      const verdict = await judge(ledger, claim, order.currency, known.get(claim.providerId));
      if (verdict.kind === 'UNKNOWN') complete = false;
      if (verdict.kind === 'CONTRADICTED') differences.push(difference(order, claim, verdict.said));
    }
  }
  await Promise.all(
    Array.from({ length: SEGMENTS }, async (_, segment) => {
      let from: StoredItem | undefined;
      do {
        const page = await ledger.store.scan(segment, SEGMENTS, from);
        for (const order of page.items.filter(isOrder).map(readOrder))
          if (order.updatedAtMs >= sinceMs) await judgeOrder(order);
        onProgress?.({ listed: bookings, differences: differences.length });
        from = page.next;
      } while (from !== undefined);
    }),
  );
  return { bookings, differences, complete };
}

function isOrder(item: StoredItem): boolean {
  return readString(item, 'type').startsWith(PREFIX.order);
}

function claimsOf(order: Order): readonly Claim[] {
  const { payment, surplus, refunds, disputes } = order;
  return [
    ...(payment?.paymentId === undefined ? [] : [paymentClaim(order, payment.paymentId, order.amount)]),
    ...surplus.map(({ paymentId, amount }) => paymentClaim(order, paymentId, amount)),
    ...[...refunds, ...surplus.flatMap((one) => one.refunds)].flatMap(refundClaim),
    ...disputes.map(({ disputeId, amount, booked }): Claim => ({
      kind: 'DISPUTE',
      providerId: disputeId,
      amount,
      ...(booked ? { status: 'lost' } : {}),
      retrieve: ({ provider }) => provider.retrieveDispute(disputeId),
    })),
  ];
}

function paymentClaim({ attempts }: Order, paymentId: string, amount: Decimal): Claim {
  const claim = { kind: 'PAYMENT', providerId: paymentId, amount } as const;
  // Where nothing was due there is no payment: its session stands for it.
  return attempts.some(({ sessionId }) => sessionId === paymentId)
    ? { ...claim, status: 'complete', retrieve: ({ provider }) => provider.retrieveSession(paymentId) }
    : { ...claim, status: 'succeeded', retrieve: (ledger) => retrieveReceived(ledger, paymentId) };
}

async function retrieveReceived({ provider }: Ledger, paymentId: string): Promise<ProviderResult<Backing>> {
  const payment = await provider.retrievePayment(paymentId);
  if (payment.kind !== 'DONE') return payment;
  const { status, amountReceivedMinor, currency } = payment.value;
  return { kind: 'DONE', value: { status, amountMinor: amountReceivedMinor, currency } };
}

function refundClaim({
  providerRefundId,
  amount,
  state,
}: {
  readonly providerRefundId?: string;
  readonly amount: Decimal;
  readonly state: Order['refunds'][number]['state'];
}): readonly Claim[] {
  // One that failed gave nothing back, so there is nothing to be backed.
  if (providerRefundId === undefined || state === 'FAILED') return [];
  return [
    {
      kind: 'REFUND',
      providerId: providerRefundId,
      amount,
      ...(state === 'SUCCEEDED' ? { status: 'succeeded' } : {}),
      retrieve: ({ provider }) => provider.retrieveRefund(providerRefundId),
    },
  ];
}

type Verdict =
  | { readonly kind: 'BACKED' | 'UNKNOWN' }
  /** What the provider says instead. */
  | { readonly kind: 'CONTRADICTED'; readonly said: string };

async function judge(
  ledger: Ledger,
  claim: Claim,
  currency: string,
  known: Backing | undefined,
): Promise<Verdict> {
  if (known !== undefined && bearsOut(known, claim, currency)) return { kind: 'BACKED' };
  const asked = await claim.retrieve(ledger);
  switch (asked.kind) {
    case 'DONE':
      return bearsOut(asked.value, claim, currency)
        ? { kind: 'BACKED' }
        : { kind: 'CONTRADICTED', said: printed(asked.value) };
    case 'REFUSED':
      return asked.code === 'resource_missing'
        ? { kind: 'CONTRADICTED', said: 'has none' }
        : { kind: 'UNKNOWN' };
    case 'UNAVAILABLE':
    case 'UNKNOWN':
      return { kind: 'UNKNOWN' };
  }
}

function bearsOut(backing: Backing, { status, amount }: Claim, currency: string): boolean {
  return (
    (status === undefined || backing.status === status) &&
    backing.currency === currency &&
    backing.amountMinor !== undefined &&
    amountOfMinor(backing.amountMinor, currency)?.eq(amount) === true
  );
}

function printed({ status, amountMinor, currency }: Backing): string {
  if (amountMinor === undefined || currency === undefined) return `${status} without an amount`;
  const amount = amountOfMinor(amountMinor, currency);
  return `${status} ${amount === undefined ? `${String(amountMinor)} minor units of` : plainDecimal(amount)} ${currency}`;
}

function difference(order: Order, { kind, providerId, status, amount }: Claim, provider: string): Difference {
  const { tenant, accountId, orderId, currency } = order;
  return {
    kind,
    providerId,
    order: { tenant, accountId, orderId },
    provider,
    ledger: `${status ?? 'has'} ${plainDecimal(amount)} ${currency}`,
  };
}
