import type { ProviderDispute, ProviderPayment, ProviderRefund } from '../../../provider/port.ts';
import type { OrderRef } from '../../kernel/keys.ts';
import { missingAmount, recordingOf } from '../../model/provider/provider-recordings.ts';
import { amountOfMinor } from '../../model/provider/update-decision.ts';
import { isPassed } from '../../model/provider/refunds.ts';
import { readReportedRefund, refundDetails } from '../provider-updates/apply-refund.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { type OrderBooks, readOrderBooks } from '../provider-updates/order-books.ts';
import { orderNamedBy } from '../provider-updates/provider-update.ts';

/** What the provider has, and the ledger hasn't or has otherwise. */
export interface Difference {
  readonly kind: 'SESSION' | 'PAYMENT' | 'REFUND' | 'DISPUTE';
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

/**
 * A payment that succeeded must be booked, with exactly its amount: the order names it, its entry books it, the payment
 * item guards it. One without the other is a difference too.
 */
export async function comparePayment(ledger: Ledger, payment: ProviderPayment): Promise<Comparison> {
  const { paymentId, status, amountReceivedMinor, currency, livemode, metadata } = payment;
  if (status !== 'succeeded') return SAME;
  const books = await readOrderBooks(ledger, paymentId, orderNamedBy(metadata));
  if (books === 'MOVING') return { kind: 'UNKNOWN' };
  if (books === undefined || livemode !== ledger.provider.livemode) return { kind: 'FOREIGN' };
  const difference = {
    kind: 'PAYMENT',
    providerId: paymentId,
    order: books.ref,
    provider: inMinor(amountReceivedMinor, currency),
  } as const;
  const missing = missingCopies(books, paymentId);
  const { recorded } = books;
  const amount = amountOfMinor(amountReceivedMinor, currency);
  const isAsRecorded =
    recorded === undefined || (recorded.currency === currency && amount?.eq(recorded.amount) === true);
  if (!isAsRecorded) return different(difference, `${recorded.amount.toFixed()} ${recorded.currency}`);
  return missing === undefined ? SAME : different(difference, missing);
}

/** Which of its copies the ledger lacks; undefined where it has all. */
function missingCopies(
  { order, recorded, entries, refunds }: OrderBooks,
  paymentId: string,
): string | undefined {
  const what = order === undefined ? undefined : recordingOf(order, refunds, paymentId);
  const isEntered =
    order === undefined || what === undefined
      ? entries.some(({ providerId }) => providerId === paymentId)
      : missingAmount(order, what, entries).isZero();
  const missing = [
    ...(what === undefined ? ['not in its order'] : []),
    ...(recorded === undefined ? ['no payment item'] : []),
    ...(isEntered ? [] : ['no entry']),
  ];
  if (missing.length === 0) return undefined;
  return missing.length === 3 ? NOT_RECORDED : missing.join(', ');
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
  const isKnown =
    known !== undefined && isPassed(known.state, details.state) && amount?.eq(known.amount) === true;
  if (isKnown && hasEntry(owner, providerRefundId)) return SAME;
  return different(
    {
      kind: 'REFUND',
      providerId: providerRefundId,
      order: owner.ref,
      provider: `${status} ${inMinor(amountMinor, currency)}`,
    },
    known === undefined
      ? NOT_RECORDED
      : `${known.state.toLowerCase()} ${known.amount.toFixed()}${isKnown ? ', no entry' : ''}`,
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
  if (isSame && (status !== 'lost' || known.recorded) && hasEntry(owner, disputeId)) return SAME;
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

type Owner = ({ readonly kind: 'OURS' } & OrderBooks) | Extract<Comparison, { kind: 'FOREIGN' | 'UNKNOWN' }>;

/** The payment item names the order, else the object's metadata, else the payment's own. */
async function ownerOf(ledger: Ledger, paymentId: string, named: OrderRef | undefined): Promise<Owner> {
  let books = await readOrderBooks(ledger, paymentId, named);
  if (books === undefined) {
    const payment = await ledger.provider.retrievePayment(paymentId);
    if (payment.kind === 'REFUSED') return { kind: 'FOREIGN' };
    if (payment.kind !== 'DONE') return { kind: 'UNKNOWN' };
    books = await readOrderBooks(ledger, paymentId, orderNamedBy(payment.value.metadata));
  }
  if (books === undefined) return { kind: 'FOREIGN' };
  return books === 'MOVING' ? { kind: 'UNKNOWN' } : { kind: 'OURS', ...books };
}

/** Whether the entries of what the order itself knows come to what it says. */
function hasEntry({ order, entries, refunds }: OrderBooks, providerId: string): boolean {
  const what = order === undefined ? undefined : recordingOf(order, refunds, providerId);
  return order === undefined || what === undefined || missingAmount(order, what, entries).isZero();
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
