import {
  type AttributeValue,
  type StoredItem,
  optionalDecimal,
  optionalInteger,
  optionalString,
  toAttribute,
} from '../ledger/kernel/attributes.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { type ItemKey, PREFIX, assetOfBalanceType } from '../ledger/kernel/keys.ts';
import type { Decimal } from '../ledger/kernel/money.ts';
import type { RecordChange } from '../ledger/model/record-changes.ts';
import type { LegacyShape } from './migration.ts';

/** Whether an item of the legacy type holds a record at all: a METRICS item may hold nothing but metrics. */
export function isRecord(shape: LegacyShape, item: StoredItem | undefined): item is StoredItem {
  if (item === undefined) return false;
  return shape.removal === 'ITEM' || [shape.mark, ...heldAttributes(shape)].some((name) => name in item);
}

export function hasMoved({ mark }: LegacyShape, item: StoredItem): boolean {
  return optionalInteger(item, mark) !== undefined;
}

/** The attributes that hold what moves. */
export function heldAttributes({ amounts, profile }: LegacyShape): readonly string[] {
  return [...Object.values(amounts), ...Object.values(profile)];
}

/** What a record holds of an asset; undefined: nothing was ever booked on it there. */
export function heldAmount(shape: LegacyShape, item: StoredItem, asset: string): Decimal | undefined {
  const attribute = shape.amounts[asset];
  return attribute === undefined ? undefined : optionalDecimal(item, attribute);
}

/** Whether a record holds what the item under this key holds in the new shape. */
export function standsFor(shape: LegacyShape, { type }: ItemKey): boolean {
  if (type === 'PROFILE') return Object.keys(shape.profile).length > 0;
  return type.startsWith(PREFIX.balance) && assetOfBalanceType(type) in shape.amounts;
}

/** Whether a change concerns a record, and so is written to its old shape too. */
export function concerns(shape: LegacyShape, change: RecordChange): boolean {
  switch (change.kind) {
    case 'BALANCE':
    case 'BALANCE_CHECK':
      return change.asset in shape.amounts;
    case 'PROFILE':
      return Object.keys(shape.profile).length > 0;
    case 'METRICS':
      return shape.type === 'METRICS';
  }
}

/** A record as the item under a key of the new shape, for readers that know no other; undefined where it has no such part. */
export function asNewItem(
  shape: LegacyShape,
  key: ItemKey,
  record: StoredItem | undefined,
): StoredItem | undefined {
  if (!isRecord(shape, record)) return undefined;
  const item = {
    ...itemKey(key),
    ...defined({ updated_at: record['updated_at'], writes: record['writes'] }),
  };
  if (key.type === 'PROFILE') return { ...item, ...profileAttributes(shape, record) };
  const amount = heldAmount(shape, record, assetOfBalanceType(key.type));
  return amount === undefined ? undefined : { ...item, balance: toAttribute(amount) };
}

/** A record's profile under the names of the new shape. */
export function profileAttributes(
  { profile }: LegacyShape,
  record: StoredItem,
): Readonly<Record<string, AttributeValue>> {
  const attributes: Record<string, AttributeValue> = {};
  for (const [field, attribute] of Object.entries(profile)) {
    const text = optionalString(record, attribute);
    if (text !== undefined) attributes[field] = { S: text };
  }
  return attributes;
}

function itemKey({ uuid, type }: ItemKey): Record<string, AttributeValue> {
  return { uuid: { S: uuid }, type: { S: type } };
}
