import Stripe from 'stripe';
import { z } from 'zod';
import { defined } from '../../ledger/kernel/defined.ts';
import type { ProviderPage, ProviderPageRequest, ProviderResult } from '../port.ts';
import { providerId, type Reader, unreadable } from './shapes.ts';
import { CONNECTION_LOST, runCall } from './single-send-client.ts';

/** Makes one call and judges how it ended. UNKNOWN if its answer lacks what we need: the call may have had its effect. */
export async function call<Value>(
  send: () => Promise<unknown>,
  reader: Reader<Value>,
): Promise<ProviderResult<Value>> {
  const made = { isSent: false };
  let answer: unknown;
  try {
    answer = await runCall(made, async () => send());
  } catch (error) {
    // A text that can't be encoded, a check of the SDK's own: nothing can have happened.
    return made.isSent ? classifyFailure(error) : unavailable('not_sent');
  }
  const reading = reader(answer);
  return reading.kind === 'READ' ? { kind: 'DONE', value: reading.value } : unknown('unreadable_answer');
}

/** The parameters that Stripe's lists share, by its own names. */
export interface ListParameters {
  readonly limit: number;
  readonly created?: { readonly gte: number };
  readonly starting_after?: string;
}

/**
 * Reads one page of a list, without FOREIGN items. A page of foreign items alone is skipped, since a caller continues after the
 * last item that it got. One UNREADABLE item makes the page UNKNOWN: a caller who looks for a refund must not take "can't be
 * read" for "isn't there".
 */
export async function list<Value>(
  { limit, createdFromS, after: start }: ProviderPageRequest,
  send: (parameters: ListParameters) => Promise<unknown>,
  reader: Reader<Value>,
): Promise<ProviderResult<ProviderPage<Value>>> {
  const created = createdFromS === undefined ? undefined : { gte: createdFromS };
  for (let after = start; ;) {
    const parameters = { limit, ...defined({ created, starting_after: after }) };
    const found = await call(() => send(parameters), pageReader(reader));
    if (found.kind !== 'DONE') return found;
    const { items, hasMore, lastId } = found.value;
    if (items.length > 0 || !hasMore || lastId === undefined)
      return { kind: 'DONE', value: { items, hasMore: hasMore && lastId !== undefined } };
    after = lastId;
  }
}

const listShape = z.object({ object: z.literal('list'), has_more: z.boolean(), data: z.array(z.unknown()) });

const identified = z.object({ id: providerId });

function pageReader<Value>(
  reader: Reader<Value>,
): Reader<ProviderPage<Value> & { readonly lastId?: string }> {
  return (raw) => {
    const parsed = listShape.safeParse(raw);
    if (!parsed.success) return unreadable(parsed.error);
    const { data, has_more: hasMore } = parsed.data;
    const readings = data.map(reader);
    const bad = readings.find((reading) => reading.kind === 'UNREADABLE');
    if (bad !== undefined) return bad;
    const items = readings.flatMap((reading) => (reading.kind === 'READ' ? [reading.value] : []));
    const lastId = identified.safeParse(data.at(-1)).data?.id;
    return { kind: 'READ', value: { items, hasMore, ...defined({ lastId }) } };
  };
}

/** How a call that was not DONE ended. */
export type CallFailure = Exclude<ProviderResult<never>, { readonly kind: 'DONE' }>;

/** Socket errors before a connection: a refused port, a name without an address. The request wasn't sent. */
const NOT_CONNECTED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** Stripe's codes are lower-case words. Anything else might be text about a person, and is not passed on. */
const CODE_GRAMMAR = /^[a-z0-9_]{1,64}$/;

const FALLBACK_CODE = 'invalid_request_error';

/**
 * The one place that judges Stripe's errors (docs/DESIGN.md §8): what is definite and what may have happened.
 * It relies on one call being one request (see `singleSendClient`): after a hidden resend no answer would be definite.
 * Reasons and codes are words from closed vocabularies. Stripe's messages quote input and keys, so none is passed on.
 *
 * @param error whatever a call of the SDK threw
 */
export function classifyFailure(error: unknown): CallFailure {
  if (!(error instanceof Stripe.errors.StripeError)) return unknown('unexpected_error');
  // Another request with this key is running, whatever status and type this comes with.
  if (error.code === 'idempotency_key_in_use') return unknown('idempotency_key_in_use');
  if (error instanceof Stripe.errors.StripeIdempotencyError) return unknown('idempotency_mismatch');
  if (error instanceof Stripe.errors.StripeCardError) return refused(error.decline_code, error.code);
  if (error instanceof Stripe.errors.StripeInvalidRequestError) return refused(error.code);
  if (error instanceof Stripe.errors.StripeRateLimitError) return unavailable('rate_limited');
  if (error instanceof Stripe.errors.StripeAuthenticationError) return unavailable('credentials_rejected');
  if (error instanceof Stripe.errors.StripePermissionError) return unavailable('permission_denied');
  if (error instanceof Stripe.errors.StripeConnectionError) return connectionFailure(error.detail);
  // A failure is stored for its key: asking again under it says the same, whatever became of the request.
  return isReplayed(error) ? { ...unknown('provider_error'), isStored: true } : unknown('provider_error');
}

function isReplayed({ headers }: Stripe.errors.StripeError): boolean {
  return headers?.['idempotent-replayed'] === 'true';
}

function connectionFailure(detail: unknown): CallFailure {
  const code = detail instanceof Error && 'code' in detail ? detail.code : undefined;
  if (typeof code === 'string' && NOT_CONNECTED.has(code)) return unavailable('no_connection');
  if (code === Stripe.HttpClient.TIMEOUT_ERROR_CODE) return unknown('timeout');
  return unknown(code === CONNECTION_LOST ? 'connection_lost' : 'connection_error');
}

/** Takes the first well-formed code. The SDK gives an empty decline code if there is none. */
function refused(...codes: readonly (string | undefined)[]): CallFailure {
  const code = codes.find((candidate) => candidate !== undefined && CODE_GRAMMAR.test(candidate));
  return { kind: 'REFUSED', code: code ?? FALLBACK_CODE };
}

function unavailable(reason: string): CallFailure {
  return { kind: 'UNAVAILABLE', reason };
}

function unknown(reason: string): Extract<CallFailure, { kind: 'UNKNOWN' }> {
  return { kind: 'UNKNOWN', reason };
}
