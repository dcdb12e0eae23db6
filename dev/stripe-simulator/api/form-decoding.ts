/** A decoded form: text at the leaves, records for what is in brackets. Lists are still records by position. */
export interface FormRecord {
  [name: string]: FormValue;
}

export type FormValue = string | FormRecord;

const KEY_PARTS = /[^[\]]+|\[\]/g;

/**
 * Decodes a form-encoded body or query in Stripe's bracket notation, `line_items[0][price_data][currency]=jpy`.
 * Records have no prototype, so that no name a client sends is special.
 */
export function decodeForm(encoded: string): FormRecord {
  const root = emptyRecord();
  for (const [key, value] of new URLSearchParams(encoded)) {
    const path = key.match(KEY_PARTS) ?? [key];
    assign(root, path, value);
  }
  return root;
}

function assign(root: FormRecord, path: readonly string[], value: string): void {
  let record = root;
  for (const part of path.slice(0, -1)) {
    const name = positioned(record, part);
    const existing = record[name];
    const next = typeof existing === 'object' ? existing : emptyRecord();
    record[name] = next;
    record = next;
  }
  record[positioned(record, path.at(-1) ?? '')] = value;
}

/** `[]` means the next free position of a list. */
function positioned(record: FormRecord, part: string): string {
  return part === '[]' ? String(Object.keys(record).length) : part;
}

function emptyRecord(): FormRecord {
  // Object.create is typed any; a record without prototype or entries is a FormRecord.
  return Object.create(null) as FormRecord;
}
