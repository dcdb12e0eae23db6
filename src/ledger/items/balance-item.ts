import { type StoredItem, optionalDecimal } from '../kernel/attributes.ts';
import { type Decimal, ZERO } from '../kernel/money.ts';

/** What a balance item holds; a wallet without one holds nothing yet. Throws MalformedItemError. */
export function balanceOf(item: StoredItem | undefined): Decimal {
  return (item === undefined ? undefined : optionalDecimal(item, 'balance')) ?? ZERO;
}
