import type { ProviderDispute } from '../../stripe/port.ts';
import { type DisputeFacts, applyDisputeFacts } from '../provider/provider-disputes.ts';
import { mismatch } from '../provider/provider-facts.ts';
import { unbookedPayment } from './book-first.ts';
import type { Ledger } from './ledger.ts';
import { occasionOf } from './occasion.ts';
import { readToppedUpBalance } from './read-topped-up-balance.ts';
import { type Judgement, type Known, settleFact } from './settle-fact.ts';
import type { Settled, Source } from './told-fact.ts';

/** Applies what is told of a dispute to its order, once, whatever came before (docs/DESIGN.md §8). */
export function applyDispute(ledger: Ledger, dispute: ProviderDispute, source: Source): Promise<Settled> {
  const { disputeId, paymentId, livemode } = dispute;
  const payment = unbookedPayment(ledger, paymentId, source);
  return settleFact(
    ledger,
    source,
    { paymentId, metadata: {}, objectId: disputeId, livemode },
    {
      foreign: payment.identify,
      known: (known) => (known.booking === undefined ? payment.book() : judge(ledger, dispute, known)),
    },
  );
}

async function judge(
  ledger: Ledger,
  dispute: ProviderDispute,
  { order, booking }: Known,
): Promise<Judgement> {
  const surplus = booking?.bookedAs === 'SURPLUS';
  const balance = await readToppedUpBalance(ledger, order);
  const decide = (told: ProviderDispute, isCurrent: boolean): ReturnType<typeof applyDisputeFacts> =>
    applyDisputeFacts(order, factsOf(told, surplus), balance, isCurrent, occasionOf(ledger));
  const decision = decide(dispute, false);
  if (decision.kind !== 'ASK') return decision;
  // Asked after the order was read: whatever is committed in between makes this be judged again.
  const asked = await ledger.provider.retrieveDispute(dispute.disputeId);
  if (asked.kind === 'REFUSED') return mismatch('no such dispute');
  if (asked.kind !== 'DONE') return { kind: 'COME_AGAIN', reason: 'PROVIDER' };
  const settled = decide(asked.value, true);
  if (settled.kind === 'ASK') throw new RangeError('what the provider says now needs no asking');
  return settled;
}

function factsOf(
  { disputeId, paymentId, status, amountMinor, currency }: ProviderDispute,
  surplus: boolean,
): DisputeFacts {
  return { disputeId, paymentId, status, amountMinor, currency, surplus };
}
