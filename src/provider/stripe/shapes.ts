import { z } from 'zod';
import { isId, isTenantId, isUlid } from '../../ledger/kernel/id-grammar.ts';
import { parseInteger } from '../../ledger/kernel/integers.ts';
import type { ProviderMetadata } from '../port.ts';

/** A word of one of Stripe's closed vocabularies, never text about a person. */
export const word = z
  .string()
  .regex(/^[a-z0-9_]{1,64}$/)
  .optional()
  .catch(undefined);

/** Ids go into table keys, so they contain neither `#` nor another separator. */
export const providerId = z.string().regex(/^[A-Za-z0-9_-]{1,255}$/);

/** A reference to another object: its id, or the object itself if Stripe expanded it. */
export const reference = z.union([providerId, z.object({ id: providerId }).transform(({ id }) => id)]);

export const amountMinor = z.int().nonnegative();

export const epochSeconds = z.int().nonnegative();

export const currencyCode = z
  .string()
  .regex(/^[A-Za-z]{3,8}$/)
  .transform((code) => code.toUpperCase());

/** The longest page address that an order stores. Stripe's have some hundred characters. */
const MAX_PAGE_URL_BYTES = 4_096;

/** A page that a browser may be sent to. Undefined if its address is longer than an order stores. */
export const pageUrl = z
  .string()
  .regex(/^https?:\/\//)
  .transform((url) => (Buffer.byteLength(url) <= MAX_PAGE_URL_BYTES ? url : undefined));

/** A field that Stripe leaves out or sets to null if it has no value. */
export function orAbsent<Value>(shape: z.ZodType<Value>): z.ZodType<Value | undefined> {
  return shape.nullish().transform((value) => value ?? undefined);
}

const text = z.string().optional().catch(undefined);

/**
 * Our metadata on an object, and nothing else of it. Somebody else wrote what doesn't have the form that we write: it names no
 * order of ours.
 */
export const metadata = z
  .looseObject({ tenant: text, order_id: text, attempt: text, refund_id: text })
  .nullish()
  .transform((found): ProviderMetadata => {
    if (found === null || found === undefined) return {};
    const { tenant, order_id: orderId, attempt, refund_id: refundId } = found;
    return {
      ...(tenant !== undefined && isTenantId(tenant) && { tenant }),
      ...(orderId !== undefined && isOrderPath(orderId) && { orderId }),
      ...(attempt !== undefined && /^[1-9]\d{0,5}$/.test(attempt) && { attempt: parseInteger(attempt) }),
      ...(refundId !== undefined && isId(refundId) && { refundId }),
      ...(found['h_mac'] !== undefined && { written: writtenByUs(found) }),
    };
  });

/** What we write has these names; others' beside it are none of ours. */
function writtenByUs(found: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const names = /^(tenant|order_id|attempt|h_.{1,38})$/;
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, value]) =>
      names.test(name) && typeof value === 'string' ? [[name, value] as const] : [],
    ),
  );
}

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
  /** `field`: the path of the first one that is wrong or missing. */
  | { readonly kind: 'UNREADABLE'; readonly field: string };

/** For an object that doesn't have its shape. Names the field, and none of its values. */
export function unreadable({ issues }: z.ZodError): Extract<Reading<never>, { kind: 'UNREADABLE' }> {
  return { kind: 'UNREADABLE', field: issues[0]?.path.map(String).join('.') ?? '' };
}

export type Reader<Value> = (raw: unknown) => Reading<Value>;

/** A reader that checks an answer against a shape and turns it into the port's words. `toValue` gives undefined for FOREIGN. */
export function readerOf<Shape, Value>(
  shape: z.ZodType<Shape>,
  toValue: (found: Shape) => Value | undefined,
): Reader<Value> {
  return (raw) => {
    const parsed = shape.safeParse(raw);
    if (!parsed.success) return unreadable(parsed.error);
    const value = toValue(parsed.data);
    return value === undefined ? { kind: 'FOREIGN' } : { kind: 'READ', value };
  };
}
