import type { ProviderMetadata, ProviderResult } from '../../stripe/port.ts';
import { type OrderRef, eventKey, paymentKey } from '../keys.ts';
import { type EventRecord, readEventRecord, readPaymentBooking } from '../provider/event-item.ts';
import type { Ledger } from './ledger.ts';
import { orderNamedBy } from './settle-fact.ts';

/** Which order a name of the provider's leads to. UNKNOWN: the provider would have to say, and couldn't be asked. */
export type FoundOrder =
  | { readonly kind: 'FOUND'; readonly ref: OrderRef }
  | { readonly kind: 'NONE' }
  | { readonly kind: 'UNKNOWN' };

/**
 * The order of a payment or session (`pi_…`, `cs_…`), whatever its tenant: for operators alone. The payment item names it;
 * of what isn't booked the provider's own metadata does, so that no scan is needed. Throws TableUnavailableError.
 */
export async function findOrderOf(ledger: Ledger, providerId: string): Promise<FoundOrder> {
  const [item] = await ledger.store.get([paymentKey(providerId)]);
  if (item !== undefined) {
    const { tenant, accountId, orderId } = readPaymentBooking(item);
    return { kind: 'FOUND', ref: { tenant, accountId, orderId } };
  }
  const { provider } = ledger;
  const asked: ProviderResult<{ readonly metadata: ProviderMetadata }> = providerId.startsWith('cs_')
    ? await provider.retrieveSession(providerId)
    : await provider.retrievePayment(providerId);
  if (asked.kind === 'REFUSED') return { kind: 'NONE' };
  if (asked.kind !== 'DONE') return { kind: 'UNKNOWN' };
  const ref = orderNamedBy(asked.value.metadata);
  return ref === undefined ? { kind: 'NONE' } : { kind: 'FOUND', ref };
}

/** What is kept of an event, whatever its tenant: for operators alone. Undefined if it never came, or long ago. */
export async function findEvent(ledger: Ledger, eventId: string): Promise<EventRecord | undefined> {
  const [item] = await ledger.store.get([eventKey(eventId)]);
  return item === undefined ? undefined : readEventRecord(item);
}
