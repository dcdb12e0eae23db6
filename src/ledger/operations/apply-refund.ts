import type { ProviderMetadata, ProviderRefund } from '../../stripe/port.ts';
import { defined } from '../defined.ts';
import { refundKey } from '../keys.ts';
import type { Order, Refund, SurplusRefund } from '../orders/order.ts';
import type { PaymentBooking } from '../provider/event-item.ts';
import { type NoChange, amountOfMinor, ignored, stale } from '../provider/provider-facts.ts';
import { type RefundFacts, applyRefundFacts, isPassed, knownRefund } from '../provider/provider-refunds.ts';
import { applySurplusRefund } from '../provider/provider-surplus.ts';
import { decideAside, readRefundAside } from '../provider/refunds-aside.ts';
import { unbookedPayment } from './book-first.ts';
import type { Ledger } from './ledger.ts';
import { occasionOf } from './occasion.ts';
import { readToppedUpBalance } from './read-topped-up-balance.ts';
import { type Judgement, type Known, settleFact } from './settle-fact.ts';
import type { Settled, Source } from './told-fact.ts';

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

/** The refund of the order's own payment or of a surplus one, where the order itself has it. */
export function listedRefund(
  order: Order,
  booking: PaymentBooking | undefined,
  facts: RefundFacts,
): Refund | SurplusRefund | undefined {
  if (booking?.bookedAs !== 'SURPLUS') return knownRefund(order, facts);
  const surplus = order.surplus.find(({ paymentId }) => paymentId === facts.paymentId);
  return surplus?.refunds.find(({ providerRefundId }) => providerRefundId === facts.providerRefundId);
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
 * Applies every refund of a payment that tells something new, each in a transaction of its own: what `charge.refunded` is
 * a reason for. Its marker comes last, so that one that broke off is done again.
 */
export function applyRefundsOf(
  ledger: Ledger,
  payment: { readonly paymentId?: string; readonly metadata: ProviderMetadata },
  source: Source,
): Promise<Settled> {
  const { paymentId, metadata } = payment;
  const subject = { paymentId, metadata, objectId: paymentId, livemode: ledger.provider.livemode };
  return settleFact(ledger, source, subject, {
    known: (known) =>
      paymentId === undefined ? ignored('not of ours') : applyListed(ledger, paymentId, known, source),
  });
}

async function applyListed(
  ledger: Ledger,
  paymentId: string,
  known: Known,
  source: Source,
): Promise<Judgement> {
  const createdS = source.kind === 'EVENT' ? source.event.createdS : source.createdS;
  const asked: Source = { kind: 'ASKED', ...defined({ createdS }) };
  let result: NoChange = stale('no refund that is new');
  let after: string | undefined;
  for (;;) {
    const page = await ledger.provider.listRefunds({ paymentId, limit: LIST_LIMIT, ...defined({ after }) });
    if (page.kind !== 'DONE') return { kind: 'COME_AGAIN', reason: 'PROVIDER' };
    for (const refund of await newAmong(ledger, known, page.value.items)) {
      const settled = await applyRefund(ledger, refund, asked);
      if (settled.kind === 'COME_AGAIN') return settled;
      result = worse(result, settled);
    }
    after = page.value.items.at(-1)?.providerRefundId;
    if (!page.value.hasMore || after === undefined) return result;
  }
}

/**
 * The refunds that the order doesn't have as far as they are told of, by the order as it was read and one more read of
 * what is beside it: a payment may have any number of refunds, and each of them makes the provider tell of all.
 */
async function newAmong(
  ledger: Ledger,
  { order, booking }: Known,
  refunds: readonly ProviderRefund[],
): Promise<readonly ProviderRefund[]> {
  if (booking === undefined) return refunds;
  const told = refunds.map((refund) => ({ refund, facts: refundFacts(refund) }));
  const isNew = (facts: RefundFacts, kept: readonly Refund[] = []): boolean => {
    const known = listedRefund(order, booking, facts) ?? kept.find((one) => isOf(one, facts));
    return known === undefined || !isOf(known, facts) || !saysAsMuch(known, order, facts);
  };
  const unlisted = told.filter(({ facts }) => isNew(facts));
  if (order.aside === undefined || unlisted.length === 0) return unlisted.map(({ refund }) => refund);
  const items = await ledger.store.get(unlisted.map(({ facts }) => refundKey(facts.providerRefundId)));
  const kept = items.flatMap((item) => (item === undefined ? [] : [readRefundAside(item)]));
  return unlisted.filter(({ facts }) => isNew(facts, kept)).map(({ refund }) => refund);
}

function isOf({ providerRefundId }: Refund | SurplusRefund, facts: RefundFacts): boolean {
  return providerRefundId === facts.providerRefundId;
}

/** Whether applying such a refund would change nothing: any other may be news, or not be what is booked. */
function saysAsMuch(
  known: Refund | SurplusRefund,
  order: Order,
  { state, amountMinor, currency }: RefundFacts,
): boolean {
  if (!isPassed(known.state, state) || currency !== order.currency) return false;
  return amountOfMinor(amountMinor, currency)?.eq(known.amount) === true;
}

/** A mismatch among them is what operators must see; else whether anything was applied. */
function worse(sofar: NoChange, { outcome, detail = '' }: Extract<Settled, { kind: 'DONE' }>): NoChange {
  if (outcome === 'MISMATCH') return { kind: 'NO_CHANGE', outcome, detail };
  if (outcome !== 'APPLIED' || sofar.outcome === 'MISMATCH') return sofar;
  return { kind: 'NO_CHANGE', outcome, detail: 'each refund by itself' };
}
