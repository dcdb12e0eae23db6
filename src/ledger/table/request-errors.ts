import type { CancellationReason } from './cancellation.ts';

/** How a request to the table failed, when it wasn't a cancellation that says more. */
export type RequestFailure =
  | { readonly kind: 'CANCELED'; readonly reasons: readonly CancellationReason[] | undefined }
  | { readonly kind: 'CONFLICT' }
  | { readonly kind: 'THROTTLED' }
  /** An earlier send of the same token is still being worked on. */
  | { readonly kind: 'IN_PROGRESS' }
  /** A lost response, a reset, a time-out, a 5xx: it may have happened. */
  | { readonly kind: 'UNKNOWN' }
  | { readonly kind: 'INVALID' };

const BY_NAME: Readonly<Record<string, Exclude<RequestFailure['kind'], 'CANCELED'>>> = {
  TransactionConflictException: 'CONFLICT',
  ThrottlingException: 'THROTTLED',
  ProvisionedThroughputExceededException: 'THROTTLED',
  RequestLimitExceeded: 'THROTTLED',
  TransactionInProgressException: 'IN_PROGRESS',
  ValidationException: 'INVALID',
  SerializationException: 'INVALID',
  ResourceNotFoundException: 'INVALID',
  AccessDeniedException: 'INVALID',
  UnrecognizedClientException: 'INVALID',
};

/**
 * Reads what the SDK threw. Whatever isn't known to be definite is UNKNOWN, the token-mismatch error included:
 * some engine may compare a token's payload wrongly.
 */
export function readRequestFailure(error: unknown): RequestFailure {
  if (!(error instanceof Error)) return { kind: 'UNKNOWN' };
  if (error.name === 'TransactionCanceledException') return { kind: 'CANCELED', reasons: reasonsOf(error) };
  return { kind: BY_NAME[error.name] ?? 'UNKNOWN' };
}

function reasonsOf(error: Error): readonly CancellationReason[] | undefined {
  if (!('CancellationReasons' in error) || !Array.isArray(error.CancellationReasons)) return undefined;
  // The SDK's type of this property; its elements are read defensively by `readCancellation`.
  return error.CancellationReasons as readonly CancellationReason[];
}
