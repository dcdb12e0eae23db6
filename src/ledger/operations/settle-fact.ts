import type { ProviderMetadata } from '../../stripe/port.ts';
import { epochS } from '../clock.ts';
import type { Order } from '../orders/order.ts';
import type { PaymentBooking } from '../provider/event-item.ts';
import { type FactDecision, ignored, mismatch } from '../provider/provider-facts.ts';
import { TableUnavailableError } from '../store.ts';
import { commitDecision } from './commit-fact.ts';
import type { Ledger } from './ledger.ts';
import { type Lookup, lookUp } from './look-up-fact.ts';
import type { ComeAgainReason, Settled, Source, Subject } from './told-fact.ts';

/** An order that a fact is about, and how its payment was booked if it was. */
export interface Known {
  readonly order: Order;
  readonly booking: PaymentBooking | undefined;
}

/** What an operation makes of a fact, on what was just read. */
export type Judgement =
  | FactDecision
  /** The order isn't as far as the fact yet: it must come again while it is fresh, then it is a mismatch. */
  | { readonly kind: 'NOT_YET'; readonly detail: string }
  /** Something was written meanwhile, or it is known now which order the payment names: read again. */
  | { readonly kind: 'READ_AGAIN'; readonly metadata?: ProviderMetadata }
  | { readonly kind: 'COME_AGAIN'; readonly reason: ComeAgainReason };

export interface Judge {
  /** The order is there. Called again after a lost race, on what is there then. */
  readonly known: (known: Known) => Judgement | Promise<Judgement>;
  /** Neither a payment item nor metadata of ours names an order. */
  readonly foreign?: () => Judgement | Promise<Judgement>;
}

/** A lost race reads again and decides again, this often at most. */
const MAX_DECISIONS = 5;
/** How long an event may be ahead of what we write (docs/DESIGN.md §8). */
const FRESH_S = 3_600;

/**
 * Reads what a fact is about, has it judged, and commits the whole effect: the event's marker first, the payment item,
 * the order, the entry with its balances. Used alike by webhooks, by the sweeper and by reconciliation.
 */
export async function settleFact(
  ledger: Ledger,
  source: Source,
  subject: Subject,
  judge: Judge,
): Promise<Settled> {
  try {
    let about = subject;
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
      const isLast = decisions === MAX_DECISIONS - 1;
      const settled = await settleOnce(ledger, source, about, isLast ? withoutGuards(judge) : judge);
      if (settled?.kind === 'READ_AGAIN') about = { ...about, metadata: settled.metadata ?? about.metadata };
      else if (settled !== undefined) return settled;
    }
    return { kind: 'COME_AGAIN', reason: 'CONFLICT' };
  } catch (error) {
    if (error instanceof TableUnavailableError) return { kind: 'COME_AGAIN', reason: 'TABLE' };
    throw error;
  }
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

async function settleOnce(
  ledger: Ledger,
  source: Source,
  subject: Subject,
  judge: Judge,
): Promise<Settled | Extract<Judgement, { kind: 'READ_AGAIN' }> | undefined> {
  const read = await lookUp(ledger, source, subject);
  if (read.seen !== undefined) return read.seen;
  const judgement = await judged(ledger, source, subject, judge, read);
  switch (judgement.kind) {
    case 'READ_AGAIN':
    case 'COME_AGAIN':
      return judgement;
    case 'NOT_YET':
      if (isFresh(ledger, source)) return { kind: 'COME_AGAIN', reason: 'NOT_YET' };
      return commitDecision(ledger, source, subject, read.ref, mismatch(judgement.detail));
    case 'CHANGE':
    case 'NO_CHANGE':
      return commitDecision(ledger, source, subject, read.ref, judgement);
  }
}

async function judged(
  ledger: Ledger,
  source: Source,
  subject: Subject,
  judge: Judge,
  { ref, order, booking }: Lookup,
): Promise<Judgement> {
  const isOfOurMode =
    subject.livemode === ledger.provider.livemode &&
    (source.kind === 'ASKED' || source.event.livemode === ledger.provider.livemode);
  if (ref === undefined) {
    return judge.foreign === undefined || !isOfOurMode ? ignored('not of ours') : judge.foreign();
  }
  if (!isOfOurMode) return mismatch('of another mode');
  if (order === undefined) return { kind: 'NOT_YET', detail: 'no such order' };
  return judge.known({ order, booking });
}

function isFresh(ledger: Ledger, source: Source): boolean {
  const createdS = source.kind === 'EVENT' ? source.event.createdS : source.createdS;
  return createdS !== undefined && epochS(ledger.clock.nowMs()) - createdS < FRESH_S;
}
