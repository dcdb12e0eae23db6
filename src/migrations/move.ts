import {
  type AttributeValue,
  type StoredItem,
  optionalInteger,
  optionalString,
  readString,
  toAttribute,
  toAttributes,
} from '../ledger/kernel/attributes.ts';
import { defined } from '../ledger/kernel/defined.ts';
import {
  type Entry,
  entryAttributes,
  ledgerAccount,
  netChanges,
  postings,
} from '../ledger/model/entries/entry.ts';
import { isId, isTenantId } from '../ledger/kernel/id-grammar.ts';
import { integer } from '../ledger/kernel/integers.ts';
import { type AccountRef, balanceKey, profileKey } from '../ledger/kernel/keys.ts';
import {
  type Decimal,
  MAX_DIGITS,
  ZERO,
  add,
  negate,
  parseDecimal,
  subtract,
} from '../ledger/kernel/money.ts';
import { type PlanPart, type PlannedItem, putNew } from '../ledger/items/plan.ts';
import { heldAmount, heldAttributes, profileAttributes } from './legacy-record.ts';
import { type LegacyShape, type Migration, legacyKey } from './migration.ts';
import { legacyRole } from './mirror.ts';

/** Who an opening entry is by. No principal has this name: a principal's is never two words. */
export const BACKFILL_ACTOR = 'migration backfill';

export function accountOf(record: StoredItem): AccountRef {
  const [tenant = '', ...rest] = readString(record, 'uuid').split('#');
  return { tenant, accountId: rest.join('#') };
}

/** Whether an item's partition is an account's; no request reaches another. */
export function namesAccount(item: StoredItem): boolean {
  const { tenant, accountId } = accountOf(item);
  return isTenantId(tenant) && isId(accountId);
}

/** What each asset's earlier postings come to in the account's wallet. */
export function postedToWallet(
  accountId: string,
  entries: readonly Pick<Entry, 'postings'>[],
): ReadonlyMap<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const entry of entries) {
    for (const { asset, net } of netChanges(entry, ledgerAccount.wallet(accountId))) {
      sums.set(asset, add(sums.get(asset) ?? ZERO, net));
    }
  }
  return sums;
}

/**
 * Why a record can't move as it is; undefined: it can. What is there in another kind than it should be would read as
 * absent, and be gone with the old shape.
 */
export function objectionToMove(shape: LegacyShape, record: StoredItem): string | undefined {
  if (!namesAccount(record)) return 'its key names no account';
  for (const [asset, attribute] of Object.entries(shape.amounts)) {
    const stored = record[attribute];
    if (stored === undefined) continue;
    const amount = parseDecimal(stored.N ?? '');
    if (amount === undefined) return `${attribute} is no number of up to ${String(MAX_DIGITS)} digits`;
    if (amount.lt(ZERO)) return `${asset} is negative`;
  }
  const noText = Object.values(shape.profile).find(
    (name) => name in record && optionalString(record, name) === undefined,
  );
  if (noText !== undefined) return `${noText} is no text`;
  return 'writes' in record && record['writes'].N === undefined ? 'writes is no number' : undefined;
}

/**
 * Moves a record in one transaction: it marks the old shape on the condition that nothing of it changed since it was
 * read, puts what it holds in the new shape, and books what no posting accounts for from the issuer, so that from this
 * moment each balance is the sum of its postings (I2).
 * @param posted what the account's entries come to, read after the record
 */
export function move(
  migration: Migration,
  record: StoredItem,
  posted: ReadonlyMap<string, Decimal>,
  { entryId, atMs }: { readonly entryId: string; readonly atMs: number },
): PlanPart {
  const { shape } = migration;
  const account = accountOf(record);
  const held = Object.keys(shape.amounts).map((asset) => ({
    asset,
    amount: heldAmount(shape, record, asset),
    opening: subtract(heldAmount(shape, record, asset) ?? ZERO, posted.get(asset) ?? ZERO),
  }));
  const entry: Entry = {
    ...account,
    entryId,
    operation: 'ADJUSTMENT',
    postings: postings(
      ...held.map(({ asset, opening }) => openingPosting(account.accountId, asset, opening)),
    ),
    reason: `opening balance, ${migration.id}`,
    actor: BACKFILL_ACTOR,
    atMs,
  };
  return {
    items: [
      markRecord(migration, record, atMs),
      ...held
        .filter(({ amount, opening }) => amount !== undefined || !opening.isZero())
        .map(({ asset, amount }) => putBalance(account, asset, amount ?? ZERO, record, atMs)),
      ...putProfile(shape, account, record),
      ...(entry.postings.length === 0 ? [] : [putNew('entry', entryAttributes(entry))]),
    ],
    entries: entry.postings.length === 0 ? [] : [entry],
  };
}

