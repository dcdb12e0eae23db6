import type { AccountRef, ItemKey } from '../ledger/kernel/keys.ts';
import { partition } from '../ledger/kernel/keys.ts';
import type { ProfileField } from '../ledger/model/record-changes.ts';

/**
 * The old shape of an account's record: one item that holds what PROFILE and BALANCE#… items hold in the new one.
 * Everything that reads, mirrors, moves, compares or removes it takes its names from here.
 */
export interface LegacyShape {
  /** Its sort key; its partition is the account's. */
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

/** What a migration's folder exports: its manifest. The builders that go with it are those of its shape. */
export interface Migration {
  /** How the command line and the table name it. */
  readonly id: string;
  readonly title: string;
  readonly shape: LegacyShape;
}

export function legacyKey({ shape }: Migration, { tenant, accountId }: AccountRef): ItemKey {
  return { uuid: partition(tenant, accountId), type: shape.type };
}

/** The sort keys of the new shape: what a table that still has the old one can't have. */
export function newTypes({ shape }: Migration): readonly string[] {
  return [
    ...Object.keys(shape.amounts).map((asset) => `BALANCE#${asset.replace('/', '#')}`),
    ...(Object.keys(shape.profile).length === 0 ? [] : ['PROFILE']),
  ];
}
