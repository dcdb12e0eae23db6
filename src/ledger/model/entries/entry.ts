import {
  type AttributeInput,
  type StoredItem,
  optionalString,
  readDecimal,
  readInteger,
  readMaps,
  readOneOf,
  readString,
} from '../../kernel/attributes.ts';
import { defined } from '../../kernel/defined.ts';
import { integer } from '../../kernel/integers.ts';
import { type EntryRef, type ItemKey, entryKey } from '../../kernel/keys.ts';
import { type Decimal, ZERO, add, subtract } from '../../kernel/money.ts';

export const OPERATIONS = [
  'CHARGE',
  'TOP_UP',
  'PAYMENT',
  'REFUND',
  'ADJUSTMENT',
  'DISPUTE',
  'SURPLUS',
] as const;
export type EntryOperation = (typeof OPERATIONS)[number];

/** Moves a positive amount of an asset from one account to another; so it balances by its shape (I1). */
export interface Posting {
  readonly debit: string;
  readonly credit: string;
  readonly asset: string;
  readonly amount: Decimal;
}

/** One ledger transaction of an account: written once, never changed, no TTL. */
export interface Entry extends EntryRef {
  readonly operation: EntryOperation;
  readonly postings: readonly Posting[];
  readonly orderId?: string;
  readonly refundId?: string;
  /** The provider's payment, refund or dispute id. */
  readonly providerId?: string;
  readonly reason?: string;
  readonly actor: string;
  /** Of what needed a second admin: who approved it, and the proposal that both decided on. */
  readonly approver?: string;
  readonly proposalId?: string;
  readonly atMs: number;
}

/** The names of accounts in postings (docs/DESIGN.md §4). Only wallets and metrics have an item of their own. */
export const ledgerAccount = {
  wallet: (accountId: string) => `wallet:${accountId}`,
  metrics: (accountId: string) => `metrics:${accountId}`,
  merchant: (merchantId: string) => `merchant:${merchantId}`,
  cash: (till: string) => `cash:${till}`,
  receivable: (accountId: string) => `receivable:${accountId}`,
  overpayment: (orderId: string) => `surplus:${orderId}`,
  stripe: 'stripe',
  issuer: 'issuer',
} as const;

/** The units that are posted to `metrics:{account}` and kept in its METRICS item. */
export const METRIC = { charged: 'METRIC/CHARGED', co2Kg: 'METRIC/CO2_KG' } as const;

/** What an entry does to one asset of an account. */
export interface NetChange {
  readonly asset: string;
  readonly net: Decimal;
  /** What has to be there before: the sum of the debits. */
  readonly grossDebit: Decimal;
}

/** Nets an entry's postings on one account, one change an asset, in the order in which assets first appear. */
export function netChanges(entry: Pick<Entry, 'postings'>, account: string): readonly NetChange[] {
  const changes = new Map<string, NetChange>();
  for (const { debit, credit, asset, amount } of entry.postings) {
    if (debit !== account && credit !== account) continue;
    const before = changes.get(asset) ?? { asset, net: ZERO, grossDebit: ZERO };
    const debited = debit === account ? amount : ZERO;
    const credited = credit === account ? amount : ZERO;
    changes.set(asset, {
      asset,
      net: subtract(add(before.net, credited), debited),
      grossDebit: add(before.grossDebit, debited),
    });
  }
  return [...changes.values()];
}

/** Leaves out what moves nothing. Throws RangeError for a negative amount: a posting's direction is its accounts'. */
export function postings(...all: readonly Posting[]): readonly Posting[] {
  if (all.some(({ amount }) => amount.isNegative() && !amount.isZero()))
    throw new RangeError('a negative posting');
  return all.filter(({ amount }) => !amount.isZero());
}

/** The same postings the other way round. */
export function reversed(all: readonly Posting[]): readonly Posting[] {
  return all.map(({ debit, credit, asset, amount }) => ({ debit: credit, credit: debit, asset, amount }));
}

export function entryAttributes(
  entry: Entry,
): ItemKey & Readonly<Record<string, AttributeInput | undefined>> {
  return {
    ...entryKey(entry),
    op: entry.operation,
    postings: entry.postings.map(({ debit, credit, asset, amount }) => ({
      d: debit,
      c: credit,
      a: asset,
      n: amount,
    })),
    order: entry.orderId,
    refund: entry.refundId,
    provider: entry.providerId,
    reason: entry.reason,
    actor: entry.actor,
    approver: entry.approver,
    proposal: entry.proposalId,
    at: integer(entry.atMs),
  };
}

/** Reads an entry item. The keys come from the item itself. Throws MalformedItemError. */
export function readEntry(item: StoredItem): Entry {
  const [tenant = '', accountId = ''] = readString(item, 'uuid').split('#');
  return {
    tenant,
    accountId,
    entryId: readString(item, 'type').slice('ENTRY#'.length),
    operation: readOneOf(item, 'op', OPERATIONS),
    postings: readMaps(item, 'postings').map((posting) => ({
      debit: readString(posting, 'd'),
      credit: readString(posting, 'c'),
      asset: readString(posting, 'a'),
      amount: readDecimal(posting, 'n'),
    })),
    ...defined({
      orderId: optionalString(item, 'order'),
      refundId: optionalString(item, 'refund'),
      providerId: optionalString(item, 'provider'),
      reason: optionalString(item, 'reason'),
      approver: optionalString(item, 'approver'),
      proposalId: optionalString(item, 'proposal'),
    }),
    actor: readString(item, 'actor'),
    atMs: readInteger(item, 'at'),
  };
}

/**
 * What must hold of a balance for an entry to commit. Without one: a debit must be covered, a credit always fits.
 * EXACTLY: the balance is still what was read; all of it is taken, also where that is nothing. WITHIN: the cap is kept.
 */
export type BalanceGuard =
  { readonly kind: 'EXACTLY'; readonly read: Decimal } | { readonly kind: 'WITHIN'; readonly cap: Decimal };
