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

/** A request as idempotency knows it: where its marker is, what it asked, and how long it counts. */
export interface Request {
  readonly ref: MarkerRef;
  readonly fingerprint: string;
  readonly lifeS: number;
}

const KEY_GRAMMAR = /^[!-~]{1,255}$/;

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
    return { ref: { ...scope, key }, fingerprint: print, lifeS: MARKER_LIFE_S };
  }
  if (ledger.settings.idempotencyKeyPhase === 'required')
    throw new RangeError('the idempotency key is required');
  ledger.count('IdempotencyKeyMissing');
  return {
    ref: { ...scope, key: ` content ${print}` },
    fingerprint: print,
    lifeS: ledger.settings.contentKeyWindowS,
  };
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

/** The marker that a request's transaction writes as its item 0. */
export function markerOf(
  request: Request,
  transactionId: string,
  nowMs: number,
  state: Pick<Marker, 'status' | 'outcome' | 'claimOf'>,
): Marker {
  const { fingerprint: print, lifeS } = request;
  return { ...state, fingerprint: print, transactionId, processedAtMs: nowMs, ttlS: epochS(nowMs) + lifeS };
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
  const marker = markerOf(request, token, nowMs, { status: 'FAILED', outcome });
  const result = await commit(ledger, plan(token, putMarkerIfNew(request.ref, marker, epochS(nowMs))));
  if (result.kind === 'COMMITTED') return answered(outcome, false);
  const item = result.kind === 'SEEN' ? result.marker : (await ledger.store.get([markerKey(request.ref)]))[0];
  const seen = recognise<Kind>(ledger, request, item);
  return seen.kind === 'ANSWER' ? seen.answer : THROTTLED;
}
