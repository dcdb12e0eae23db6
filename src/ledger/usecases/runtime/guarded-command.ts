import type { Viewer } from '../../../auth/viewer.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { epochS } from '../../kernel/clock.ts';
import { defined } from '../../kernel/defined.ts';
import { type ItemKey, idempotencyRecordKey } from '../../kernel/keys.ts';
import {
  type IdempotencyRecord,
  putIdempotencyRecordIfNew,
  readIdempotencyRecord,
} from '../../items/idempotency-record.ts';
import type { Lease, Order } from '../../model/orders/order.ts';
import {
  type Answered,
  CONFLICT,
  type LedgerFailure,
  type Stored,
  type StoredKind,
  THROTTLED,
  type UnstoredOf,
} from '../../model/outcomes.ts';
import { type PlanPart, plan } from '../../items/plan.ts';
import { REREAD, type CallStep, type Transaction, decideAndCommit } from './decide-and-commit.ts';
import {
  type GuardedOperation,
  type Request,
  answered,
  identify,
  idempotencyRecordOf,
  recognise,
  refuse,
} from './idempotency.ts';
import type { Ledger } from './ledger.ts';
import type { FailedConditions, Refusal } from './outcomes.ts';

/** The failures that an operation with a claim adds: somebody holds it, or the provider couldn't be asked. */
export type ClaimFailure = UnstoredOf<'IdempotencyInProgress' | 'ProviderUnavailable'>;

/** What an operation decided on what it read. `Extra` are the failures beyond the ledger's own. */
export type Decision<Kind extends StoredKind, Extra extends ClaimFailure = never> =
  | {
      readonly kind: 'COMMIT';
      readonly parts: readonly PlanPart[];
      readonly outcome: Stored<Kind>;
      readonly whenRefused?: WhenRefused<Kind, Extra> | undefined;
    }
  /** Takes the key and the order's claim first, since the provider has to be asked (docs/DESIGN.md §5.5). */
  | {
      readonly kind: 'CLAIM';
      readonly parts: readonly PlanPart[];
      readonly order: Order;
      readonly lease: Lease;
      /** The refund that the claim is for; absent: an attempt. */
      readonly refundId?: string;
      readonly whenRefused?: WhenRefused<Kind, Extra> | undefined;
    }
  | Verdict<Kind, Extra>;

/** What a failed condition of a balance or a code means; undefined: read again and decide again. */
type WhenRefused<Kind extends StoredKind, Extra extends ClaimFailure> = (
  failed: FailedConditions,
) => Verdict<Kind, Extra> | undefined;

export type Verdict<Kind extends StoredKind, Extra extends ClaimFailure = never> =
  | Refusal<Stored<Kind>>
  /** A no that leaves the key usable. */
  | { readonly kind: 'ANSWER'; readonly failure: LedgerFailure | Extra };

/** An operation that an idempotency key guards. */
export interface GuardedCommand<Kind extends StoredKind, Extra extends ClaimFailure = never> {
  readonly operation: GuardedOperation;
  readonly key: string | undefined;
  /** The validated input, decimals and ids resolved: what the fingerprint is of. */
  readonly input: unknown;
  /** What is read together with the idempotency record, in one consistent read. */
  readonly reads: readonly ItemKey[];
  readonly decide: (
    found: readonly (StoredItem | undefined)[],
    nowMs: number,
    request: Request,
  ) => Decision<Kind, Extra> | Promise<Decision<Kind, Extra>>;
}

/** How a guarded command went as far as the table goes. */
export type Run<Kind extends StoredKind, Extra extends ClaimFailure = never> =
  | { readonly kind: 'ANSWERED'; readonly answer: Answered<Kind> | LedgerFailure | Extra }
  /** The claim is ours: now ask the provider, then complete it. */
  | { readonly kind: 'CLAIMED'; readonly request: Request; readonly order: Order; readonly lease: Lease }
  /** Somebody holds the claim under this key, or did when their process died. */
  | { readonly kind: 'PROCESSING'; readonly request: Request; readonly record: IdempotencyRecord };

/** Runs an operation that needs the table alone (docs/DESIGN.md §5.4). */
export async function runLedgerCommand<Kind extends StoredKind>(
  ledger: Ledger,
  viewer: Viewer,
  command: GuardedCommand<Kind>,
): Promise<Answered<Kind> | LedgerFailure> {
  const run = await runGuardedCommand(ledger, viewer, command);
  return run.kind === 'ANSWERED' ? run.answer : CONFLICT;
}

/**
 * One consistent read of the idempotency record and of what decides; a live idempotency record is answered at once;
 * else one transaction whose item 0 is the idempotency record. An outage of the table is `Throttled`: nothing is
 * known, the same key is to be used again.
 */
export async function runGuardedCommand<Kind extends StoredKind, Extra extends ClaimFailure = never>(
  ledger: Ledger,
  viewer: Viewer,
  command: GuardedCommand<Kind, Extra>,
): Promise<Run<Kind, Extra>> {
  const request = identify(ledger, viewer, command.operation, command.key, command.input);
  return decideAndCommit<Run<Kind, Extra>>(ledger, {
    decide: (sent) => decideOnce(ledger, request, command, sent),
    failed: (failure) => answeredRun<Kind>(failure === 'CONFLICT' ? CONFLICT : THROTTLED),
  });
}