function openingPosting(accountId: string, asset: string, opening: Decimal): Entry['postings'][number] {
  const wallet = ledgerAccount.wallet(accountId);
  return opening.lt(ZERO)
    ? { debit: wallet, credit: ledgerAccount.issuer, asset, amount: negate(opening) }
    : { debit: ledgerAccount.issuer, credit: wallet, asset, amount: opening };
}

/**
 * `writes` says that nobody wrote the record since it was read. What it holds is compared too: a release from before the
 * migration wrote records without counting, and one that was thought dead may still be running.
 */
function markRecord(migration: Migration, record: StoredItem, atMs: number): PlannedItem {
  const { shape } = migration;
  const names: Record<string, string> = { '#mark': shape.mark, '#writes': 'writes' };
  const values: Record<string, AttributeValue> = { ':at': toAttribute(integer(atMs)), ':one': { N: '1' } };
  const conditions = ['attribute_not_exists(#mark)'];
  for (const attribute of ['writes', ...heldAttributes(shape)]) {
    names[`#${attribute}`] = attribute;
    const stored = record[attribute];
    const value = stored?.N === undefined ? stored?.S : undefined;
    if (stored?.N !== undefined) values[`:${attribute}`] = { N: stored.N };
    else if (value !== undefined) values[`:${attribute}`] = { S: value };
    conditions.push(
      stored === undefined ? `attribute_not_exists(#${attribute})` : `#${attribute} = :${attribute}`,
    );
  }
  return {
    role: legacyRole(migration, accountOf(record)),
    item: {
      Update: {
        Key: toAttributes({ ...legacyKey(migration, accountOf(record)) }),
        UpdateExpression: 'SET #mark = :at ADD #writes :one',
        ConditionExpression: conditions.join(' AND '),
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  };
}

function putBalance(
  account: AccountRef,
  asset: string,
  balance: Decimal,
  record: StoredItem,
  atMs: number,
): PlannedItem {
  return putNew(`balance:${asset}`, {
    ...balanceKey({ ...account, asset }),
    balance,
    writes: integer(1),
    updated_at: optionalInteger(record, 'updated_at') ?? integer(atMs),
  });
}

/** A field that the new shape has already is newer than what moves: it stays. */
function putProfile(shape: LegacyShape, account: AccountRef, record: StoredItem): readonly PlannedItem[] {
  const fields = profileAttributes(shape, record);
  if (Object.keys(fields).length === 0) return [];
  const attributes = { ...fields, ...defined({ updated_at: storedNumber(record, 'updated_at') }) };
  const entries = Object.entries(attributes);
  return [
    {
      role: 'profile',
      item: {
        Update: {
          Key: toAttributes({ ...profileKey(account) }),
          UpdateExpression: `SET ${entries.map(([name]) => `#${name} = if_not_exists(#${name}, :${name})`).join(', ')}`,
          ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
          ExpressionAttributeValues: Object.fromEntries(entries.map(([name, value]) => [`:${name}`, value])),
        },
      },
    },
  ];
}

function storedNumber(record: StoredItem, name: string): AttributeValue | undefined {
  const value = optionalInteger(record, name);
  return value === undefined ? undefined : toAttribute(value);
}

/** Removes the old shape of a record that has moved: the item, or what moved out of an item that stays. */
export function removal(migration: Migration, record: StoredItem): PlannedItem {
  const { shape } = migration;
  const Key = toAttributes({ ...legacyKey(migration, accountOf(record)) });
  const names = Object.fromEntries(
    [shape.mark, ...(shape.removal === 'ITEM' ? [] : heldAttributes(shape))].map((name) => [
      `#${name}`,
      name,
    ]),
  );
  const condition = {
    ConditionExpression: `#${shape.mark} > :never`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: { ':never': { N: '0' } },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
  const role = legacyRole(migration, accountOf(record));
  if (shape.removal === 'ITEM') return { role, item: { Delete: { Key, ...condition } } };
  return {
    role,
    item: {
      Update: { Key, UpdateExpression: `REMOVE ${Object.keys(names).join(', ')}`, ...condition },
    },
  };
}
