import { MalformedItemError, type StoredItem, readString } from '../attributes.ts';
import { isRefundAside } from '../audit/aside-items.ts';
import { groupBy } from '../group-by.ts';
import { type ItemKey, type OrderRef, PREFIX, orderKey } from '../keys.ts';
import { plainDecimal } from '../money.ts';
import { readOrder } from '../orders/order-item.ts';
import type { Order } from '../orders/order.ts';
import { amountOfMinor } from '../provider/provider-facts.ts';
import { readRefundAside } from '../provider/refunds-aside.ts';
import { type Backing, type Claim, type Told, claimsOf, refundClaim } from './booking-claims.ts';
import type { Difference } from './compare-with-provider.ts';
import type { Ledger } from './ledger.ts';

/** Something booked that the provider doesn't bear out. */
export interface UnbackedBooking {
  readonly difference: Difference;
  readonly claim: Claim;
  /** Where the claim was read. */
  readonly item: ItemKey;
  /** What the provider has instead, where applying it may settle the difference. */
  readonly told?: Told | undefined;
}

/** An item that can't be read, so that nothing in it was compared. */
export interface UnreadableItem {
  readonly item: string;
  readonly problem: string;
}

export interface Unbacked {
  /** How many payments, refunds and disputes the orders name. */
  readonly bookings: number;
  readonly unbacked: readonly UnbackedBooking[];
  readonly unreadable: readonly UnreadableItem[];
  /** False where the provider couldn't be asked about one. */
  readonly complete: boolean;
}

export interface UnbackedOptions {
  /** Orders that were written since. */
  readonly sinceMs: number;
  /** What the provider is known to have, by id: it is asked only about the rest. */
  readonly known: ReadonlyMap<string, Backing>;
  /** Made so lately, by id, that a webhook may be telling of it at this very moment. */
  readonly young: ReadonlySet<string>;
  readonly onProgress?: (progress: { readonly listed: number; readonly differences: number }) => void;
}

interface Tally {
  bookings: number;
  complete: boolean;
  readonly unbacked: UnbackedBooking[];
  readonly unreadable: UnreadableItem[];
}

const SEGMENTS = 4;
/** So many keys are read at a time. */
const READ_AT_ONCE = 100;

/**
 * Reads the whole table and gives what orders have booked that the provider doesn't bear out: a payment that it never
 * received, a refund that it didn't make, a dispute that ended otherwise. The provider is asked after the order was read, so
 * what it says is never older than the ledger. Throws TableUnavailableError.
 */
export async function findUnbacked(ledger: Ledger, options: UnbackedOptions): Promise<Unbacked> {
  const { sinceMs, onProgress } = options;
  const tally: Tally = { bookings: 0, complete: true, unbacked: [], unreadable: [] };
  await Promise.all(
    Array.from({ length: SEGMENTS }, async (_, segment) => {
      let from: StoredItem | undefined;
      do {
        const page = await ledger.store.scan(segment, SEGMENTS, from);
        for (const order of read(tally, page.items.filter(isOrder), readOrder))
          if (order.updatedAtMs >= sinceMs)
            await judgeAll(ledger, options, tally, order, orderKey(order), claimsOf(order));
        await judgeAside(ledger, options, tally, read(tally, page.items.filter(isRefundAside), readAside));
        onProgress?.({ listed: tally.bookings, differences: tally.unbacked.length });
        from = page.next;
      } while (from !== undefined);
    }),
  );
  return tally;
}

/** One item that can't be read keeps nothing else from being compared: it is named. */
function read<Value>(
  { unreadable }: Tally,
  items: readonly StoredItem[],
  reader: (item: StoredItem) => Value,
): readonly Value[] {
  return items.flatMap((item) => {
    try {
      return [reader(item)];
    } catch (error) {
      if (!(error instanceof MalformedItemError) && !(error instanceof RangeError)) throw error;
      const name = `${readString(item, 'uuid')} ${readString(item, 'type')}`;
      unreadable.push({ item: name, problem: error.message });
      return [];
    }
  });
}

