import { MalformedItemError, type StoredItem, readString } from '../../kernel/attributes.ts';
import { type ItemKey, PREFIX, orderKey, refundKey, refundPrefix } from '../../kernel/keys.ts';
import { plainDecimal } from '../../kernel/money.ts';
import { readOrder } from '../../items/order-item.ts';
import { readRefund } from '../../items/refund-item.ts';
import type { Order } from '../../model/orders/order.ts';
import { amountOfMinor } from '../../model/provider/update-decision.ts';
import {
  type Backing,
  type LedgerAssertion,
  type Reported,
  assertionsOf,
  refundAssertions,
} from './ledger-assertions.ts';
import type { Difference } from './compare-with-provider.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readPartition } from '../runtime/read-partition.ts';

/** Something booked that the provider doesn't bear out. */
export interface UnbackedRecording {
  readonly difference: Difference;
  readonly assertion: LedgerAssertion;
  /** Where the claim was read. */
  readonly item: ItemKey;
  /** What the provider has instead, where applying it may settle the difference. */
  readonly reported?: Reported | undefined;
}

/** An item that can't be read, so that nothing in it was compared. */
export interface UnreadableItem {
  readonly item: string;
  readonly problem: string;
}

export interface Unbacked {
  /** How many payments, refunds and disputes the orders name. */
  readonly recordings: number;
  readonly unbacked: readonly UnbackedRecording[];
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

interface SearchState {
  recordings: number;
  complete: boolean;
  readonly unbacked: UnbackedRecording[];
  readonly unreadable: UnreadableItem[];
}

const SEGMENTS = 4;

/**
 * Reads the whole table and gives what orders have booked that the provider doesn't bear out: a payment that it never
 * received, a refund that it didn't make, a dispute that ended otherwise. The provider is asked after the order was read, so
 * what it says is never older than the ledger. Throws TableUnavailableError.
 */
export async function findUnbacked(ledger: Ledger, options: UnbackedOptions): Promise<Unbacked> {
  const { sinceMs, onProgress } = options;
  const tally: SearchState = { recordings: 0, complete: true, unbacked: [], unreadable: [] };
  await Promise.all(
    Array.from({ length: SEGMENTS }, async (_, segment) => {
      let from: StoredItem | undefined;
      do {
        const page = await ledger.store.scan(segment, SEGMENTS, from);
        for (const order of read(tally, page.items.filter(isOrder), readOrder))
          if (order.updatedAtMs >= sinceMs) await judgeOrder(ledger, options, tally, order);
        onProgress?.({ listed: tally.recordings, differences: tally.unbacked.length });
        from = page.next;
      } while (from !== undefined);
    }),
  );
  return tally;
}

/** One item that can't be read keeps nothing else from being compared: it is named. */
function read<Value>(
  { unreadable }: SearchState,
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

/** What the order says, and what each of its refunds does. */
async function judgeOrder(
  ledger: Ledger,
  options: UnbackedOptions,
  tally: SearchState,
  order: Order,
): Promise<void> {
  const key = orderKey(order);
  await judgeAll(ledger, options, tally, order, key, assertionsOf(order));
  const items = await readPartition(ledger.store, key.uuid, refundPrefix(order));
  for (const refund of read(tally, items, readRefund))
    await judgeAll(ledger, options, tally, order, refundKey(refund), refundAssertions(refund));
}

async function judgeAll(
  ledger: Ledger,
  { known, young }: UnbackedOptions,
  tally: SearchState,
  order: Order,
  item: ItemKey,
  assertions: readonly LedgerAssertion[],
): Promise<void> {
  for (const assertion of assertions) {
    if (young.has(assertion.providerId)) continue;
    tally.recordings += 1;
    const verdict = await judge(ledger, assertion, order.currency, known.get(assertion.providerId));
    if (verdict.kind === 'UNKNOWN') tally.complete = false;
    if (verdict.kind === 'CONTRADICTED')
      tally.unbacked.push({
        difference: difference(order, assertion, verdict.said),
        assertion,
        item,
        reported: verdict.reported,
      });
  }
}

/** Whether the ledger still says what was contradicted: a webhook may have told it better since it was read. */
export async function stillAsserts(
  ledger: Ledger,
  { assertion, item: key }: UnbackedRecording,
): Promise<boolean> {
  const [item] = await ledger.store.get([key]);
  if (item === undefined) return false;
  const assertions = isOrder(item) ? assertionsOf(readOrder(item)) : refundAssertions(readRefund(item));
  return assertions.some(
    ({ providerId, status, amount }) =>
      providerId === assertion.providerId && status === assertion.status && amount.eq(assertion.amount),
  );
}

type Verdict =
  | { readonly kind: 'BACKED' | 'UNKNOWN' }
  /** What the provider says instead. */
  | { readonly kind: 'CONTRADICTED'; readonly said: string; readonly reported?: Reported | undefined };

async function judge(
  ledger: Ledger,
  assertion: LedgerAssertion,
  currency: string,
  known: Backing | undefined,
): Promise<Verdict> {
  if (known !== undefined && bearsOut(known, assertion, currency)) return { kind: 'BACKED' };
  const asked = await assertion.retrieve(ledger);
  switch (asked.kind) {
    case 'DONE': {
      const { backing, reported } = asked.value;
      return bearsOut(backing, assertion, currency)
        ? { kind: 'BACKED' }
        : { kind: 'CONTRADICTED', said: printed(backing), reported };
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

function bearsOut(backing: Backing, { status, amount }: LedgerAssertion, currency: string): boolean {
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

function difference(
  order: Order,
  { kind, providerId, status, amount }: LedgerAssertion,
  provider: string,
): Difference {
  const { tenant, accountId, orderId, currency } = order;
  return {
    kind,
    providerId,
    order: { tenant, accountId, orderId },
    provider,
    ledger: `${status} ${plainDecimal(amount)} ${currency}`,
  };
}
