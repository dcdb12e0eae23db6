import { type Viewer, principalOf } from '../../../auth/viewer.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { epochS } from '../../kernel/clock.ts';
import { fingerprint } from '../../kernel/fingerprint.ts';
import { type IdempotencyRef, idempotencyRecordKey } from '../../kernel/keys.ts';
import {
  IDEMPOTENCY_RECORD_LIFE_S,
  type IdempotencyRecord,
  isLive,
  putIdempotencyRecordIfNew,
  readIdempotencyRecord,
} from '../../items/idempotency-record.ts';
import {
  type Answered,
  KEY_REUSED,
  type Stored,
  type StoredKind,
  THROTTLED,
  type UnstoredOf,
} from '../../model/outcomes.ts';
import { plan } from '../../items/plan.ts';
import { type Ledger, commit } from './ledger.ts';

/** The operations whose requests a key guards. The same key on another operation is another key. */
export type GuardedOperation =
  | 'createOrder'
  | 'charge'
  | 'checkout'
  | 'topUp'
  | 'refund'
  | 'cancelOrder'
  | 'adjustBalance'
  | 'approve'
  | 'rejectProposal'
  | 'skipStep';

/** A request as idempotency knows it: where its idempotency record is, and what it asked. */
export interface Request {
  readonly ref: IdempotencyRef;
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
  const scope = { tenant: viewer.tenant, principal: principalOf(viewer), operation };
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
export function outcomeTtlS(
  { settings }: Ledger,
  { key }: Pick<IdempotencyRef, 'key'>,
  nowMs: number,
): number {
  return epochS(nowMs) + (isContentKey(key) ? settings.contentKeyWindowS : IDEMPOTENCY_RECORD_LIFE_S);
}

/** What a request's idempotency record says, if there is a live one. */
export type Seen<Kind extends StoredKind> =
  | { readonly kind: 'NEW' }
  | { readonly kind: 'ANSWER'; readonly answer: Answered<Kind> | UnstoredOf<'IdempotencyKeyReused'> }
  | { readonly kind: 'PROCESSING'; readonly record: IdempotencyRecord };

/** Reads a request's idempotency record: another fingerprint under the key leaks nothing of the first answer. */
export function recognise<Kind extends StoredKind>(
  ledger: Ledger,
  request: Request,
  item: StoredItem | undefined,
): Seen<Kind> {
  const record = item === undefined ? undefined : readIdempotencyRecord(item);
  if (record === undefined || !isLive(record, epochS(ledger.clock.nowMs()))) return { kind: 'NEW' };
  if (record.fingerprint !== request.fingerprint) {
    ledger.count('IdempotencyKeyReused');
    return { kind: 'ANSWER', answer: KEY_REUSED };
  }
  if (record.outcome === undefined) return { kind: 'PROCESSING', record };
  ledger.count('IdempotencyReplay');
  return { kind: 'ANSWER', answer: answered(record.outcome, true) };
}

/** A stored outcome as this request's answer. */
export function answered<Kind extends StoredKind>(outcome: Stored, replayed: boolean): Answered<Kind> {
  // The idempotency record's scope holds the operation, so its outcome is one of the operation's own kinds.
  return { ...outcome, replayed } as Answered<Kind>;
}

/**
 * The idempotency record that a request's transaction writes as its item 0. While its claim is open it counts
 * whatever its key is: what the provider may have done already must not be asked for again as something new.
 */
export function idempotencyRecordOf(
  ledger: Ledger,
  { ref, fingerprint: print }: Request,
  transactionId: string,
  nowMs: number,
  state: Pick<IdempotencyRecord, 'status' | 'outcome' | 'claimOf'>,
): IdempotencyRecord {
  const ttlS =
    state.status === 'PROCESSING'
      ? epochS(nowMs) + IDEMPOTENCY_RECORD_LIFE_S
      : outcomeTtlS(ledger, ref, nowMs);
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
  const record = idempotencyRecordOf(ledger, request, token, nowMs, { status: 'FAILED', outcome });
  const result = await commit(
    ledger,
    plan(token, putIdempotencyRecordIfNew(request.ref, record, epochS(nowMs))),
  );
  if (result.kind === 'COMMITTED') return answered(outcome, false);
  const item =
    result.kind === 'SEEN' ? result.record : (await ledger.store.get([idempotencyRecordKey(request.ref)]))[0];
  if (item !== undefined && readIdempotencyRecord(item).transactionId === token)
    return answered(outcome, false);
  const seen = recognise<Kind>(ledger, request, item);
  return seen.kind === 'ANSWER' ? seen.answer : THROTTLED;
}
