import { z } from 'zod';
import { invalidRequest, type StripeFault } from './errors.ts';

/** A whole number as a form carries it. */
export const integer = z
  .string()
  .regex(/^-?\d{1,15}$/, 'Invalid integer')
  .transform((text) => Number.parseInt(text, 10));

/** A list, which a form carries as a record by position. */
export function list<S extends z.ZodType>(item: S): z.ZodPreprocess<z.ZodArray<S>> {
  return z.preprocess((value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const names = Object.keys(value);
    return names.every((name) => /^\d+$/.test(name)) ? Object.values(value) : value;
  }, z.array(item));
}

/** Metadata by Stripe's limits: 50 keys of 40 characters, values of 500; an empty value leaves the key out. */
export const metadata = z
  .record(z.string().max(40), z.string().max(500))
  .refine((entries) => Object.keys(entries).length <= 50, 'Metadata can have at most 50 keys')
  .transform((entries) => Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== '')));

export const expand = list(z.string()).optional();

const range = z.strictObject({
  gt: integer.optional(),
  gte: integer.optional(),
  lt: integer.optional(),
  lte: integer.optional(),
});

/** What every list takes: paging, and a creation time or a range of it. */
export const listing = {
  created: z.union([integer, range]).optional(),
  ending_before: z.string().optional(),
  expand,
  limit: integer.pipe(z.number().min(1).max(100)).default(10),
  starting_after: z.string().optional(),
};

export const retrieval = z.strictObject({ expand });

/** Reads decoded parameters by a schema; throws the refusal that Stripe would send for the first fault. */
export function parseParameters<S extends z.ZodType>(schema: S, raw: object): z.output<S> {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw issue === undefined ? invalidRequest('Invalid request.') : refusal(issue, raw);
}

function refusal(issue: z.core.$ZodIssue, raw: object): StripeFault {
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => parameterName([...issue.path, key]));
    const noun = names.length === 1 ? 'parameter' : 'parameters';
    return invalidRequest(`Received unknown ${noun}: ${names.join(', ')}`, {
      code: 'parameter_unknown',
      ...(names[0] === undefined ? {} : { param: names[0] }),
    });
  }
  const param = parameterName(issue.path);
  const value = valueAt(raw, issue.path);
  if (value === undefined) {
    return invalidRequest(`Missing required param: ${param}.`, { code: 'parameter_missing', param });
  }
  if (value === '') {
    return invalidRequest(`You passed an empty string for '${param}'.`, {
      code: 'parameter_invalid_empty',
      param,
    });
  }
  if (issue.code === 'invalid_format' && issue.format === 'url') {
    return invalidRequest('Not a valid URL', { code: 'url_invalid', param });
  }
  if (issue.message === 'Invalid integer') {
    return invalidRequest(`Invalid integer: ${JSON.stringify(value)}`, {
      code: 'parameter_invalid_integer',
      param,
    });
  }
  return invalidRequest(`Invalid ${param}: ${issue.message}`, { param });
}

/** A path in bracket notation, as Stripe names parameters. */
function parameterName(path: readonly PropertyKey[]): string {
  return path.map((part, index) => (index === 0 ? String(part) : `[${String(part)}]`)).join('');
}

function valueAt(raw: object, path: readonly PropertyKey[]): unknown {
  let value: unknown = raw;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}
