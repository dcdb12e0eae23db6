import { z } from 'zod';
import { isId, isTenantId, isUlid } from '../../ledger/kernel/id-grammar.ts';
import { parseInteger } from '../../ledger/kernel/integers.ts';
import type { ProviderMetadata } from '../port.ts';

/** A value of Stripe's as we keep it: a word of a closed vocabulary, never text about a person. */
export const word = z
  .string()
  .regex(/^[a-z0-9_]{1,64}$/)
  .optional()
  .catch(undefined);

/** Ids go into table keys, so they hold neither `#` nor anything else that separates. */
export const providerId = z.string().regex(/^[A-Za-z0-9_-]{1,255}$/);

/** A reference to another object: its id, or the object itself where Stripe expanded it. */
export const reference = z.union([providerId, z.object({ id: providerId }).transform(({ id }) => id)]);

export const amountMinor = z.int().nonnegative();

export const epochS = z.int().nonnegative();

export const currencyCode = z
  .string()
  .regex(/^[A-Za-z]{3,8}$/)
  .transform((code) => code.toUpperCase());

/** The longest address of a page that an order keeps; Stripe's have some hundred characters. */
const MAX_PAGE_URL_BYTES = 4_096;

/** A page that a browser may be sent to; one with a longer address than an order keeps is none. */
export const pageUrl = z
  .string()
  .regex(/^https?:\/\//)
  .transform((url) => (Buffer.byteLength(url) <= MAX_PAGE_URL_BYTES ? url : undefined));

const text = z.string().optional().catch(undefined);

/**
 * Our metadata on an object, and nothing else of it: what isn't of the form we write was written by somebody else,
 * and doesn't name an order of ours.
 */
export const metadata = z
  .object({ tenant: text, order_id: text, attempt: text, refund_id: text })
  .nullish()
  .transform((found): ProviderMetadata => {
    if (found === null || found === undefined) return {};
    const { tenant, order_id: orderId, attempt, refund_id: refundId } = found;
    return {
      ...(tenant !== undefined && isTenantId(tenant) && { tenant }),
      ...(orderId !== undefined && isOrderPath(orderId) && { orderId }),
      ...(attempt !== undefined && /^[1-9]\d{0,5}$/.test(attempt) && { attempt: parseInteger(attempt) }),
      ...(refundId !== undefined && isId(refundId) && { refundId }),
    };
  });

/** `account/ulid`, as the port writes it. */
function isOrderPath(path: string): boolean {
  const [account = '', ulid = '', ...rest] = path.split('/');
  return rest.length === 0 && isId(account) && isUlid(ulid);
}

/**
 * What became of an answer. FOREIGN: a sound object that we can't have made, such as a subscription's session or a
 * refund without a payment intent. UNREADABLE: of our kind, yet without what we need.
 */
export type Reading<Value> =
  | { readonly kind: 'READ'; readonly value: Value }
  | { readonly kind: 'FOREIGN' }
  /** `field`: the first one that is wrong or missing, by its place. */
  | { readonly kind: 'UNREADABLE'; readonly field: string };

/** An object that isn't of its shape: names the field, and none of its values. */
export function unreadable({ issues }: z.ZodError): Extract<Reading<never>, { kind: 'UNREADABLE' }> {
  return { kind: 'UNREADABLE', field: issues[0]?.path.map(String).join('.') ?? '' };
}

export type Reader<Value> = (raw: unknown) => Reading<Value>;

/** Checks an answer against a shape and turns it into the port's words; extra fields are dropped. */
export function read<Shape, Value>(
  shape: z.ZodType<Shape>,
  raw: unknown,
  toValue: (found: Shape) => Value | undefined,
): Reading<Value> {
  const parsed = shape.safeParse(raw);
  if (!parsed.success) return unreadable(parsed.error);
  const value = toValue(parsed.data);
  return value === undefined ? { kind: 'FOREIGN' } : { kind: 'READ', value };
}
