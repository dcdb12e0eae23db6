import { type Integer, integer, parseInteger } from './integers.ts';
import { type Decimal, MAX_DIGITS, decimal, isDecimal, plainDecimal } from './money.ts';

/** An attribute value as DynamoDB's wire has it; the five kinds that this table uses. */
export type AttributeValue =
  | { S: string }
  | { N: string }
  | { BOOL: boolean }
  | { L: AttributeValue[] }
  | { M: Record<string, AttributeValue> };

/** What may become an attribute value. A plain `number` may not: it could be a float. */
export type AttributeInput =
  | string
  | boolean
  | Decimal
  | Integer
  | readonly AttributeInput[]
  | { readonly [name: string]: AttributeInput | undefined };

/**
 * Half of a surrogate pair: where a text from outside (an error, a reason) was cut. The engine would refuse the whole
 * transaction, so that a fact could never be written.
 */
const HALF_OF_A_LETTER = /\p{Cs}/gu;

/** The one function that makes an attribute value. Throws RangeError for a float or more than 38 digits. */
export function toAttribute(value: AttributeInput): AttributeValue {
  if (typeof value === 'string') return { S: value.replace(HALF_OF_A_LETTER, '\ufffd') };
  if (typeof value === 'boolean') return { BOOL: value };
  if (typeof value === 'number') return { N: String(integer(value)) };
  if (isDecimal(value)) {
    if (value.precision() > MAX_DIGITS) throw new RangeError(`more than ${String(MAX_DIGITS)} digits`);
    return { N: plainDecimal(value) };
  }
  if (isList(value)) return { L: value.map(toAttribute) };
  return { M: toAttributes(value) };
}

/** An item's or a map's attributes, in the order given; undefined ones are left out. */
export function toAttributes(
  record: Readonly<Record<string, AttributeInput | undefined>>,
): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(record)) {
    if (value !== undefined) attributes[name] = toAttribute(value);
  }
  return attributes;
}

// Array.isArray doesn't narrow readonly arrays.
function isList(value: AttributeInput): value is readonly AttributeInput[] {
  return Array.isArray(value);
}

/** An attribute as read back: whatever kind it is, the others are absent. */
export interface StoredAttribute {
  readonly S?: string;
  readonly N?: string;
  readonly BOOL?: boolean;
  readonly L?: readonly StoredAttribute[];
  readonly M?: StoredItem;
}
export type StoredItem = Readonly<Record<string, StoredAttribute>>;

/** A stored item lacks an attribute or has it in another kind: a bug or foreign data, never a client's fault. */
export class MalformedItemError extends Error {
  constructor(name: string) {
    super(`malformed item: attribute ${name}`);
    this.name = 'MalformedItemError';
  }
}

export function optionalString(item: StoredItem, name: string): string | undefined {
  return item[name]?.S;
}

export function readString(item: StoredItem, name: string): string {
  return present(item[name]?.S, name);
}

export function optionalDecimal(item: StoredItem, name: string): Decimal | undefined {
  const text = item[name]?.N;
  return text === undefined ? undefined : decimal(text);
}

export function readDecimal(item: StoredItem, name: string): Decimal {
  return present(optionalDecimal(item, name), name);
}

export function optionalInteger(item: StoredItem, name: string): Integer | undefined {
  const text = item[name]?.N;
  return text === undefined ? undefined : parseInteger(text);
}

export function readInteger(item: StoredItem, name: string): Integer {
  return present(optionalInteger(item, name), name);
}

export function readBoolean(item: StoredItem, name: string): boolean {
  return item[name]?.BOOL ?? false;
}

/** A list of maps; absent is empty. */
export function readMaps(item: StoredItem, name: string): readonly StoredItem[] {
  return (item[name]?.L ?? []).map((element) => present(element.M, name));
}

export function readMap(item: StoredItem, name: string): StoredItem {
  return present(optionalMap(item, name), name);
}

export function optionalMap(item: StoredItem, name: string): StoredItem | undefined {
  return item[name]?.M;
}

/** Reads a text that must be one of a closed set. */
export function readOneOf<Value extends string>(
  item: StoredItem,
  name: string,
  values: readonly Value[],
): Value {
  const text = item[name]?.S;
  return present(
    values.find((value) => value === text),
    name,
  );
}

/** The two halves of an item's partition, `tenant#owner`, and the id that its sort key has after a prefix. */
export function readKeyParts(
  item: StoredItem,
  prefix: string,
): readonly [tenant: string, owner: string, id: string] {
  const [tenant = '', owner = ''] = readString(item, 'uuid').split('#');
  return [tenant, owner, readString(item, 'type').slice(prefix.length)];
}

function present<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new MalformedItemError(name);
  return value;
}
