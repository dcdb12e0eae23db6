import type { ProviderMetadata, ProviderResult } from '../../../provider/port.ts';
import { type OrderRef, type ProposalRef, eventKey, paymentKey, proposalKey } from '../../kernel/keys.ts';
import { type EventRecord, readEventRecord, readRecordedPayment } from '../../items/event-item.ts';
import { readProposal } from '../../items/proposal-item.ts';
import type { Proposal } from '../../model/proposal.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';
import { orderNamedBy } from '../provider-updates/provider-update.ts';

/** Which order a name of the provider's leads to. UNKNOWN: the provider would have to say, and couldn't be asked. */
export type FoundOrder =
  | { readonly kind: 'FOUND'; readonly ref: OrderRef }
  | { readonly kind: 'NONE' }
  | { readonly kind: 'UNKNOWN' };

/**
 * The order of a payment, session, refund or dispute (`pi_…`, `cs_…`, `re_…`, `dp_…`), whatever its tenant: for operators
 * alone. The payment item names it; of what isn't booked the provider's own metadata does, so that no scan is needed.
 * Throws TableUnavailableError.
 */
export async function findOrderOf(ledger: Ledger, providerId: string): Promise<FoundOrder> {
  const [payment] = await ledger.store.get([paymentKey(providerId)]);
  if (payment !== undefined) return found(readRecordedPayment(payment));
  const { provider } = ledger;
  const [prefix = ''] = providerId.split('_');
  switch (prefix) {
    case 'cs':
      return byMetadata(await provider.retrieveSession(providerId));
    case 're':
    case 'pyr':
      return byPaymentOf(ledger, await provider.retrieveRefund(providerId));
    case 'dp':
    case 'du':
      return byPaymentOf(ledger, await provider.retrieveDispute(providerId));
    default:
      return byMetadata(await provider.retrievePayment(providerId));
  }
}

function found({ tenant, accountId, orderId }: OrderRef): FoundOrder {
  return { kind: 'FOUND', ref: { tenant, accountId, orderId } };
}

function byMetadata(asked: ProviderResult<{ readonly metadata: ProviderMetadata }>): FoundOrder {
  if (asked.kind !== 'DONE') return { kind: asked.kind === 'REFUSED' ? 'NONE' : 'UNKNOWN' };
  const ref = orderNamedBy(asked.value.metadata);
  return ref === undefined ? { kind: 'NONE' } : found(ref);
}

/** Whose a refund or a dispute is its payment says: one made in the dashboard names nothing of ours. */
async function byPaymentOf(
  ledger: Ledger,
  asked: ProviderResult<{ readonly paymentId: string }>,
): Promise<FoundOrder> {
  if (asked.kind !== 'DONE') return { kind: asked.kind === 'REFUSED' ? 'NONE' : 'UNKNOWN' };
  return findOrderOf(ledger, asked.value.paymentId);
}

/** What is kept of an event, whatever its tenant: for operators alone. Undefined if it never came, or long ago. */
export async function findEvent(ledger: Ledger, eventId: string): Promise<EventRecord | undefined> {
  const [item] = await ledger.store.get([eventKey(eventId)]);
  return item === undefined ? undefined : readEventRecord(item);
}

/** A proposal, whatever its tenant: for operators alone. Undefined if there is none. */
export function findProposal(ledger: Ledger, ref: ProposalRef): Promise<Proposal | undefined> {
  return readItem(ledger, proposalKey(ref), readProposal);
}
