import {
  type AttributeValue,
  type StoredItem,
  optionalDecimal,
  optionalInteger,
  optionalString,
  readString,
  toAttribute,
  toAttributes,
} from '../ledger/kernel/attributes.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { isId, isTenantId } from '../ledger/kernel/id-grammar.ts';
import {
  type AccountRef,
  type ItemKey,
  PREFIX,
  assetOfBalanceType,
  balanceKey,
  partition,
  profileKey,
} from '../ledger/kernel/keys.ts';
import { type Decimal, MAX_DIGITS, ZERO, parseDecimal } from '../ledger/kernel/money.ts';
import type { ProfileField, RecordChange } from '../ledger/model/record-changes.ts';

/**
 * A migration's manifest: which item held an account's record in the old shape, and under which names. The new shape is
 * that of the ledger's own PROFILE and BALANCE#… items. Everything that reads, writes, moves, compares or removes an old
 * shape takes its names from here.
 */
export interface Migration {
  /** How the command line and the table name it. */
  readonly id: string;
  readonly title: string;
  /** The sort key of the legacy item; its partition is the account's. */
  readonly type: string;
  /** The attribute that says, once it is there, that the record has moved: when, in milliseconds. */
  readonly mark: string;
  /** Asset → the attribute that holds its balance. */
  readonly amounts: Readonly<Record<string, string>>;
  /** A profile's field → the attribute that holds it. Empty: it holds no profile. */
  readonly profile: Readonly<Partial<Record<ProfileField, string>>>;
  /** What cleanup removes: the item, or of an item that stays the attributes that moved. */
  readonly removal: 'ITEM' | 'ATTRIBUTES';
}

export function legacyKey({ type }: Migration, { tenant, accountId }: AccountRef): ItemKey {
  return { uuid: partition(tenant, accountId), type };
}

/** By which role a transaction's legacy item of an account is known. */
export function legacyRole({ tenant, accountId }: AccountRef): `legacy:${string}` {
  return `legacy:${partition(tenant, accountId)}`;
}

/** The keys of an account's record in the new shape: its balances, then its profile, if the record holds one. */
export function newKeys(migration: Migration, account: AccountRef): readonly ItemKey[] {
  return [
    ...Object.keys(migration.amounts).map((asset) => balanceKey({ ...account, asset })),
    ...(holdsProfile(migration) ? [profileKey(account)] : []),
  ];
}

/** Whether an item with this sort key belongs to the new shape. */
export function isNewType(migration: Migration, type: string): boolean {
  if (type === 'PROFILE') return holdsProfile(migration);
  return type.startsWith(PREFIX.balance) && assetOfBalanceType(type) in migration.amounts;
}

function holdsProfile({ profile }: Migration): boolean {
  return Object.keys(profile).length > 0;
}

/** Whether a change concerns a record, and so is written to its old shape too. */
export function concerns(migration: Migration, change: RecordChange): boolean {
  if (change.kind === 'METRICS') return migration.type === 'METRICS';
  return change.kind === 'PROFILE' ? holdsProfile(migration) : change.asset in migration.amounts;
}

/** Whose partition an item is in, as far as the partition's name says. */
export function accountOf(item: StoredItem): AccountRef {
  const [tenant = '', ...rest] = readString(item, 'uuid').split('#');
  return { tenant, accountId: rest.join('#') };
}

/** Whether an item's partition is an account's; no request reaches another. */
export function namesAccount(item: StoredItem): boolean {
  const { tenant, accountId } = accountOf(item);
  return isTenantId(tenant) && isId(accountId);
}

/** Whether an item of the legacy type holds a record at all: a METRICS item may hold nothing but metrics. */
export function isRecord(migration: Migration, item: StoredItem | undefined): item is StoredItem {
  if (item === undefined) return false;
  return (
    migration.removal === 'ITEM' ||
    [migration.mark, ...heldAttributes(migration)].some((name) => name in item)
  );
}

export function hasMoved({ mark }: Migration, item: StoredItem): boolean {
  return optionalInteger(item, mark) !== undefined;
}

/** The attributes that hold what moves. */
export function heldAttributes({ amounts, profile }: Migration): readonly string[] {
  return [...Object.values(amounts), ...Object.values(profile)];
}

/** What a record holds of an asset; undefined: nothing was ever recorded of it there. */
export function heldAmount({ amounts }: Migration, item: StoredItem, asset: string): Decimal | undefined {
  const attribute = amounts[asset];
  return attribute === undefined ? undefined : optionalDecimal(item, attribute);
}

/** A record's profile under the names of the new shape. */
export function heldProfile(
  { profile }: Migration,
  record: StoredItem,
): Readonly<Record<string, AttributeValue>> {
  const fields: Record<string, string | undefined> = {};
  for (const [field, attribute] of Object.entries(profile)) fields[field] = optionalString(record, attribute);
  return toAttributes(fields);
}

/**
 * Why a record can't move as it is; undefined: it can. What is there in another kind than it should be would read as
 * absent, and be gone with the old shape.
 */
export function objectionToMove(migration: Migration, record: StoredItem): string | undefined {
  if (!namesAccount(record)) return 'its key names no account';
  for (const [asset, attribute] of Object.entries(migration.amounts)) {
    const stored = record[attribute];
    if (stored === undefined) continue;
    const amount = parseDecimal(stored.N ?? '');
    if (amount === undefined) return `${attribute} is no number of up to ${String(MAX_DIGITS)} digits`;
    if (amount.lt(ZERO)) return `${asset} is negative`;
  }
  const noText = Object.values(migration.profile).find(
    (name) => name in record && optionalString(record, name) === undefined,
  );
  if (noText !== undefined) return `${noText} is no text`;
  return 'writes' in record && record['writes'].N === undefined ? 'writes is no number' : undefined;
}

/** A record as the item under a key of the new shape; undefined where the record has no such part. */
export function asNewItem(
  migration: Migration,
  { uuid, type }: ItemKey,
  record: StoredItem | undefined,
): StoredItem | undefined {
  if (!isRecord(migration, record)) return undefined;
  const item = {
    ...toAttributes({ uuid, type }),
    ...defined({ updated_at: record['updated_at'], writes: record['writes'] }),
  };
  if (type === 'PROFILE') return { ...item, ...heldProfile(migration, record) };
  const amount = heldAmount(migration, record, assetOfBalanceType(type));
  return amount === undefined ? undefined : { ...item, balance: toAttribute(amount) };
}
