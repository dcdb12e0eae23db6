import { type Finding, amountFinding } from './audit-finding.ts';
import { type Entry, netChanges } from '../model/entries/entry.ts';
import { groupBy } from '../kernel/group-by.ts';
import { PREFIX } from '../kernel/keys.ts';
import { type Decimal, ZERO, add, negate } from '../kernel/money.ts';
import type { Order } from '../model/orders/order.ts';

/** Something that an order knows and entries book: a refund, a dispute, an overpayment. */
export interface KnownRecording {
  /** The id by which its entries name it. */
  readonly id: string;
  /** The provider's id, where that is another one. */
  readonly providerId?: string | undefined;
  /** What its entries have to come to. */
  readonly recorded: Decimal;
}

export function itemOf({ orderId }: Pick<Order, 'orderId'>): string {
  return `${PREFIX.order}${orderId}`;
}

/** An order keeps nothing twice, by our id or by the provider's. */
export function countedOnce(
  order: Order,
  what: string,
  known: readonly KnownRecording[],
): readonly Finding[] {
  const names = known.flatMap(({ id, providerId = id }) => [...new Set([id, providerId])]);
  return [...groupBy(names, (name) => name)]
    .filter(([, kept]) => kept.length > 1)
    .map(([name, kept]) => ({
      promise: 'I4',
      item: itemOf(order),
      what: `${what} ${name}`,
      expected: 'kept once',
      found: `${String(kept.length)} times`,
    }));
}

/**
 * The entries of each come to what it books, once, and no entry is of one that isn't known. An entry names our refund; of
 * what was made at the provider, the provider's object.
 * @param sumOf what some entries book, counted as `booked` is
 */
export function recordedOnce(
  order: Order,
  what: string,
  known: readonly KnownRecording[],
  entries: readonly Entry[],
  sumOf: (entries: readonly Entry[]) => Decimal,
): readonly Finding[] {
  const byId = groupBy(entries, ({ refundId, providerId }) => refundId ?? providerId ?? 'without an id');
  const expected = new Map(known.map(({ id, recorded }) => [id, recorded]));
  return [...new Set([...expected.keys(), ...byId.keys()])].flatMap((id) => {
    const found = sumOf(byId.get(id) ?? []);
    return (
      amountFinding('I4', itemOf(order), `${what} ${id} by entries`, expected.get(id) ?? ZERO, found) ?? []
    );
  });
}

/** What entries took out of an account of the ledger. */
export function outOf(account: string, asset: string, entries: readonly Entry[]): Decimal {
  const nets = entries.flatMap((entry) => netChanges(entry, account));
  return negate(add(...nets.filter((net) => net.asset === asset).map(({ net }) => net)));
}

export function partitioned<Value>(
  values: readonly Value[],
  isFirst: (value: Value) => boolean,
): readonly [readonly Value[], readonly Value[]] {
  return [values.filter(isFirst), values.filter((value) => !isFirst(value))];
}
