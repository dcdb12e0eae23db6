import {
  type AttributeInput,
  MalformedItemError,
  type StoredItem,
  optionalDecimal,
  optionalInteger,
  optionalMap,
  optionalString,
  readMaps,
  readString,
} from './attributes.ts';
import { integer } from './integers.ts';
import { type Decimal, ZERO } from './money.ts';

export type Attributes = Readonly<Record<string, AttributeInput | undefined>>;

/**
 * How one value is kept in an item or a map: written as attributes, and read back. The functions below make the codecs
 * of single attributes; `record` puts them together into the codec of a whole part, which is its own legend.
 */
export interface Codec<Value> {
  readonly write: (value: Value) => Attributes;
  /** Undefined: it isn't there. Throws MalformedItemError where a part of it is missing. */
  readonly find: (item: StoredItem) => Value | undefined;
  /** Throws MalformedItemError where it isn't there. */
  readonly read: (item: StoredItem) => Value;
}

/** A codec for each property of a model, in the order in which the attributes are stored. */
export type Fields<Model> = { readonly [Name in keyof Model]-?: Codec<Model[Name]> };

/** One model of several attributes. It is there if its first attribute is. */
export function record<Model extends object>(fields: Fields<Model>): Codec<Model> {
  // Object.keys forgets that the names are those of the model, of which `fields` has each exactly once.
  const names = Object.keys(fields) as (keyof Model & string)[];
  const [first] = names;
  const read = (item: StoredItem): Model => {
    const values = names.map((name) => [name, fields[name].read(item)] as const);
    // Every property was read by its own codec; what is absent has no property at all.
    return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Model;
  };
  return {
    write: (model) =>
      Object.assign({}, ...names.map((name) => fields[name].write(model[name]))) as Attributes,
    find: (item) => (first === undefined || fields[first].find(item) === undefined ? undefined : read(item)),
    read,
  };
}

function attribute<Value>(
  name: string,
  write: (value: Value) => AttributeInput | undefined,
  find: (item: StoredItem, name: string) => Value | undefined,
): Codec<Value> {
  return {
    write: (value) => ({ [name]: write(value) }),
    find: (item) => find(item, name),
    read: (item) => {
      const value = find(item, name);
      if (value === undefined) throw new MalformedItemError(name);
      return value;
    },
  };
}

export function textAt(name: string): Codec<string> {
  return attribute<string>(name, (text) => text, optionalString);
}

/** Texts by their names. */
export function textsAt(name: string): Codec<Readonly<Record<string, string>>> {
  return attribute<Readonly<Record<string, string>>>(
    name,
    (texts) => texts,
    (item) => {
      const map = optionalMap(item, name);
      if (map === undefined) return undefined;
      return Object.fromEntries(Object.keys(map).map((key) => [key, readString(map, key)]));
    },
  );
}

/** A whole number; throws RangeError for another one. */
export function integerAt(name: string): Codec<number> {
  return attribute<number>(name, integer, optionalInteger);
}

export function decimalAt(name: string): Codec<Decimal> {
  return attribute<Decimal>(name, (amount) => amount, optionalDecimal);
}

/** A boolean that is always written. Absent is false. */
export function booleanAt(name: string): Codec<boolean> {
  return attribute<boolean>(
    name,
    (value) => value,
    (item) => item[name]?.BOOL ?? false,
  );
}

/** A boolean that is written only when it is true. */
export function flagAt(name: string): Codec<boolean> {
  return { ...booleanAt(name), write: (value) => ({ [name]: value ? true : undefined }) };
}

/** A text of a closed set. */
export function oneOfAt<Value extends string>(name: string, values: readonly Value[]): Codec<Value> {
  return attribute<Value>(
    name,
    (value) => value,
    (item) => values.find((value) => value === item[name]?.S),
  );
}

/** A map of its own. */
export function mapAt<Value>(name: string, codec: Codec<Value>): Codec<Value> {
  return attribute<Value>(name, codec.write, (item) => {
    const map = optionalMap(item, name);
    return map === undefined ? undefined : codec.read(map);
  });
}

/** A list of maps that is always written. Absent is empty. */
export function listAt<Value>(name: string, codec: Codec<Value>): Codec<readonly Value[]> {
  return attribute<readonly Value[]>(
    name,
    (values) => values.map(codec.write),
    (item) => readMaps(item, name).map(codec.read),
  );
}

/** A list of maps that is written unless it is empty. */
export function listUnlessEmptyAt<Value>(name: string, codec: Codec<Value>): Codec<readonly Value[]> {
  const always = listAt(name, codec);
  return { ...always, write: (values) => (values.length === 0 ? {} : always.write(values)) };
}

/** What may be absent. */
export function optionalField<Value>({ write, find }: Codec<Value>): Codec<Value | undefined> {
  return { write: (value) => (value === undefined ? {} : write(value)), find, read: find };
}

/** What is always written, and read as the given value where it is absent. */
export function orElse<Value>(codec: Codec<Value>, absent: Value): Codec<Value> {
  const find = (item: StoredItem): Value => codec.find(item) ?? absent;
  return { write: codec.write, find, read: find };
}

/** An amount that is written unless it is zero. */
export function decimalUnlessZeroAt(name: string): Codec<Decimal> {
  const codec = orElse(decimalAt(name), ZERO);
  return { ...codec, write: (amount) => (amount.isZero() ? {} : codec.write(amount)) };
}

/** A whole number that is written unless it is zero. */
export function integerUnlessZeroAt(name: string): Codec<number> {
  const codec = orElse(integerAt(name), 0);
  return { ...codec, write: (value) => (value === 0 ? {} : codec.write(value)) };
}

/** A value that is kept in another form. */
export function converted<Value, Kept>(
  { write, find, read }: Codec<Kept>,
  toKept: (value: Value) => Kept,
  fromKept: (kept: Kept) => Value,
): Codec<Value> {
  return {
    write: (value) => write(toKept(value)),
    find: (item) => {
      const kept = find(item);
      return kept === undefined ? undefined : fromKept(kept);
    },
    read: (item) => fromKept(read(item)),
  };
}
