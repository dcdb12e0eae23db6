import type { ProviderMetadata, ProviderRefund } from '../../../provider/port.ts';
import { defined } from '../../kernel/defined.ts';
import { refundKey } from '../../kernel/keys.ts';
import type { Order, Refund, OverpaymentRefund } from '../../model/orders/order.ts';
import {
  type NoChange,
  amountOfMinor,
  ignored,
  stale,
  type RecordedPayment,
} from '../../model/provider/update-decision.ts';
import { type RefundDetails, decideRefund, isPassed, knownRefund } from '../../model/provider/refunds.ts';
import { decideOverpaymentRefund } from '../../model/provider/overpayments.ts';
import { decideWithOverflow } from '../../model/provider/overflow-refunds.ts';
import { unrecordedPayment } from './ensure-payment-recorded.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { decisionContext } from './decision-context.ts';
import { readToppedUpBalance } from '../runtime/read-topped-up-balance.ts';
import { type Judgement, type LoadedOrder, processProviderUpdate } from './process-provider-update.ts';
import type { UpdateResult, UpdateSource } from './provider-update.ts';
import { readOverflowRefund } from '../../items/overflow-refund-item.ts';

const STATES: Readonly<Record<ProviderRefund['status'], Refund['state']>> = {
  pending: 'PENDING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
};

/** Applies what is told of a refund to its order, once, whatever came before (docs/DESIGN.md §8). */
export function applyRefund(
  ledger: Ledger,
  refund: ProviderRefund,
  source: UpdateSource,
): Promise<UpdateResult> {
  const { providerRefundId, paymentId, metadata } = refund;
  const payment = unrecordedPayment(ledger, paymentId, source);
  const details = refundDetails(refund);
  return processProviderUpdate(
    ledger,
    source,
    { paymentId, metadata, objectId: providerRefundId, livemode: ledger.provider.livemode },
    {
      foreign: payment.identify,
      known: async ({ order, recorded }) => {
        if (recorded === undefined) return payment.book();
        const kept = await storedOverflowRefund(ledger, order, details);
        if (recorded.recordedAs === 'SURPLUS')
          return decideOverpaymentRefund(order, details, kept, decisionContext(ledger));
        const balance = await readToppedUpBalance(ledger, order);
        return decideWithOverflow(order, details, kept, (whole) =>
          decideRefund(whole, details, balance, decisionContext(ledger)),
        );
      },
    },
  );
}

/**
 * What is kept of a refund beside its order, if the order has any such. Read after the order: whatever is put aside in
 * between raises its `rev`, and this is judged again.
 */
export async function storedOverflowRefund(
  ledger: Ledger,
  { overflow }: Order,
  { providerRefundId }: Pick<RefundDetails, 'providerRefundId'>,
): Promise<Refund | undefined> {
  if (overflow === undefined) return undefined;
  const [item] = await ledger.store.get([refundKey(providerRefundId)]);
  return item === undefined ? undefined : readOverflowRefund(item);
}

/** The refund of the order's own payment or of an overpayment, where the order itself has it. */
export function listedRefund(
  order: Order,
  recorded: RecordedPayment | undefined,
  details: RefundDetails,
): Refund | OverpaymentRefund | undefined {
  if (recorded?.recordedAs !== 'SURPLUS') return knownRefund(order, details);
  const overpayment = order.overpayments.find(({ paymentId }) => paymentId === details.paymentId);
  return overpayment?.refunds.find(({ providerRefundId }) => providerRefundId === details.providerRefundId);
}

/** A refund as the ledger's decisions take it. */
export function refundDetails(refund: ProviderRefund): RefundDetails {
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
 * a reason for. Its record comes last, so that one that broke off is done again.
 */
export function applyRefundsOf(
  ledger: Ledger,
  payment: { readonly paymentId?: string; readonly metadata: ProviderMetadata },
  source: UpdateSource,
): Promise<UpdateResult> {
  const { paymentId, metadata } = payment;
  const subject = { paymentId, metadata, objectId: paymentId, livemode: ledger.provider.livemode };
  return processProviderUpdate(ledger, source, subject, {
    known: (known) =>
      paymentId === undefined ? ignored('not of ours') : applyListed(ledger, paymentId, known, source),
  });
}

async function applyListed(
  ledger: Ledger,
  paymentId: string,
  known: LoadedOrder,
  source: UpdateSource,
): Promise<Judgement> {
  const createdS = source.kind === 'EVENT' ? source.event.createdS : source.createdS;
  const asked: UpdateSource = { kind: 'LOOKUP', ...defined({ createdS }) };
  let result: NoChange = stale('no refund that is new');
  let after: string | undefined;
  for (;;) {
    const page = await ledger.provider.listRefunds({ paymentId, limit: LIST_LIMIT, ...defined({ after }) });
    if (page.kind !== 'DONE') return { kind: 'RETRY_LATER', reason: 'PROVIDER' };
    for (const refund of await newAmong(ledger, known, page.value.items)) {
      const settled = await applyRefund(ledger, refund, asked);
      if (settled.kind === 'RETRY_LATER') return settled;
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
  { order, recorded }: LoadedOrder,
  refunds: readonly ProviderRefund[],
): Promise<readonly ProviderRefund[]> {
  if (recorded === undefined) return refunds;
  const reported = refunds.map((refund) => ({ refund, details: refundDetails(refund) }));
  const isNew = (details: RefundDetails, kept: readonly Refund[] = []): boolean => {
    const known = listedRefund(order, recorded, details) ?? kept.find((one) => isOf(one, details));
    return known === undefined || !isOf(known, details) || !saysAsMuch(known, order, details);
  };
  const unlisted = reported.filter(({ details }) => isNew(details));
  if (order.overflow === undefined || unlisted.length === 0) return unlisted.map(({ refund }) => refund);
  const items = await ledger.store.get(unlisted.map(({ details }) => refundKey(details.providerRefundId)));
  const kept = items.flatMap((item) => (item === undefined ? [] : [readOverflowRefund(item)]));
  return unlisted.filter(({ details }) => isNew(details, kept)).map(({ refund }) => refund);
}

function isOf({ providerRefundId }: Refund | OverpaymentRefund, details: RefundDetails): boolean {
  return providerRefundId === details.providerRefundId;
}

/** Whether applying such a refund would change nothing: any other may be news, or not be what is booked. */
function saysAsMuch(
  known: Refund | OverpaymentRefund,
  order: Order,
  { state, amountMinor, currency }: RefundDetails,
): boolean {
  if (!isPassed(known.state, state) || currency !== order.currency) return false;
  return amountOfMinor(amountMinor, currency)?.eq(known.amount) === true;
}

/** A mismatch among them is what operators must see; else whether anything was applied. */
function worse(sofar: NoChange, { outcome, detail = '' }: Extract<UpdateResult, { kind: 'DONE' }>): NoChange {
  if (outcome === 'MISMATCH') return { kind: 'NO_CHANGE', outcome, detail };
  if (outcome !== 'APPLIED' || sofar.outcome === 'MISMATCH') return sofar;
  return { kind: 'NO_CHANGE', outcome, detail: 'each refund by itself' };
}
