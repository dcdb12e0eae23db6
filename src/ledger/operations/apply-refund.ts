import type { ProviderMetadata, ProviderRefund } from '../../stripe/port.ts';
import { defined } from '../defined.ts';
import { refundKey } from '../keys.ts';
import type { Order, Refund } from '../orders/order.ts';
import { type NoChange, ignored, stale } from '../provider/provider-facts.ts';
import { type RefundFacts, applyRefundFacts } from '../provider/provider-refunds.ts';
import { applySurplusRefund } from '../provider/provider-surplus.ts';
import { decideAside, readRefundAside } from '../provider/refunds-aside.ts';
import { unbookedPayment } from './book-first.ts';
import type { Ledger } from './ledger.ts';
import { occasionOf } from './occasion.ts';
import { readToppedUpBalance } from './read-topped-up-balance.ts';
import { type Judgement, type Settled, type Source, settleFact } from './settle-fact.ts';

const STATES: Readonly<Record<ProviderRefund['status'], Refund['state']>> = {
  pending: 'PENDING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
};

/** Applies what is told of a refund to its order, once, whatever came before (docs/DESIGN.md §8). */
export function applyRefund(ledger: Ledger, refund: ProviderRefund, source: Source): Promise<Settled> {
  const { providerRefundId, paymentId, metadata } = refund;
  const payment = unbookedPayment(ledger, paymentId, source);
  const facts = refundFacts(refund);
  return settleFact(
    ledger,
    source,
    { paymentId, metadata, objectId: providerRefundId, livemode: ledger.provider.livemode },
    {
      foreign: payment.identify,
      known: async ({ order, booking }) => {
        if (booking === undefined) return payment.book();
        const kept = await keptAside(ledger, order, facts);
        if (booking.bookedAs === 'SURPLUS') return applySurplusRefund(order, facts, kept, occasionOf(ledger));
        const balance = await readToppedUpBalance(ledger, order);
        return decideAside(order, facts, kept, (whole) =>
          applyRefundFacts(whole, facts, balance, occasionOf(ledger)),
        );
      },
    },
  );
}

/**
 * What is kept of a refund beside its order, if the order has any such. Read after the order: whatever is put aside in
 * between raises its `rev`, and this is judged again.
 */
export async function keptAside(
  ledger: Ledger,
  { aside }: Order,
  { providerRefundId }: Pick<RefundFacts, 'providerRefundId'>,
): Promise<Refund | undefined> {
  if (aside === undefined) return undefined;
  const [item] = await ledger.store.get([refundKey(providerRefundId)]);
  return item === undefined ? undefined : readRefundAside(item);
}

/** A refund as the ledger's decisions take it. */
export function refundFacts(refund: ProviderRefund): RefundFacts {
  const { providerRefundId, paymentId, status, amountMinor, currency, failureReason, metadata } = refund;
  return {
    providerRefundId,
    paymentId,
    state: STATES[status],
    amountMinor,
    currency,
    ...defined({ failureReason, refundId: metadata.refundId }),
  };
}

const LIST_LIMIT = 100;

/**
 * Applies every refund of a payment, each in a transaction of its own: what `charge.refunded` is a reason for. Its marker
 * comes last, so that one that broke off is done again.
 */
export function applyRefundsOf(
  ledger: Ledger,
  payment: { readonly paymentId?: string; readonly metadata: ProviderMetadata },
  source: Source,
): Promise<Settled> {
  const { paymentId, metadata } = payment;
  const subject = { paymentId, metadata, objectId: paymentId, livemode: ledger.provider.livemode };
  return settleFact(ledger, source, subject, {
    known: () => (paymentId === undefined ? ignored('not of ours') : applyListed(ledger, paymentId, source)),
  });
}

async function applyListed(ledger: Ledger, paymentId: string, source: Source): Promise<Judgement> {
  const createdS = source.kind === 'EVENT' ? source.event.createdS : source.createdS;
  const asked: Source = { kind: 'ASKED', ...defined({ createdS }) };
  let result: NoChange = stale('no refund that is new');
  let after: string | undefined;
  for (;;) {
    const page = await ledger.provider.listRefunds({ paymentId, limit: LIST_LIMIT, ...defined({ after }) });
    if (page.kind !== 'DONE') return { kind: 'COME_AGAIN', reason: 'PROVIDER' };
    for (const refund of page.value.items) {
      const settled = await applyRefund(ledger, refund, asked);
      if (settled.kind === 'COME_AGAIN') return settled;
      result = worse(result, settled);
    }
    after = page.value.items.at(-1)?.providerRefundId;
    if (!page.value.hasMore || after === undefined) return result;
  }
}

/** A mismatch among them is what operators must see; else whether anything was applied. */
function worse(sofar: NoChange, { outcome, detail = '' }: Extract<Settled, { kind: 'DONE' }>): NoChange {
  if (outcome === 'MISMATCH') return { kind: 'NO_CHANGE', outcome, detail };
  if (outcome !== 'APPLIED' || sofar.outcome === 'MISMATCH') return sofar;
  return { kind: 'NO_CHANGE', outcome, detail: 'each refund by itself' };
}
