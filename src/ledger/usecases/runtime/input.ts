import { z } from 'zod';
import { type Currency, isPayable } from '../../kernel/currencies.ts';
import { isId } from '../../kernel/id-grammar.ts';
import { isAsset, type OrderRef, type ProposalRef } from '../../kernel/keys.ts';
import {
  type Decimal,
  ZERO,
  fitsOperation,
  fitsScale,
  minorUnits,
  parseDecimal,
} from '../../kernel/money.ts';
import { nodeParts } from '../../items/node-ids.ts';
import { ISSUE_CODES, type InputIssue, type IssueCode, type UnstoredOf } from '../../model/outcomes.ts';

/** The operator's own name for an account, merchant or terminal. */
export const idText = z.string().refine(isId, {
  params: { code: 'bad_id' },
  error: 'must be 1 to 128 letters, digits and any of _ . : | -, the first a letter or digit',
});

export const assetText = z
  .string()
  .refine(isAsset, { params: { code: 'unknown_asset' }, error: 'no asset of this platform' });

/** Text that people read: trimmed, 1 to `max` characters, no control characters, no half of a surrogate pair. */
export function shortText(max: number): z.ZodType<string, string> {
  return z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), {
      params: { code: 'bad_text' },
      error: 'has control characters, or half of a letter',
    });
}

/** A decimal as the scalar lets it through; the grammar is checked again, since an operation is its own gate. */
export const decimalText = z.string().transform((text, context): Decimal => {
  const value = parseDecimal(text);
  if (value === undefined) {
    context.issues.push({
      code: 'custom',
      message: 'not a decimal in plain notation',
      params: { code: 'bad_decimal' },
      input: text,
    });
    return ZERO;
  }
  return value;
});

/** A field that may be left out or null, which is the same: undefined. Not for fields where null clears. */
export function optional<Schema extends z.ZodType>(
  schema: Schema,
): z.ZodPipe<
  z.ZodOptional<z.ZodNullable<Schema>>,
  z.ZodTransform<z.output<Schema> | undefined, z.output<Schema> | null | undefined>
> {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** What an operation got: its parsed input, or why not. */
export type Parsed<Value> =
  | { readonly kind: 'PARSED'; readonly value: Value }
  | { readonly kind: 'INVALID'; readonly failure: UnstoredOf<'InvalidInput'> };

export function parseInput<Value>(schema: z.ZodType<Value>, input: unknown): Parsed<Value> {
  const result = schema.safeParse(input, { error: houseText });
  if (result.success) return { kind: 'PARSED', value: result.data };
  return {
    kind: 'INVALID',
    failure: { kind: 'InvalidInput', issues: result.error.issues.map(toIssue) },
  };
}

const CODES: Readonly<Record<string, IssueCode>> = {
  invalid_type: 'wrong_type',
  too_small: 'too_small',
  too_big: 'too_large',
  invalid_format: 'bad_format',
  invalid_value: 'bad_value',
  unrecognized_keys: 'unknown_field',
};

function toIssue(issue: z.core.$ZodIssue): InputIssue {
  const own: unknown = issue.code === 'custom' ? issue.params?.['code'] : undefined;
  return {
    path: issue.path.map(String),
    code: ISSUE_CODES.find((code) => code === own) ?? CODES[issue.code] ?? 'invalid',
    message: issue.message,
  };
}

/** What is wrong, in our words, where a schema has none of its own. Nothing of the input is in it, keys included. */
function houseText(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be of type ${issue.expected}`;
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') return 'must not be empty';
      return `${verbOf(issue.origin)} at least ${String(issue.minimum)}${unitOf(issue.origin)}`;
    case 'too_big':
      return `${verbOf(issue.origin)} at most ${String(issue.maximum)}${unitOf(issue.origin)}`;
    case 'invalid_format':
      return issue.format === 'email' ? 'must be an email address' : 'is not of the right form';
    case 'invalid_value':
      return `must be one of: ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return 'has a field that is unknown here';
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
      return 'is not valid';
  }
}

function verbOf(origin: string): string {
  return origin === 'string' || origin === 'array' ? 'must have' : 'must be';
}

/** Of what there are too few or too many; a number is itself. */
function unitOf(origin: string): string {
  return origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : '';
}

/** Why an amount can't be one of this unit; undefined if it can. Positive unless `signed`, which still isn't 0. */
export function amountIssue(
  path: readonly string[],
  amount: Decimal,
  scale: number,
  { signed = false }: { readonly signed?: boolean } = {},
): InputIssue | undefined {
  if (signed ? amount.isZero() : !amount.gt(ZERO)) {
    return {
      path,
      code: signed ? 'zero' : 'not_positive',
      message: signed ? 'is zero' : 'must be above zero',
    };
  }
  if (!fitsScale(amount, scale))
    return { path, code: 'bad_scale', message: `at most ${String(scale)} decimals` };
  if (!fitsOperation(amount))
    return { path, code: 'too_large', message: 'at most 18 digits before the point' };
  return undefined;
}

/** `amountIssue` for a currency: its scale, and what Stripe can charge at all. */
export function priceIssue(path: readonly string[], amount: Decimal, unit: Currency): InputIssue | undefined {
  const issue = amountIssue(path, amount, unit.scale);
  if (issue !== undefined || isPayable(amount, unit)) return issue;
  if (minorUnits(amount, unit.exponent) === undefined)
    return { path, code: 'too_large', message: `more than can be paid in ${unit.code}` };
  return { path, code: 'bad_scale', message: `no amount that can be paid in ${unit.code}` };
}

export function invalidWith(...issues: readonly InputIssue[]): UnstoredOf<'InvalidInput'> {
  return { kind: 'InvalidInput', issues };
}

/** The order that a public id names, if it is of this tenant; undefined looks like an order that isn't there. */
export function orderRefOf(tenant: string, id: string): OrderRef | undefined {
  const [accountId, orderId] = nodeParts('Order', tenant, id) ?? [];
  return accountId === undefined || orderId === undefined ? undefined : { tenant, accountId, orderId };
}

/** The proposal that a public id names, if it is of this tenant. */
export function proposalRefOf(tenant: string, id: string): ProposalRef | undefined {
  const [accountId, proposalId] = nodeParts('Proposal', tenant, id) ?? [];
  return accountId === undefined || proposalId === undefined ? undefined : { tenant, accountId, proposalId };
}
