import type { ProviderDispute, ProviderRefund } from '../../../provider/port.ts';
import { defined } from '../../kernel/defined.ts';
import { applyDispute } from '../provider-updates/apply-dispute.ts';
import { applyRefund } from '../provider-updates/apply-refund.ts';
import { type Comparison, type Difference, compareDispute, compareRefund } from './compare-with-provider.ts';
import type { UnbackedRecording } from './find-unbacked.ts';
import type { Ledger } from '../runtime/ledger.ts';
import type { UpdateResult } from '../provider-updates/provider-update.ts';

/**
 * What is to be done about a difference that stands. FIX: it was not tried to fix it. RUN_AGAIN: what it takes could not
 * be reached, or is still being written. BY_HAND: it isn't what was ordered, so nothing books it by itself. CHECK: the
 * ledger has booked what the provider doesn't bear out.
 */
export type NextStep = 'FIX' | 'RUN_AGAIN' | 'BY_HAND' | 'CHECK';

/** A difference, and whether it is one no more. */
export interface ReconcileFinding extends Difference {
  readonly fixed: boolean;
  /** Absent where it is fixed. */
  readonly next?: NextStep;
  /** Why it could not be fixed, if that was tried. */
  readonly detail?: string;
}

/** How an object of the provider is compared, and applied. */
export interface Steps<Item> {
  readonly compare: (item: Item) => Promise<Comparison>;
  readonly apply: (item: Item) => Promise<UpdateResult>;
}

/** Whichever of its copies is behind is brought up with it. */
export const MENDING = { kind: 'LOOKUP', mends: true } as const;

export function refundSteps(ledger: Ledger): Steps<ProviderRefund> {
  return {
    compare: (refund) => compareRefund(ledger, refund),
    apply: (refund) => applyRefund(ledger, refund, MENDING),
  };
}

export function disputeSteps(ledger: Ledger): Steps<ProviderDispute> {
  return {
    compare: (dispute) => compareDispute(ledger, dispute),
    apply: (dispute) => applyDispute(ledger, dispute, MENDING),
  };
}

/**
 * Applies what the provider has, if that is asked for: the ledger differs from it.
 * @param otherwise what is to be done where applying it doesn't settle the difference
 */
export async function applyDifference<Item>(
  fix: boolean,
  difference: Difference,
  item: Item,
  { compare, apply }: Steps<Item>,
  otherwise: NextStep,
): Promise<ReconcileFinding> {
  if (!fix) return { ...difference, fixed: false, next: 'FIX' };
  const settled = await apply(item);
  // Whatever applying says, only the ledger tells whether it has it now.
  const fixed = (await compare(item)).kind === 'SAME';
  const detail = settled.kind === 'DONE' ? settled.detail : settled.reason;
  const next = fixed ? undefined : settled.kind === 'RETRY_LATER' ? 'RUN_AGAIN' : otherwise;
  return { ...difference, fixed, ...defined({ next, detail }) };
}

/** What the provider has can be applied as its event would be; about what it hasn't, only a person can do something. */
export async function applyUnbacked(
  ledger: Ledger,
  fix: boolean,
  { difference, reported }: UnbackedRecording,
): Promise<ReconcileFinding> {
  switch (reported?.kind) {
    case undefined:
      return { ...difference, fixed: false, next: 'CHECK' };
    case 'REFUND':
      return appliedUpdate(fix, difference, reported.refund, refundSteps(ledger));
    case 'DISPUTE':
      return appliedUpdate(fix, difference, reported.dispute, disputeSteps(ledger));
  }
}

async function appliedUpdate<Item>(
  fix: boolean,
  difference: Difference,
  item: Item,
  steps: Steps<Item>,
): Promise<ReconcileFinding> {
  // What the ledger takes for overtaken, applying changes nothing about.
  if ((await steps.compare(item)).kind !== 'DIFFERENT') return { ...difference, fixed: false, next: 'CHECK' };
  return applyDifference(fix, difference, item, steps, 'CHECK');
}
