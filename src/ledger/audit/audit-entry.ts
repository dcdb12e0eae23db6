import type { Finding } from './audit-finding.ts';
import { movesBetween } from './order-movements.ts';
import { isCurrency } from '../kernel/currencies.ts';
import { type Entry, METRIC, type Posting, ledgerAccount } from '../model/entries/entry.ts';
import { isId } from '../kernel/id-grammar.ts';
import { PREFIX, isAsset } from '../kernel/keys.ts';
import { ZERO, plainDecimal } from '../kernel/money.ts';
import type { Order } from '../model/orders/order.ts';

/** The accounts that belong to nobody in particular, and the prefixes of those that do (docs/DESIGN.md §4). */
const SHARED: readonly string[] = [ledgerAccount.stripe, ledgerAccount.issuer];
const OWNED: readonly string[] = ['wallet', 'metrics', 'merchant', 'cash', 'receivable', 'surplus'];
const METRICS: readonly string[] = [METRIC.charged, METRIC.co2Kg];

/**
 * I1: why an entry isn't a balanced transaction of its account; undefined if it is. A posting names both of its sides,
 * so an entry balances if every posting moves a positive amount of something known between two different, known accounts,
 * and only between those that its order, or an adjustment, has to do with.
 * @param order the one that it names, if that is there
 */
export function objectionToEntry(entry: Entry, order: Order | undefined): Finding | undefined {
  const { accountId, postings } = entry;
  const [first] = [
    ...(postings.length === 0 ? [{ what: 'postings', expected: 'at least one', found: 'none' }] : []),
    ...postings.flatMap((posting) => objectionToPosting(accountId, posting) ?? []),
    ...objectionToOrder(entry, order),
  ];
  return first === undefined
    ? undefined
    : { promise: 'I1', item: `${PREFIX.entry}${entry.entryId}`, ...first };
}

type Objection = Pick<Finding, 'what' | 'expected' | 'found'>;

/** Only an adjustment has no order; one that isn't there has a finding of its own. */
function objectionToOrder(entry: Entry, order: Order | undefined): readonly Objection[] {
  const { accountId, operation, orderId, postings } = entry;
  if (orderId === undefined && operation !== 'ADJUSTMENT')
    return [{ what: 'order', expected: 'named', found: 'none' }];
  if (orderId !== undefined && order === undefined) return [];
  const isAllowed = movesBetween(accountId, order);
  return postings
    .filter(({ debit, credit }) => !isAllowed(debit, credit))
    .map(({ debit, credit }) => ({
      what: 'posting',
      expected: 'accounts that it may move between',
      found: `${debit} → ${credit}`,
    }));
}

function objectionToPosting(
  accountId: string,
  { debit, credit, asset, amount }: Posting,
): Objection | undefined {
  if (!amount.gt(ZERO)) return { what: 'amount', expected: 'above 0', found: plainDecimal(amount) };
  if (debit === credit) return { what: 'accounts', expected: 'two different ones', found: debit };
  const strange = [debit, credit].find((name) => !isKnown(accountId, name));
  if (strange !== undefined) return { what: 'account', expected: 'a known one', found: strange };
  if (!isAsset(asset) && !isCurrency(asset) && !METRICS.includes(asset))
    return { what: 'asset', expected: 'a known one', found: asset };
  return undefined;
}

/** An account of the ledger; another customer's wallet or metrics are not this entry's to move. */
function isKnown(accountId: string, name: string): boolean {
  if (SHARED.includes(name)) return true;
  const [prefix = '', ...rest] = name.split(':');
  const owner = rest.join(':');
  // A till is its merchant's, by both their names.
  const names = prefix === 'cash' ? owner.split('/') : [owner];
  if (!OWNED.includes(prefix) || names.length > 2 || !names.every(isId)) return false;
  return prefix === 'wallet' || prefix === 'metrics' || prefix === 'receivable' ? owner === accountId : true;
}
