import type { AccountRef, OrderRef } from '../ledger/kernel/keys.ts';
import { findEvent, findOrderOf } from '../ledger/usecases/queries/find-order.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { LATEST, readWholeAccount, readWholeOrder } from '../ledger/usecases/queries/read-account.ts';
import { readHistory } from '../migrations/history.ts';
import { type Shown, foundEvent, wholeAccountData, wholeOrderData } from './show-data.ts';
import type { Subject } from './show-subject.ts';

/** What there is, or a sentence that says what there isn't. Throws if the table or the provider could not be asked. */
export async function look(ledger: Ledger, subject: Subject): Promise<Shown | string> {
  switch (subject.kind) {
    case 'ORDER':
      return lookAtOrder(ledger, subject.ref);
    case 'ACCOUNT':
      return lookAtAccount(ledger, subject.ref);
    case 'EVENT':
      return lookAtEvent(ledger, subject.id);
    case 'PROVIDER': {
      const found = await findOrderOf(ledger, subject.id);
      if (found.kind === 'UNKNOWN') throw new Error('Stripe could not be asked whose it is: try again.');
      if (found.kind === 'NONE') return `${subject.id} is of no order of ours.`;
      return lookAtOrder(ledger, found.ref);
    }
  }
}

async function lookAtOrder(ledger: Ledger, ref: OrderRef): Promise<Shown | string> {
  const { tenant, accountId, orderId } = ref;
  if (!ledger.tenants.has(tenant)) return noTenant(tenant);
  const whole = await readWholeOrder(ledger, ref);
  return whole === undefined ? `${tenant}#${accountId} has no order ${orderId}.` : wholeOrderData(whole);
}

async function lookAtAccount(ledger: Ledger, ref: AccountRef): Promise<Shown | string> {
  if (!ledger.tenants.has(ref.tenant)) return noTenant(ref.tenant);
  const [whole, movements] = await Promise.all([
    readWholeAccount(ledger, ref),
    readHistory(ledger.store, ref, { limit: LATEST }),
  ]);
  return wholeAccountData(ref, whole, movements);
}

async function lookAtEvent(ledger: Ledger, eventId: string): Promise<Shown | string> {
  const event = await findEvent(ledger, eventId);
  if (event === undefined) return `No event ${eventId} came here, or its thirty days are over.`;
  const about = event.order === undefined ? {} : await lookAtOrder(ledger, event.order);
  return { ...foundEvent(event), ...(typeof about === 'string' ? {} : about) };
}

function noTenant(tenant: string): string {
  return `TENANTS_FILE has no tenant ${tenant}.`;
}
