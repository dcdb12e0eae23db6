/**
 * A thing that has to be there: an outcome names what its own transaction wrote, and a type's required field what its parent
 * was made of. Throws an Error, which clients see as INTERNAL, when the ledger has lost it.
 */
export function present<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`${what} that must exist is missing or hidden`);
  return value;
}
