const ID_GRAMMAR = /^[A-Za-z0-9][A-Za-z0-9_.:|-]{0,127}$/;

/**
 * Whether a text may name a tenant, account, merchant, terminal or product (docs/DESIGN.md §3).
 * No `#`, which separates key parts, and no `@`, so that an email can't become an id.
 */
export function isId(text: string): boolean {
  return ID_GRAMMAR.test(text);
}

/** Whether a text may name a tenant: an id that isn't one of the table's own prefixes. */
export function isTenantId(text: string): boolean {
  return isId(text) && text !== 'stripe' && text !== 'system';
}

const ULID_GRAMMAR = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export function isUlid(text: string): boolean {
  return ULID_GRAMMAR.test(text);
}
