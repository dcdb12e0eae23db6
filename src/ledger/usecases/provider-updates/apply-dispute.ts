import type { ProviderDispute } from '../../../provider/port.ts';
import { decideDispute } from '../../model/provider/disputes.ts';
import { type RecordedPayment, mismatch } from '../../model/provider/update-decision.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readToppedUpBalance } from '../runtime/read-topped-up-wallet.ts';
import { ensurePaymentRecorded } from './ensure-payment-recorded.ts';
import {
  type DecideResult,
  type LoadedOrder,
  decisionContext,
  processProviderUpdate,
} from './process-provider-update.ts';
import { type UpdateResult, type UpdateSource, providerUpdate, withoutObject } from './provider-update.ts';

/** Applies a dispute, as an event or the provider's answer has it, to its order: once, in whatever order they come. */
export function applyDispute(
  ledger: Ledger,
  dispute: ProviderDispute,
  source: UpdateSource,
): Promise<UpdateResult> {
  return processProviderUpdate(
    ledger,
    providerUpdate(source, { kind: 'dispute', dispute }),
    ensurePaymentRecorded(ledger, dispute.paymentId, source, (loaded) => decide(ledger, dispute, loaded)),
  );
}

async function decide(
  ledger: Ledger,
  dispute: ProviderDispute,
  { order, recorded }: LoadedOrder & { readonly recorded: RecordedPayment },
): Promise<DecideResult> {
  const ofOverpayment = recorded.recordedAs === 'SURPLUS';
  const balance = await readToppedUpBalance(ledger, order);
  const decideOn = (reported: ProviderDispute, isCurrent: boolean): ReturnType<typeof decideDispute> =>
    decideDispute(order, { ...reported, ofOverpayment }, balance, isCurrent, decisionContext(ledger));
  const first = decideOn(dispute, false);
  if (first.kind !== 'ASK') return first;
  // Asked after the order was read: whatever is committed in between makes this be decided again.
  const current = await ledger.provider.retrieveDispute(dispute.disputeId);
  if (current.kind !== 'DONE') return withoutObject(current, mismatch('no such dispute'));
  const decision = decideOn(current.value, true);
  if (decision.kind === 'ASK') throw new RangeError('what the provider says now needs no asking');
  return decision;
}
