import type { AttributeValue } from '../../src/ledger/kernel/attributes.ts';

/** What an item takes in the table, as DynamoDB counts it: names and values, and what lists and maps add. */
export function itemBytes(item: Readonly<Record<string, AttributeValue>>): number {
  return fieldBytes(item);
}

function fieldBytes(fields: Readonly<Record<string, AttributeValue>>): number {
  return Object.entries(fields).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value),
    0,
  );
}

function valueBytes(value: AttributeValue): number {
  if ('S' in value) return Buffer.byteLength(value.S);
  if ('N' in value) return 2 + Math.ceil(value.N.replace(/[-.]/g, '').length / 2);
  if ('BOOL' in value) return 1;
  if ('L' in value) return value.L.reduce((sum, element) => sum + 1 + valueBytes(element), 3);
  return 3 + Object.keys(value.M).length + fieldBytes(value.M);
}
