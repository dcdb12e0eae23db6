import type { StoredItem } from '../kernel/attributes.ts';

/** One reason of a cancelled transaction, by position, as DynamoDB gives it. */
export interface CancellationReason {
  readonly Code?: string | undefined;
  readonly Item?: StoredItem | undefined;
}

/** What a cancelled transaction means (docs/DESIGN.md §6). Nothing was written, whichever it is. */
export type CancellationVerdict =
  /** Item 0, the idempotency record, was there already: a replay, whatever else failed. */
  | { readonly kind: 'SEEN'; readonly record: StoredItem | undefined }
  /** Conditions alone said no: position → the item as it stood. */
  | { readonly kind: 'REFUSED'; readonly failed: ReadonlyMap<number, StoredItem | undefined> }
  | { readonly kind: 'CONFLICT' }
  | { readonly kind: 'THROTTLED' }
  /** A mix, or unreadable: read again, then decide; never a business answer. */
  | { readonly kind: 'UNCLEAR' }
  /** The request itself was wrong: a bug, never retried. */
  | { readonly kind: 'INVALID' };

const THROTTLES = ['ThrottlingError', 'ProvisionedThroughputExceeded', 'RequestLimitExceeded'];

/**
 * Reads the reasons of a cancelled transaction; the one place that compares their codes.
 * @param markerFirst whether item 0 is an idempotency record (a request's or an event's)
 */
export function readCancellation(
  reasons: readonly CancellationReason[] | undefined,
  itemCount: number,
  recordFirst: boolean,
): CancellationVerdict {
  if (reasons?.length !== itemCount) return { kind: 'UNCLEAR' };
  const codes = reasons.map((reason) => reason.Code ?? 'None');
  const isCondition = (code: string): boolean => code === 'ConditionalCheckFailed';
  if (recordFirst && codes[0] !== undefined && isCondition(codes[0])) {
    return { kind: 'SEEN', record: reasons[0]?.Item };
  }
  if (codes.includes('ValidationError')) return { kind: 'INVALID' };
  const rest = codes.filter((code) => code !== 'None' && !isCondition(code));
  if (codes.some(isCondition)) {
    if (rest.length > 0) return { kind: 'UNCLEAR' };
    const failed = codes.flatMap((code, index) =>
      isCondition(code) ? [[index, reasons[index]?.Item] as const] : [],
    );
    return { kind: 'REFUSED', failed: new Map(failed) };
  }
  if (rest.every((code) => code === 'TransactionConflict')) return { kind: 'CONFLICT' };
  if (rest.every((code) => code === 'TransactionConflict' || THROTTLES.includes(code)))
    return { kind: 'THROTTLED' };
  return { kind: 'UNCLEAR' };
}
