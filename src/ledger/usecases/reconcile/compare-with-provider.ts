import type { ProviderDispute, ProviderPayment, ProviderRefund } from '../../../provider/port.ts';
import { readRecordedPayment } from '../../items/event-item.ts';
import { type OrderRef, orderKey, paymentKey } from '../../kernel/keys.ts';
import { readOrder } from '../../items/order-item.ts';
import type { Order } from '../../model/orders/order.ts';
import { amountOfMinor, type RecordedPayment } from '../../model/provider/update-decision.ts';
import { isPassed } from '../../model/provider/refunds.ts';
import { readReportedRefund, refundDetails } from '../provider-updates/apply-refund.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';
import { orderNamedBy } from '../provider-updates/provider-update.ts';

/** What the provider has, and the ledger hasn't or has otherwise. */
export interface Difference {
  readonly kind: 'PAYMENT' | 'REFUND' | 'DISPUTE';
  readonly providerId: string;
  readonly order?: OrderRef | undefined;
  /** What the provider says, and what the ledger knows of it, in a few words. */
  readonly provider: string;
  readonly ledger: string;
}

/** How an object of the provider compares. FOREIGN: no order of ours made it. */
export type Comparison =
  | { readonly kind: 'SAME' }
  | { readonly kind: 'FOREIGN' }
  | { readonly kind: 'DIFFERENT'; readonly difference: Difference }
  /** The provider couldn't say whose it is. */
  | { readonly kind: 'UNKNOWN' };

const SAME: Comparison = { kind: 'SAME' };
/** What the ledger knows of something that it hasn't booked at all. */
export const NOT_RECORDED = 'not booked';

/** A payment that succeeded must be booked, with exactly its amount. */
export async function comparePayment(ledger: Ledger, payment: ProviderPayment): Promise<Comparison> {
  const { paymentId, status, amountReceivedMinor, currency, livemode, metadata } = payment;
  if (status !== 'succeeded') return SAME;
  const recorded = await recordedPaymentOf(ledger, paymentId);
  const order = recorded ?? orderNamedBy(metadata);
  if (order === undefined || livemode !== ledger.provider.livemode) return { kind: 'FOREIGN' };
  const difference = {
    kind: 'PAYMENT',
    providerId: paymentId,
    order: refOf(order),
    provider: inMinor(amountReceivedMinor, currency),
  } as const;
  if (recorded === undefined) return different(difference, NOT_RECORDED);
  const amount = amountOfMinor(amountReceivedMinor, currency);
  if (recorded.currency === currency && amount?.eq(recorded.amount) === true) return SAME;
  return different(difference, `${recorded.amount.toFixed()} ${recorded.currency}`);
}

/** A refund must be in its order, as far as the provider's word goes: what is further already has overtaken the list. */
export async function compareRefund(ledger: Ledger, refund: ProviderRefund): Promise<Comparison> {
  const { providerRefundId, paymentId, status, amountMinor, currency } = refund;
  const owner = await ownerOf(ledger, paymentId, orderNamedBy(refund.metadata));
  if (owner.kind !== 'OURS') return owner;
  const details = refundDetails(refund);
  const { order, recorded } = owner;
  const known = order === undefined ? undefined : await readReportedRefund(ledger, order, recorded, details);
  const amount = amountOfMinor(amountMinor, currency);
  if (known !== undefined && isPassed(known.state, details.state) && amount?.eq(known.amount) === true)
    return SAME;
  return different(
    {
      kind: 'REFUND',
      providerId: providerRefundId,
      order: owner.ref,
      provider: `${status} ${inMinor(amountMinor, currency)}`,
    },
    known === undefined ? NOT_RECORDED : `${known.state.toLowerCase()} ${known.amount.toFixed()}`,
  );
}

/** A dispute must be in its order with the same status and amount, and a lost one booked. */
export async function compareDispute(ledger: Ledger, dispute: ProviderDispute): Promise<Comparison> {
  const { disputeId, paymentId, status, amountMinor, currency, livemode } = dispute;
  if (livemode !== ledger.provider.livemode) return { kind: 'FOREIGN' };
  const owner = await ownerOf(ledger, paymentId, undefined);
  if (owner.kind !== 'OURS') return owner;
  const known = owner.order?.disputes.find((candidate) => candidate.disputeId === disputeId);
  const isSame = known?.status === status && amountOfMinor(amountMinor, currency)?.eq(known.amount) === true;
  if (isSame && (status !== 'lost' || known.recorded)) return SAME;
  return different(
    {
      kind: 'DISPUTE',
      providerId: disputeId,
      order: owner.ref,
      provider: `${status} ${inMinor(amountMinor, currency)}`,
    },
    known === undefined ? NOT_RECORDED : `${known.status} ${known.amount.toFixed()}`,
  );
}

type Owner =
  | {
      readonly kind: 'OURS';
      readonly ref: OrderRef;
      readonly order: Order | undefined;
      readonly recorded: RecordedPayment | undefined;
    }
  | Extract<Comparison, { kind: 'FOREIGN' | 'UNKNOWN' }>;

/** The payment item names the order, else the object's metadata, else the payment's own. */
async function ownerOf(ledger: Ledger, paymentId: string, named: OrderRef | undefined): Promise<Owner> {
  const recorded = await recordedPaymentOf(ledger, paymentId);
  let ref = recorded ?? named;
  if (ref === undefined) {
    const payment = await ledger.provider.retrievePayment(paymentId);
    if (payment.kind === 'REFUSED') return { kind: 'FOREIGN' };
    if (payment.kind !== 'DONE') return { kind: 'UNKNOWN' };
    ref = orderNamedBy(payment.value.metadata);
  }
  if (ref === undefined) return { kind: 'FOREIGN' };
  return { kind: 'OURS', ref: refOf(ref), recorded, order: await readItem(ledger, orderKey(ref), readOrder) };
}

async function recordedPaymentOf(ledger: Ledger, paymentId: string): Promise<RecordedPayment | undefined> {
  return readItem(ledger, paymentKey(paymentId), readRecordedPayment);
}

/** The order's name alone, for a report. */
function refOf({ tenant, accountId, orderId }: OrderRef): OrderRef {
  return { tenant, accountId, orderId };
}

function different(difference: Omit<Difference, 'ledger'>, ledger: string): Comparison {
  return { kind: 'DIFFERENT', difference: { ...difference, ledger } };
}

function inMinor(minor: number, currency: string): string {
  const amount = amountOfMinor(minor, currency);
  return amount === undefined
    ? `${String(minor)} minor units of ${currency}`
    : `${amount.toFixed()} ${currency}`;
}
