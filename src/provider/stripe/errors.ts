import Stripe from 'stripe';
import { CONNECTION_LOST } from './single-send-client.ts';
import type { ProviderResult } from '../port.ts';

/** How a call that was not DONE ended. */
export type ProviderFailure = Exclude<ProviderResult<never>, { readonly kind: 'DONE' }>;

/** Codes of sockets that never connected: a refused port, a name that has no address. The request wasn't sent. */
const NOT_CONNECTED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** Stripe's codes are lower-case words. Anything else might be text about a person, and is not passed on. */
const CODE_GRAMMAR = /^[a-z0-9_]{1,64}$/;

const FALLBACK_CODE = 'invalid_request_error';

/**
 * The one place that judges Stripe's errors (docs/DESIGN.md §8): what is definite and what may have happened.
 * Rests on one call being one request (see `singleSendClient`): after a hidden resend no answer would be definite.
 * Reasons and codes are words from closed vocabularies; Stripe's messages quote input and keys, so none is passed on.
 *
 * @param error whatever a call of the SDK threw
 */
export function classifyFailure(error: unknown): ProviderFailure {
  if (!(error instanceof Stripe.errors.StripeError)) return unknown('unexpected_error');
  // Another request with this key is running, whatever status and type this comes with.
  if (error.code === 'idempotency_key_in_use') return unknown('idempotency_key_in_use');
  if (error instanceof Stripe.errors.StripeIdempotencyError) return unknown('idempotency_mismatch');
  if (error instanceof Stripe.errors.StripeCardError) return refused(error.decline_code, error.code);
  if (error instanceof Stripe.errors.StripeInvalidRequestError) return refused(error.code);
  if (error instanceof Stripe.errors.StripeRateLimitError) return unavailable('rate_limited');
  if (error instanceof Stripe.errors.StripeAuthenticationError) return unavailable('credentials_rejected');
  if (error instanceof Stripe.errors.StripePermissionError) return unavailable('permission_denied');
  if (error instanceof Stripe.errors.StripeConnectionError) return connectionFailure(error);
  return unknown('provider_error');
}

function connectionFailure(error: InstanceType<typeof Stripe.errors.StripeConnectionError>): ProviderFailure {
  const code = socketErrorCode(error.detail);
  if (code !== undefined && NOT_CONNECTED.has(code)) return unavailable('no_connection');
  if (code === Stripe.HttpClient.TIMEOUT_ERROR_CODE) return unknown('timeout');
  return unknown(code === CONNECTION_LOST ? 'connection_lost' : 'connection_error');
}

function socketErrorCode(detail: unknown): string | undefined {
  if (!(detail instanceof Error) || !('code' in detail)) return undefined;
  return typeof detail.code === 'string' ? detail.code : undefined;
}

/** With the first of the codes that is one. An empty decline code is how the SDK says that there is none. */
function refused(...codes: readonly (string | undefined)[]): ProviderFailure {
  const code = codes.find((candidate) => candidate !== undefined && CODE_GRAMMAR.test(candidate));
  return { kind: 'REFUSED', code: code ?? FALLBACK_CODE };
}

function unavailable(reason: string): ProviderFailure {
  return { kind: 'UNAVAILABLE', reason };
}

function unknown(reason: string): ProviderFailure {
  return { kind: 'UNKNOWN', reason };
}