function isOrder(item: StoredItem): boolean {
  return readString(item, 'type').startsWith(PREFIX.order);
}

interface AsideRefund {
  readonly ref: OrderRef;
  readonly key: ItemKey;
  readonly claims: readonly Claim[];
}

function readAside(item: StoredItem): AsideRefund {
  const ref = {
    tenant: readString(item, 'tenant'),
    accountId: readString(item, 'account'),
    orderId: readString(item, 'order'),
  };
  const key = { uuid: readString(item, 'uuid'), type: readString(item, 'type') };
  return { ref, key, claims: refundClaim(readRefundAside(item)) };
}

/** Refunds beside their orders, which were written with them. */
async function judgeAside(
  ledger: Ledger,
  options: UnbackedOptions,
  tally: Tally,
  aside: readonly AsideRefund[],
): Promise<void> {
  const ofOrders = [...groupBy(aside, ({ ref }) => Object.values(orderKey(ref)).join(' ')).values()];
  for (let start = 0; start < ofOrders.length; start += READ_AT_ONCE) {
    const some = ofOrders.slice(start, start + READ_AT_ONCE);
    const items = await ledger.store.get(
      some.flatMap(([first]) => (first === undefined ? [] : [orderKey(first.ref)])),
    );
    for (const [index, refunds] of some.entries()) {
      const item = items[index];
      // An order that can't be read or isn't there is named by its own item, and by the audit.
      const [order] = item === undefined ? [] : read({ ...tally, unreadable: [] }, [item], readOrder);
      if (order === undefined || order.updatedAtMs < options.sinceMs) continue;
      for (const { key, claims } of refunds) await judgeAll(ledger, options, tally, order, key, claims);
    }
  }
}

async function judgeAll(
  ledger: Ledger,
  { known, young }: UnbackedOptions,
  tally: Tally,
  order: Order,
  item: ItemKey,
  claims: readonly Claim[],
): Promise<void> {
  for (const claim of claims) {
    if (young.has(claim.providerId)) continue;
    tally.bookings += 1;
    const verdict = await judge(ledger, claim, order.currency, known.get(claim.providerId));
    if (verdict.kind === 'UNKNOWN') tally.complete = false;
    if (verdict.kind === 'CONTRADICTED')
      tally.unbacked.push({
        difference: difference(order, claim, verdict.said),
        claim,
        item,
        told: verdict.told,
      });
  }
}

/** Whether the ledger still says what was contradicted: a webhook may have told it better since it was read. */
export async function stillClaims(ledger: Ledger, { claim, item: key }: UnbackedBooking): Promise<boolean> {
  const [item] = await ledger.store.get([key]);
  if (item === undefined) return false;
  const claims = isRefundAside(item) ? refundClaim(readRefundAside(item)) : claimsOf(readOrder(item));
  return claims.some(
    ({ providerId, status, amount }) =>
      providerId === claim.providerId && status === claim.status && amount.eq(claim.amount),
  );
}

type Verdict =
  | { readonly kind: 'BACKED' | 'UNKNOWN' }
  /** What the provider says instead. */
  | { readonly kind: 'CONTRADICTED'; readonly said: string; readonly told?: Told | undefined };

async function judge(
  ledger: Ledger,
  claim: Claim,
  currency: string,
  known: Backing | undefined,
): Promise<Verdict> {
  if (known !== undefined && bearsOut(known, claim, currency)) return { kind: 'BACKED' };
  const asked = await claim.retrieve(ledger);
  switch (asked.kind) {
    case 'DONE': {
      const { backing, told } = asked.value;
      return bearsOut(backing, claim, currency)
        ? { kind: 'BACKED' }
        : { kind: 'CONTRADICTED', said: printed(backing), told };
    }
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
    backing.status === status &&
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
    ledger: `${status} ${plainDecimal(amount)} ${currency}`,
  };
}
