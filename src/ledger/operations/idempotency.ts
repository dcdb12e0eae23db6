import type { Viewer } from '../../auth/viewer.ts';
import type { StoredItem } from '../attributes.ts';
import { epochS } from '../clock.ts';
import { fingerprint } from '../fingerprint.ts';
import { type MarkerRef, markerKey } from '../keys.ts';
import { MARKER_LIFE_S, type Marker, isLive, putMarkerIfNew, readMarker } from '../marker.ts';
import {
  type Answered,
  KEY_REUSED,
  type Stored,
  type StoredKind,
  THROTTLED,
  type UnstoredOf,
} from '../outcomes.ts';
import { plan } from '../plan.ts';
import { type Ledger, commit } from './ledger.ts';

/** The operations whose requests a key guards. The same key on another operation is another key. */
export type GuardedOperation =
  'createOrder' | 'charge' | 'checkout' | 'topUp' | 'refund' | 'cancelOrder' | 'adjustBalance';

/** A request as idempotency knows it: where its marker is, and what it asked. */
export interface Request {
  readonly ref: MarkerRef;
  readonly fingerprint: string;
}

const KEY_GRAMMAR = /^[!-~]{1,255}$/;
const CONTENT_KEY_PREFIX = ' content ';

/** Whether a text may be an idempotency key: 1 to 255 visible ASCII characters. */
export function isIdempotencyKey(text: string): boolean {
  return KEY_GRAMMAR.test(text);
}

/**
 * Identifies a request by its key, or in the phase in which that is optional, by its content for a short while: a
 * content key begins with a space, which no client's key can.
 */
export function identify(
  ledger: Ledger,
  viewer: Viewer,
  operation: GuardedOperation,
  key: string | undefined,
  input: unknown,
): Request {
  const print = fingerprint(operation, input);
  const scope = { tenant: viewer.tenant, principal: viewer.subject, operation };
  if (key !== undefined) {
    if (!isIdempotencyKey(key)) throw new RangeError('no idempotency key: the scalar refuses it before');
    return { ref: { ...scope, key }, fingerprint: print };
  }
  if (ledger.settings.idempotencyKeyPhase === 'required')
    throw new RangeError('the idempotency key is required');
  ledger.count('IdempotencyKeyMissing');
  return { ref: { ...scope, key: `${CONTENT_KEY_PREFIX}${print}` }, fingerprint: print };
}

/** Whether a key stands for the content of a request that brought none. */
export function isContentKey(key: string): boolean {
  return key.startsWith(CONTENT_KEY_PREFIX);
}

/** Until when an outcome that is known now answers for its key: for a content key a short while only. */
export function outcomeTtlS({ settings }: Ledger, { key }: Pick<MarkerRef, 'key'>, nowMs: number): number {
  return epochS(nowMs) + (isContentKey(key) ? settings.contentKeyWindowS : MARKER_LIFE_S);
}

/** What a request's marker says, if there is a live one. */
export type Seen<Kind extends StoredKind> =
  | { readonly kind: 'NEW' }
  | { readonly kind: 'ANSWER'; readonly answer: Answered<Kind> | UnstoredOf<'IdempotencyKeyReused'> }
  | { readonly kind: 'PROCESSING'; readonly marker: Marker };

/** Reads a request's marker: another fingerprint under the key leaks nothing of the first answer. */
export function recognise<Kind extends StoredKind>(
  ledger: Ledger,
  request: Request,
  item: StoredItem | undefined,
): Seen<Kind> {
  const marker = item === undefined ? undefined : readMarker(item);
  if (marker === undefined || !isLive(marker, epochS(ledger.clock.nowMs()))) return { kind: 'NEW' };
  if (marker.fingerprint !== request.fingerprint) {
    ledger.count('IdempotencyKeyReused');
    return { kind: 'ANSWER', answer: KEY_REUSED };
  }
  if (marker.outcome === undefined) return { kind: 'PROCESSING', marker };
  ledger.count('IdempotencyReplay');
  return { kind: 'ANSWER', answer: answered(marker.outcome, true) };
}

/** A stored outcome as this request's answer. */
export function answered<Kind extends StoredKind>(outcome: Stored, replayed: boolean): Answered<Kind> {
  // The marker's scope holds the operation, so its outcome is one of the operation's own kinds.
  return { ...outcome, replayed } as Answered<Kind>;
}

/**
 * The marker that a request's transaction writes as its item 0. While its claim is open it counts whatever its key is:
 * what the provider may have done already must not be asked for again as something new.
 */
export function markerOf(
  ledger: Ledger,
  { ref, fingerprint: print }: Request,
  transactionId: string,
  nowMs: number,
  state: Pick<Marker, 'status' | 'outcome' | 'claimOf'>,
): Marker {
  const ttlS =
    state.status === 'PROCESSING' ? epochS(nowMs) + MARKER_LIFE_S : outcomeTtlS(ledger, ref, nowMs);
  return { ...state, fingerprint: print, transactionId, processedAtMs: nowMs, ttlS };
}

/**
 * Stores a refusal, so that a late duplicate can't turn a no into a yes, and only then answers it.
 * If another request with the key was faster, its outcome is the answer.
 */
export async function refuse<Kind extends StoredKind>(
  ledger: Ledger,
  request: Request,
  outcome: Stored<Kind>,
): Promise<Answered<Kind> | UnstoredOf<'IdempotencyKeyReused' | 'Throttled'>> {
  const nowMs = ledger.clock.nowMs();
  const token = ledger.ids.token();
  const marker = markerOf(ledger, request, token, nowMs, { status: 'FAILED', outcome });
  const result = await commit(ledger, plan(token, putMarkerIfNew(request.ref, marker, epochS(nowMs))));
  if (result.kind === 'COMMITTED') return answered(outcome, false);
  const item = result.kind === 'SEEN' ? result.marker : (await ledger.store.get([markerKey(request.ref)]))[0];
  if (item !== undefined && readMarker(item).transactionId === token) return answered(outcome, false);
  const seen = recognise<Kind>(ledger, request, item);
  return seen.kind === 'ANSWER' ? seen.answer : THROTTLED;
}
