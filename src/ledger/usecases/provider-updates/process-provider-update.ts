import type { ProviderMetadata } from '../../../provider/port.ts';
import { epochS } from '../../kernel/clock.ts';
import type { Order } from '../../model/orders/order.ts';
import {
  type UpdateDecision,
  ignored,
  mismatch,
  type RecordedPayment,
} from '../../model/provider/update-decision.ts';
import { updateTransaction, retryLater } from './commit-update.ts';
import { type Answer, type Transaction, decideAndCommit } from '../runtime/decide-and-commit.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { type UpdateContext, loadContext } from './load-context.ts';
import type { RetryReason, UpdateResult, UpdateSource, UpdateSubject } from './provider-update.ts';

/** An order that a fact is about, and how its payment was booked if it was. */
export interface LoadedOrder {
  readonly order: Order;
  readonly recorded: RecordedPayment | undefined;
}

/** What an operation makes of a fact, on what was just read. */
export type Judgement =
  | UpdateDecision
  /** The order isn't as far as the fact yet: it must come again while it is fresh, then it is a mismatch. */
  | { readonly kind: 'NOT_YET'; readonly detail: string }
  /** Something was written meanwhile, or it is known now which order the payment names: read again. */
  | { readonly kind: 'REREAD'; readonly metadata?: ProviderMetadata }
  | { readonly kind: 'RETRY_LATER'; readonly reason: RetryReason };

export interface Judge {
  /** The order is there. Called again after a lost race, on what is there then. */
  readonly known: (known: LoadedOrder) => Judgement | Promise<Judgement>;
  /** Neither a payment item nor metadata of ours names an order. */
  readonly foreign?: () => Judgement | Promise<Judgement>;
}

/** How long an event may be ahead of what we write (docs/DESIGN.md §8). */
const FRESH_S = 3_600;

/**
 * Reads what a fact is about, has it judged, and commits the whole effect: the event's record first, the payment item,
 * the order, the entry with its balances. Used alike by webhooks, by the sweeper and by reconciliation.
 */
export async function processProviderUpdate(
  ledger: Ledger,
  source: UpdateSource,
  subject: UpdateSubject,
  judge: Judge,
): Promise<UpdateResult> {
  let about = subject;
  return decideAndCommit<UpdateResult>(ledger, {
    decide: async (_sent, isLast) => {
      const step = await decideOnce(ledger, source, about, isLast ? withoutGuards(judge) : judge);
      if (step.kind === 'REREAD') about = { ...about, metadata: step.metadata ?? about.metadata };
      return step;
    },
    failed: retryLater,
  });
}

/**
 * A fact is booked in the end, also on a wallet that moves all the time: what was read of it is taken if it's still
 * there, and what has come since stays while the rest is owed.
 */
function withoutGuards(judge: Judge): Judge {
  return {
    ...judge,
    known: async (known) => {
      const judgement = await judge.known(known);
      return judgement.kind === 'CHANGE' ? { ...judgement, guards: {} } : judgement;
    },
  };
}

async function decideOnce(
  ledger: Ledger,
  source: UpdateSource,
  subject: UpdateSubject,
  judge: Judge,
): Promise<Answer<UpdateResult> | Transaction<UpdateResult> | Extract<Judgement, { kind: 'REREAD' }>> {
  const read = await loadContext(ledger, source, subject);
  if (read.seen !== undefined) return { kind: 'ANSWER', answer: read.seen };
  const judgement = await judged(ledger, source, subject, judge, read);
  switch (judgement.kind) {
    case 'REREAD':
      return judgement;
    case 'RETRY_LATER':
      return { kind: 'ANSWER', answer: judgement };
    case 'NOT_YET':
      if (isFresh(ledger, source))
        return { kind: 'ANSWER', answer: { kind: 'RETRY_LATER', reason: 'NOT_YET' } };
      return updateTransaction(ledger, source, subject, read.ref, mismatch(judgement.detail));
    case 'CHANGE':
    case 'NO_CHANGE':
      return updateTransaction(ledger, source, subject, read.ref, judgement);
  }
}

async function judged(
  ledger: Ledger,
  source: UpdateSource,
  subject: UpdateSubject,
  judge: Judge,
  { ref, order, recorded }: UpdateContext,
): Promise<Judgement> {
  const isOfOurMode =
    subject.livemode === ledger.provider.livemode &&
    (source.kind === 'LOOKUP' || source.event.livemode === ledger.provider.livemode);
  if (ref === undefined) {
    return judge.foreign === undefined || !isOfOurMode ? ignored('not of ours') : judge.foreign();
  }
  if (!isOfOurMode) return mismatch('of another mode');
  if (order === undefined) return { kind: 'NOT_YET', detail: 'no such order' };
  return judge.known({ order, recorded });
}

function isFresh(ledger: Ledger, source: UpdateSource): boolean {
  const createdS = source.kind === 'EVENT' ? source.event.createdS : source.createdS;
  return createdS !== undefined && epochS(ledger.clock.nowMs()) - createdS < FRESH_S;
}
