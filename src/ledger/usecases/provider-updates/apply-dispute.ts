import type { ProviderDispute } from '../../../provider/port.ts';
import { type DisputeDetails, decideDispute } from '../../model/provider/disputes.ts';
import { mismatch } from '../../model/provider/update-decision.ts';
import { unrecordedPayment } from './ensure-payment-recorded.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { decisionContext } from './decision-context.ts';
import { readToppedUpBalance } from '../runtime/read-topped-up-balance.ts';
import { type Judgement, type LoadedOrder, processProviderUpdate } from './process-provider-update.ts';
import type { UpdateResult, UpdateSource } from './provider-update.ts';

/** Applies what is told of a dispute to its order, once, whatever came before (docs/DESIGN.md §8). */
export function applyDispute(
  ledger: Ledger,
  dispute: ProviderDispute,
  source: UpdateSource,
): Promise<UpdateResult> {
  const { disputeId, paymentId, livemode } = dispute;
  const payment = unrecordedPayment(ledger, paymentId, source);
  return processProviderUpdate(
    ledger,
    source,
    { paymentId, metadata: {}, objectId: disputeId, livemode },
    {
      foreign: payment.identify,
      known: (known) => (known.recorded === undefined ? payment.book() : judge(ledger, dispute, known)),
    },
  );
}

async function judge(
  ledger: Ledger,
  dispute: ProviderDispute,
  { order, recorded }: LoadedOrder,
): Promise<Judgement> {
  const ofOverpayment = recorded?.recordedAs === 'SURPLUS';
  const balance = await readToppedUpBalance(ledger, order);
  const decide = (reported: ProviderDispute, isCurrent: boolean): ReturnType<typeof decideDispute> =>
    decideDispute(order, detailsOf(reported, ofOverpayment), balance, isCurrent, decisionContext(ledger));
  const decision = decide(dispute, false);
  if (decision.kind !== 'ASK') return decision;
  // Asked after the order was read: whatever is committed in between makes this be judged again.
  const asked = await ledger.provider.retrieveDispute(dispute.disputeId);
  if (asked.kind === 'REFUSED') return mismatch('no such dispute');
  if (asked.kind !== 'DONE') return { kind: 'RETRY_LATER', reason: 'PROVIDER' };
  const settled = decide(asked.value, true);
  if (settled.kind === 'ASK') throw new RangeError('what the provider says now needs no asking');
  return settled;
}

function detailsOf(
  { disputeId, paymentId, status, amountMinor, currency }: ProviderDispute,
  ofOverpayment: boolean,
): DisputeDetails {
  return { disputeId, paymentId, status, amountMinor, currency, ofOverpayment };
}
