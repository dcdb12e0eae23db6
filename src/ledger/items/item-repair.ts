import type { AttributeValue, StoredAttribute, StoredItem } from '../kernel/attributes.ts';
import { digest } from '../kernel/fingerprint.ts';
import type { ItemKey } from '../kernel/keys.ts';
import { decimal, plainDecimal } from '../kernel/money.ts';
import type { ProposedWrite } from '../model/proposal.ts';
import type { PlannedItem } from './plan.ts';

/** What an item's attributes become: undefined goes. What isn't named stays. */
export type AttributeChanges = Readonly<Record<string, StoredAttribute | undefined>>;

/** The write that mends an item as it was read; undefined if it is in order already. */
export function proposedWrite(
  { uuid, type }: ItemKey,
  read: StoredItem | undefined,
  changes: AttributeChanges,
): ProposedWrite | undefined {
  const names = Object.keys(changes).filter(
    (name) => attributesText({ a: read?.[name] }) !== attributesText({ a: changes[name] }),
  );
  if (names.length === 0) return undefined;
  const before = attributesText(Object.fromEntries(names.map((name) => [name, read?.[name]])));
  const after = attributesText(Object.fromEntries(names.map((name) => [name, changes[name]])));
  return { uuid, type, before, after, read: itemDigest(read) };
}

/** The digest of all that an item says; empty where there is none. */
export function itemDigest(item: StoredItem | undefined): string {
  return item === undefined ? '' : digest(attributesText(item));
}

/** Attributes as the table's JSON, alike for alike items: names in order, numbers in one form. */
export function attributesText(attributes: AttributeChanges): string {
  return JSON.stringify(sortedMap(attributes));
}

function sortedMap(map: AttributeChanges): Record<string, AttributeValue> {
  const entries = Object.entries(map).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, valueOf(value)]])),
  );
}

function valueOf({ S, N, BOOL, L, M }: StoredAttribute): AttributeValue {
  if (S !== undefined) return { S };
  if (N !== undefined) return { N: plainDecimal(decimal(N)) };
  if (BOOL !== undefined) return { BOOL };
  if (L !== undefined) return { L: L.map(valueOf) };
  if (M !== undefined) return { M: sortedMap(M) };
  throw new RangeError('an attribute of a kind that is never written here');
}

/**
 * A repair's write as an item of a transaction, on the condition that the item still says all that it said. Unlike any
 * other write it may change a balance without an entry: it makes the item agree with the entries that there are.
 */
export function repairItem(
  { uuid, type, before, after }: ProposedWrite,
  read: StoredItem | undefined,
): PlannedItem {
  // What `attributesText` made: attributes by their names.
  const set = JSON.parse(after) as Record<string, AttributeValue>;
  const was = JSON.parse(before) as Record<string, AttributeValue>;
  const gone = Object.keys(was).filter((name) => !(name in set));
  const key = { uuid: { S: uuid }, type: { S: type } };
  if (read === undefined) {
    return {
      role: 'other',
      item: {
        Put: {
          Item: { ...key, ...set },
          ConditionExpression: 'attribute_not_exists(#uuid)',
          ExpressionAttributeNames: { '#uuid': 'uuid' },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
    };
  }
  const asRead = Object.entries(sortedMap(read)).filter(([name]) => name !== 'uuid' && name !== 'type');
  const names = [...new Set([...asRead.map(([name]) => name), ...Object.keys(set), ...gone])];
  const place = (name: string): string => `#n${String(names.indexOf(name))}`;
  const unset = Object.keys(set).filter((name) => read[name] === undefined);
  const setText = Object.keys(set).map((name) => `${place(name)} = :a${String(names.indexOf(name))}`);
  const conditions = [
    ...asRead.map(([name]) => `${place(name)} = :b${String(names.indexOf(name))}`),
    ...unset.map((name) => `attribute_not_exists(${place(name)})`),
  ];
  return {
    role: 'other',
    item: {
      Update: {
        Key: key,
        UpdateExpression: [
          ...(setText.length === 0 ? [] : [`SET ${setText.join(', ')}`]),
          ...(gone.length === 0 ? [] : [`REMOVE ${gone.map(place).join(', ')}`]),
        ].join(' '),
        ConditionExpression: conditions.join(' AND '),
        ExpressionAttributeNames: Object.fromEntries(names.map((name) => [place(name), name])),
        ExpressionAttributeValues: Object.fromEntries<AttributeValue>([
          ...asRead.map(([name, value]) => [`:b${String(names.indexOf(name))}`, value] as const),
          ...Object.entries(set).map(([name, value]) => [`:a${String(names.indexOf(name))}`, value] as const),
        ]),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  };
}
