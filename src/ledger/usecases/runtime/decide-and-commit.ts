import type { Plan } from '../../items/plan.ts';
import { TableUnavailableError } from '../../table/store.ts';
import type { CommitResult } from '../../table/transact.ts';
import { type Ledger, commit, publish } from './ledger.ts';

/** How often a call reads and decides at most, where somebody else keeps writing in between. */
const MAX_DECISIONS = 5;

/** A transaction that was decided on, and what follows from each way in which it can end. */
export interface Transaction<Value> {
  readonly kind: 'COMMIT';
  readonly plan: Plan;
  /** The call's answer once it has committed. Called once at most. */
  readonly committed: () => Value;
  /** What it means that nothing was written; without this: read and decide again. */
  readonly whenNotWritten?: (result: NotWritten) => CallStep<Value> | Promise<CallStep<Value>>;
  /** Finds out about an outcome that stayed unknown; without this the call fails as THROTTLED. */
  readonly resolve?: () => Promise<CallStep<Value>>;
}

export type NotWritten = Extract<CommitResult, { readonly kind: 'SEEN' | 'REFUSED' | 'UNCLEAR' }>;

/** The call ends with this answer. */
export interface CallAnswer<Value> {
  readonly kind: 'ANSWER';
  readonly answer: Value;
}

/** How a call goes on. */
export type CallStep<Value> =
  | CallAnswer<Value>
  /** What was read is no longer true. */
  | { readonly kind: 'REREAD' }
  /** The table says that a transaction of this very call has committed: its answer was lost. */
  | { readonly kind: 'COMMITTED'; readonly transaction: Transaction<Value> };

export const REREAD = { kind: 'REREAD' } as const;

/** Nothing is known but that the call may be made again. THROTTLED includes an outage of the table. */
export type CommitFailure = 'CONFLICT' | 'THROTTLED';

export interface OptimisticCall<Value> {
  /**
   * Reads, consistently, and decides on it.
   * @param sent the transactions that this call has sent so far: each may still commit, though its answer was lost.
   *   Always up to date, also when it is looked at later
   * @param isLast whether this is the last decision
   */
  readonly decide: (
    sent: readonly Transaction<Value>[],
    isLast: boolean,
  ) => Promise<CallStep<Value> | Transaction<Value>>;
  readonly failed: (failure: CommitFailure) => Value;
}

/**
 * The one optimistic loop: read, decide, commit on the condition that what was read is still true, and resolve an
 * unknown outcome. A lost race reads and decides again. What has committed is published once, whoever found out.
 */
export async function decideAndCommit<Value>(
  ledger: Ledger,
  { decide, failed }: OptimisticCall<Value>,
): Promise<Value> {
  const sent: Transaction<Value>[] = [];
  try {
    for (let decisions = 1; decisions <= MAX_DECISIONS; decisions += 1) {
      const decision = await decide(sent, decisions === MAX_DECISIONS);
      if (decision.kind === 'COMMIT') sent.push(decision);
      const step = decision.kind === 'COMMIT' ? await send(ledger, decision, failed) : decision;
      if (step.kind === 'ANSWER') return step.answer;
      if (step.kind === 'COMMITTED') {
        publish(ledger.bus, step.transaction.plan);
        return step.transaction.committed();
      }
    }
    return failed('CONFLICT');
  } catch (error) {
    if (error instanceof TableUnavailableError) return failed('THROTTLED');
    throw error;
  }
}

async function send<Value>(
  ledger: Ledger,
  { plan, committed, whenNotWritten, resolve }: Transaction<Value>,
  failed: (failure: CommitFailure) => Value,
): Promise<CallStep<Value>> {
  const result = await commit(ledger, plan);
  switch (result.kind) {
    case 'COMMITTED':
      return { kind: 'ANSWER', answer: committed() };
    case 'SEEN':
    case 'REFUSED':
    case 'UNCLEAR':
      return (await whenNotWritten?.(result)) ?? REREAD;
    case 'CONFLICT':
    case 'THROTTLED':
      return { kind: 'ANSWER', answer: failed(result.kind) };
    case 'UNKNOWN':
      return (await resolve?.()) ?? { kind: 'ANSWER', answer: failed('THROTTLED') };
  }
}
