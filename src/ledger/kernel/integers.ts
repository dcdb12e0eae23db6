declare const integerBrand: unique symbol;

/**
 * A whole number that a table attribute may hold: a version, a counter, an epoch.
 * The brand keeps a plain `number`, which may be a float, out of attribute values at compile time.
 */
export type Integer = number & { readonly [integerBrand]: true };

/** Brands a whole number; throws RangeError for a fraction, NaN, an infinity or anything past 2^53 − 1. */
export function integer(value: number): Integer {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a safe integer: ${String(value)}`);
  // The brand exists for the compiler alone; the line above is what makes it true.
  return value as Integer;
}

/** Reads a whole number in plain digits, as DynamoDB returns it; throws RangeError otherwise. */
export function parseInteger(text: string): Integer {
  if (!/^-?\d{1,16}$/.test(text)) throw new RangeError('not a whole number in plain digits');
  return integer(Number.parseInt(text, 10));
}
