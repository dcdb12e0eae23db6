import type { ProviderRefund } from '../../../provider/port.ts';
import { defined } from '../../kernel/defined.ts';
import { recordEntry } from '../../items/entry-writes.ts';
import { deleteRefund, putRefund } from '../../items/refund-item.ts';
import type { Entry } from '../../model/entries/entry.ts';
import { type Decimal, ZERO } from '../../kernel/money.ts';
import type { Lease, Order, Refund } from '../../model/orders/order.ts';
import type { Stored } from '../../model/outcomes.ts';
import { type DecisionContext, PROVIDER_ACTOR } from '../../model/provider/update-decision.ts';
import { decideRefund, releaseRefund } from '../../model/provider/refunds.ts';
import { type RefundChange, awaitRefund, recounted } from '../../model/orders/refunds.ts';
import type { PlanPart } from '../../items/plan.ts';
import { refundDetails } from '../provider-updates/apply-refund.ts';
import { type RefundCallResult, askForRefund } from './ask-for-refund.ts';
import {
  type ClaimResult,
  type ClaimCompletion,
  RELEASED,
  type RecordEnd,
  completeClaim,
  ended,
} from './complete-claim.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readShortfall } from '../runtime/read-topped-up-wallet.ts';
import { decisionContext } from '../provider-updates/process-provider-update.ts';

/**
 * Asks the provider for a claimed refund and completes refund and idempotency record with what it says
 * (docs/DESIGN.md §5.5). Used by whoever claimed it and by whoever takes it over. As long as nothing definite is
 * known, the amount stays reserved and the claim stands.
 * @param taken whether somebody may have asked before: then it is looked for first
 */
export async function completeRefund(
  ledger: Ledger,
  order: Order,
  refund: Refund,
  lease: Lease,
  taken: boolean,
): Promise<ClaimResult> {
  const asked = await askForRefund(ledger, { order, refund, lease }, taken);
  if (asked.kind === 'UNKNOWN') return { kind: 'WAITING' };
  const shortfall = await readShortfall(ledger, order, refund);
  return completeClaim(ledger, order, lease, (current, nowMs, held) => {
    if (held === undefined) throw new RangeError('settled only while it is held');
    return completionOf(ledger, { order: current, refund: held, shortfall }, asked, nowMs);
  });
}

/** A refund that is settled, and what of it the wallet lacked when it was taken. */
interface Settled extends RefundChange {
  readonly shortfall: Decimal;
}

function completionOf(
  ledger: Ledger,
  settled: Settled,
  asked: Exclude<RefundCallResult, { kind: 'UNKNOWN' }>,
  atMs: number,
): ClaimCompletion {
  const { actor } = settled.refund;
  switch (asked.kind) {
    case 'MADE':
      return completionOfMade(ledger, settled, asked.made, atMs);
    case 'REFUSED':
      return refused(ledger, settled, { failureReason: asked.code }, actor);
    case 'NOT_MADE': {
      const context = { ...decisionContext(ledger), stepNames: () => [] };
      return dropped(settled, released(settled, { failureReason: asked.reason }, actor, context));
    }
  }
}

/** What the provider made is a fact, taken up by the same decisions as its events (docs/DESIGN.md §8). */
function completionOfMade(
  ledger: Ledger,
  settled: Settled,
  made: ProviderRefund,
  atMs: number,
): ClaimCompletion {
  const { order, refund } = settled;
  const { providerRefundId, status, failureReason = 'failed' } = made;
  if (status === 'failed')
    return refused(ledger, settled, { providerRefundId, failureReason }, PROVIDER_ACTOR);
  const wallet = { balance: ZERO, shortfall: settled.shortfall };
  const decision = decideRefund(order, refund, refundDetails(made), wallet, decisionContext(ledger));
  if (status === 'succeeded' && decision.kind === 'CHANGE') {
    const { after, refund: succeeded = refund, entry } = decision;
    return completion(
      { order: after, refund: succeeded, entry },
      ended('COMPLETED', refundSuccess(order, succeeded)),
    );
  }
  // It waits, for its event or the sweeper.
  return completion(
    awaitRefund(order, refund, providerRefundId, atMs),
    ended('COMPLETED', refundSuccess(order, refund)),
  );
}

/** A change of the refund with what is booked with it. */
interface RecordedChange extends RefundChange {
  readonly entry?: Entry | undefined;
}

function completion(change: RecordedChange, record: RecordEnd): ClaimCompletion {
  return { order: change.order, parts: [putRefund(change), ...entryPart(change)], record };
}

function entryPart({ entry }: RecordedChange): readonly PlanPart[] {
  return entry === undefined ? [] : [recordEntry(entry)];
}

/** The amount may be refunded again, and the no sticks to the key. */
function refused(
  ledger: Ledger,
  settled: Settled,
  how: Pick<Refund, 'providerRefundId'> & { readonly failureReason: string },
  actor: string,
): ClaimCompletion {
  const outcome = { kind: 'ProviderRefused', code: how.failureReason } as const;
  return completion(released(settled, how, actor, decisionContext(ledger)), ended('FAILED', outcome));
}

function released(
  { order, refund, shortfall }: Settled,
  how: Pick<Refund, 'providerRefundId' | 'failureReason'>,
  actor: string,
  context: DecisionContext,
): RecordedChange {
  return releaseRefund(order, refund, how, { actor, shortfall }, context);
}

/** What was never made isn't kept but in the timeline, so that an outage can't use up the refunds of an order. */
function dropped({ refund }: Settled, change: RecordedChange): ClaimCompletion {
  const order = { ...change.order, ...recounted(change.order, 'FAILED', undefined) };
  return { order, parts: [deleteRefund(refund), ...entryPart(change)], record: RELEASED };
}

/** What a refund answers: of a top-up also the wallet's asset, out of which the value went. */
export function refundSuccess(order: Order, { refundId, entryId }: Refund): Stored<'RefundSuccess'> {
  const { accountId, orderId, kind, asset } = order;
  return {
    kind: 'RefundSuccess',
    accountId,
    orderId,
    refundId,
    ...defined({ entryId, asset: kind === 'TOP_UP' ? asset : undefined }),
  };
}
