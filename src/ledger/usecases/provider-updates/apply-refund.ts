import type { ProviderMetadata, ProviderRefund } from '../../../provider/port.ts';
import { defined } from '../../kernel/defined.ts';
import { ZERO } from '../../kernel/money.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import { decideOverpaymentRefund } from '../../model/provider/overpayments.ts';
import { type RefundDetails, decideRefund, isPassed } from '../../model/provider/refunds.ts';
import {
  type NoChange,
  type RecordedPayment,
  amountOfMinor,
  ignored,
  stale,
} from '../../model/provider/update-decision.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { refundPages } from '../runtime/provider-pages.ts';
import { readKnownRefund, readRefundsLike } from '../runtime/read-refunds.ts';
import { readShortfall, readToppedUpBalance } from '../runtime/read-topped-up-wallet.ts';
import { ensurePaymentRecorded } from './ensure-payment-recorded.ts';
import {
  type DecideResult,
  type LoadedOrder,
  decisionContext,
  processProviderUpdate,
} from './process-provider-update.ts';
import {
  type Processed,
  type UpdateResult,
  type UpdateSource,
  lookupFor,
  mendsBooks,
  providerUpdate,
  retryLater,
} from './provider-update.ts';

const STATES: Readonly<Record<ProviderRefund['status'], Refund['state']>> = {
  pending: 'PENDING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
};

/** Applies a refund, as an event or the provider's answer has it, to its order: once, in whatever order they come. */
export function applyRefund(
  ledger: Ledger,
  refund: ProviderRefund,
  source: UpdateSource,
): Promise<UpdateResult> {
  return processProviderUpdate(
    ledger,
    providerUpdate(source, { kind: 'refund', refund }),
    ensurePaymentRecorded(ledger, refund.paymentId, source, (loaded) =>
      decide(ledger, { ...refundDetails(refund), mayRestore: mendsBooks(source) }, loaded),
    ),
  );
}

async function decide(
  ledger: Ledger,
  details: RefundDetails,
  { order, recorded }: LoadedOrder & { readonly recorded: RecordedPayment },
): Promise<DecideResult> {
  const known = await readReportedRefund(ledger, order, recorded, details);
  if (recorded.recordedAs === 'SURPLUS')
    return decideOverpaymentRefund(order, known, details, decisionContext(ledger));
  const balance = await readToppedUpBalance(ledger, order);
  const shortfall = details.state === 'FAILED' ? await readShortfall(ledger, order, known) : ZERO;
  return decideRefund(order, known, details, { balance, shortfall }, decisionContext(ledger));
}

/** The refund of the order's own payment or of an overpayment that is told of, if the order knows it already. */
export async function readReportedRefund(
  ledger: Ledger,
  order: Order,
  recorded: RecordedPayment | undefined,
  details: RefundDetails,
): Promise<Refund | undefined> {
  if (recorded?.recordedAs !== 'SURPLUS') return readKnownRefund(ledger, order, details);
  // Refunds of overpayments have the provider's ids alone.
  return (await readRefundsLike(ledger, order, [details])).find((refund) => isOf(refund, details));
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

/**
 * Applies every refund of a payment that says something new, each in a transaction of its own: what `charge.refunded` is
 * a reason for. The event's record comes last, so that one that broke off is done again.
 */
export function applyRefundsOf(
  ledger: Ledger,
  payment: { readonly paymentId?: string; readonly metadata: ProviderMetadata },
  source: UpdateSource,
): Promise<UpdateResult> {
  const { paymentId } = payment;
  return processProviderUpdate(ledger, providerUpdate(source, { kind: 'charge', ...payment }), {
    decide: (loaded) =>
      paymentId === undefined ? ignored('not of ours') : applyListed(ledger, paymentId, loaded, source),
  });
}

async function applyListed(
  ledger: Ledger,
  paymentId: string,
  loaded: LoadedOrder,
  source: UpdateSource,
): Promise<DecideResult> {
  let result: NoChange = stale('no refund that is new');
  for await (const page of refundPages(ledger.provider, paymentId)) {
    if (page.kind !== 'DONE') return retryLater('PROVIDER');
    for (const refund of await newAmong(ledger, loaded.order, page.value.items)) {
      const applied = await applyRefund(ledger, refund, lookupFor(source));
      if (applied.kind === 'RETRY_LATER') return applied;
      result = worse(result, applied);
    }
  }
  return result;
}

/**
 * The refunds that the ledger doesn't have as the provider lists them, by one read for all: a payment may have any number of
 * refunds, and each event makes the provider list them all.
 */
async function newAmong(
  ledger: Ledger,
  order: Order,
  refunds: readonly ProviderRefund[],
): Promise<readonly ProviderRefund[]> {
  const listed = refunds.map((refund) => ({ refund, details: refundDetails(refund) }));
  const like = await readRefundsLike(
    ledger,
    order,
    listed.map(({ details }) => details),
  );
  return listed
    .filter(({ details }) => {
      const known = like.find((refund) => isOf(refund, details));
      return known === undefined || !saysAsMuch(known, order, details);
    })
    .map(({ refund }) => refund);
}

function isOf({ providerRefundId }: Refund, details: RefundDetails): boolean {
  return providerRefundId === details.providerRefundId;
}

/** Whether applying such a refund would change nothing: any other may say more, or not be what is recorded. */
function saysAsMuch(known: Refund, order: Order, { state, amountMinor, currency }: RefundDetails): boolean {
  if (!isPassed(known.state, state) || currency !== order.currency) return false;
  return amountOfMinor(amountMinor, currency)?.eq(known.amount) === true;
}

/** A mismatch among them is what operators must see; else whether anything was applied. */
function worse(sofar: NoChange, { outcome, detail = '' }: Processed): NoChange {
  if (outcome === 'MISMATCH') return { kind: 'NO_CHANGE', outcome, detail };
  if (outcome !== 'APPLIED' || sofar.outcome === 'MISMATCH') return sofar;
  return { kind: 'NO_CHANGE', outcome, detail: 'each refund by itself' };
}
