import { type Decimal, plainDecimal, subtract } from '../kernel/money.ts';

/** The promises of docs/DESIGN.md that an audit proves: entries balance, balances are their sums, refunds are bounded. */
export type AuditedPromise = 'I1' | 'I2' | 'I4';

/** Something that is off: what, by how much, and where in its account. Amounts are plain decimals. */
export interface Finding {
  readonly promise: AuditedPromise;
  /** The sort key of the item that is off: `BALANCE#ECOPAY`, `ENTRY#…`, `ORDER#…`, `METRICS`. */
  readonly item: string;
  readonly what: string;
  readonly expected: string;
  readonly found: string;
  /** Found less expected; absent where what is off is no amount. */
  readonly offBy?: string;
}

/** An amount that isn't what it should be; undefined if it is. */
export function amountFinding(
  promise: AuditedPromise,
  item: string,
  what: string,
  expected: Decimal,
  found: Decimal,
): Finding | undefined {
  if (expected.eq(found)) return undefined;
  return {
    promise,
    item,
    what,
    expected: plainDecimal(expected),
    found: plainDecimal(found),
    offBy: plainDecimal(subtract(found, expected)),
  };
}