function answeredRun<Kind extends StoredKind, Extra extends ClaimFailure = never>(
  value: Answered<Kind> | LedgerFailure | Extra,
): Run<Kind, Extra> {
  return { kind: 'ANSWERED', answer: value };
}

async function decideOnce<Kind extends StoredKind, Extra extends ClaimFailure>(
  ledger: Ledger,
  request: Request,
  { reads, decide }: GuardedCommand<Kind, Extra>,
  sent: readonly Transaction<Run<Kind, Extra>>[],
): Promise<CallStep<Run<Kind, Extra>> | Transaction<Run<Kind, Extra>>> {
  const [recordItem, ...found] = await ledger.store.get([idempotencyRecordKey(request.ref), ...reads]);
  const seen = fromRecord<Kind, Extra>(ledger, request, sent, recordItem);
  if (seen !== undefined) return seen;
  const nowMs = ledger.clock.nowMs();
  const decision = await decide(found, nowMs, request);
  if (decision.kind === 'REFUSE' || decision.kind === 'ANSWER')
    return answerVerdict(ledger, request, decision);
  // A process whose clock is wrong takes no lease. Nothing is written, so the same key goes on with another process.
  if (decision.kind === 'CLAIM' && !ledger.clock.isRight())
    return { kind: 'ANSWER', answer: answeredRun<Kind, Extra>(THROTTLED) };

  const token = ledger.ids.token();
  const record = idempotencyRecordOf(ledger, request, token, nowMs, recordState(decision));
  const transaction: Transaction<Run<Kind, Extra>> = {
    kind: 'COMMIT',
    plan: plan(token, putIdempotencyRecordIfNew(request.ref, record, epochS(nowMs)), ...decision.parts),
    committed: () =>
      decision.kind === 'CLAIM'
        ? { kind: 'CLAIMED', request, order: decision.order, lease: decision.lease }
        : answeredRun<Kind>(answered(decision.outcome, false)),
    whenNotWritten: async (result) => {
      if (result.kind === 'SEEN') {
        return fromRecord<Kind, Extra>(ledger, request, sent, result.record) ?? REREAD;
      }
      // A lost race on the order or proposal comes first: what its state says now is the better reason.
      if (result.kind === 'UNCLEAR' || result.failed.has('order') || result.failed.has('proposal'))
        return REREAD;
      const verdict = decision.whenRefused?.(result.failed);
      return verdict === undefined ? REREAD : answerVerdict(ledger, request, verdict);
    },
    resolve: () => resolveUnknown(ledger, request, sent),
  };
  return transaction;
}

async function answerVerdict<Kind extends StoredKind, Extra extends ClaimFailure>(
  ledger: Ledger,
  request: Request,
  verdict: Verdict<Kind, Extra>,
): Promise<CallStep<Run<Kind, Extra>>> {
  const value = verdict.kind === 'REFUSE' ? await refuse(ledger, request, verdict.outcome) : verdict.failure;
  return { kind: 'ANSWER', answer: answeredRun<Kind, Extra>(value) };
}

function recordState<Kind extends StoredKind, Extra extends ClaimFailure>(
  decision: Extract<Decision<Kind, Extra>, { kind: 'COMMIT' | 'CLAIM' }>,
): Pick<IdempotencyRecord, 'status' | 'outcome' | 'claimOf'> {
  if (decision.kind === 'COMMIT') return { status: 'COMPLETED', outcome: decision.outcome };
  const { accountId, orderId } = decision.order;
  return {
    status: 'PROCESSING',
    claimOf: { accountId, orderId, ...defined({ refundId: decision.refundId }) },
  };
}

/**
 * What a live idempotency record answers; undefined where there is none. A record that this very call wrote is no
 * replay: it says that the call's own transaction has committed.
 */
function fromRecord<Kind extends StoredKind, Extra extends ClaimFailure>(
  ledger: Ledger,
  request: Request,
  sent: readonly Transaction<Run<Kind, Extra>>[],
  item: StoredItem | undefined,
): CallStep<Run<Kind, Extra>> | undefined {
  const transactionId = item === undefined ? undefined : readIdempotencyRecord(item).transactionId;
  const own = sent.find((one) => one.plan.token === transactionId);
  if (own !== undefined) return { kind: 'COMMITTED', transaction: own };
  const seen = recognise<Kind>(ledger, request, item);
  switch (seen.kind) {
    case 'NEW':
      return undefined;
    case 'ANSWER':
      return { kind: 'ANSWER', answer: answeredRun<Kind>(seen.answer) };
    case 'PROCESSING':
      return { kind: 'ANSWER', answer: { kind: 'PROCESSING', request, record: seen.record } };
  }
}

/**
 * After an unknown outcome only the idempotency record tells: it is there, and then so is everything it committed
 * with, or the client must ask again with the same key.
 */
async function resolveUnknown<Kind extends StoredKind, Extra extends ClaimFailure>(
  ledger: Ledger,
  request: Request,
  sent: readonly Transaction<Run<Kind, Extra>>[],
): Promise<CallStep<Run<Kind, Extra>>> {
  const [item] = await ledger.store.get([idempotencyRecordKey(request.ref)]);
  const known = fromRecord<Kind, Extra>(ledger, request, sent, item);
  return known ?? { kind: 'ANSWER', answer: answeredRun<Kind>(THROTTLED) };
}
