import { isId, isTenantId, isUlid } from '../ledger/kernel/id-grammar.ts';
import type { AccountRef, OrderRef, ProposalRef } from '../ledger/kernel/keys.ts';
import { decodeNodeId } from '../ledger/items/node-ids.ts';
import { findEvent, findOrderOf, findProposal } from '../ledger/usecases/queries/find-order.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { LATEST, readWholeAccount, readWholeOrder } from '../ledger/usecases/queries/read-account.ts';
import { readHistory } from '../migrations/history.ts';
import { UsageError } from './command-line.ts';
import { type Shown, foundEvent, foundProposal, wholeAccountData, wholeOrderData } from './show-data.ts';

/** What `npm run show` is asked about. */
export type Subject =
  | { readonly kind: 'ORDER'; readonly ref: OrderRef }
  | { readonly kind: 'ACCOUNT'; readonly ref: AccountRef }
  /** A payment, session, refund or dispute of the provider's. */
  | { readonly kind: 'PROVIDER'; readonly id: string }
  | { readonly kind: 'EVENT'; readonly id: string }
  | { readonly kind: 'PROPOSAL'; readonly ref: ProposalRef };

/** `demo#alice`, `demo#alice 01M8…`; also with the slash of the provider's metadata, or as an audit names the item. */
const ACCOUNT = /^([^#\s]+)#([^#\s/]+)(?:[#\s/](?:ORDER#)?(\S+))?$/;

/** Reads what it is asked about, in any form in which logs, reports, Stripe or clients name it. Throws UsageError. */
export function readSubject(words: readonly string[]): Subject {
  const text = words.join(' ');
  if (text === '') throw new UsageError('Say what to show.');
  if (/^evt_\w+$/.test(text)) return { kind: 'EVENT', id: text };
  if (/^(pi|cs|re|pyr|dp|du)_\w+$/.test(text)) return { kind: 'PROVIDER', id: text };
  if (isUlid(text)) throw new UsageError(`An order's ULID needs its account before it: demo#alice ${text}.`);
  const subject = bySpelledKey(text) ?? byNodeId(text);
  if (subject === undefined)
    throw new UsageError(
      `"${text}" is no order, payment, session, refund, dispute, event, proposal or account.`,
    );
  return subject;
}

function bySpelledKey(text: string): Subject | undefined {
  const [, tenant = '', accountId = '', orderId] = ACCOUNT.exec(text) ?? [];
  if (!isTenantId(tenant) || !isId(accountId)) return undefined;
  if (orderId === undefined) return { kind: 'ACCOUNT', ref: { tenant, accountId } };
  return isUlid(orderId) ? { kind: 'ORDER', ref: { tenant, accountId, orderId } } : undefined;
}

function byNodeId(text: string): Subject | undefined {
  const node = decodeNodeId(text);
  const [first = '', accountId = '', orderId = ''] = node?.parts ?? [];
  switch (node?.kind) {
    case 'Order':
    case 'Refund':
    case 'Dispute':
    case 'Step':
      return { kind: 'ORDER', ref: { tenant: first, accountId, orderId } };
    case 'Wallet':
    case 'Balance':
    case 'Entry':
      return { kind: 'ACCOUNT', ref: { tenant: first, accountId } };
    case 'Proposal':
      return { kind: 'PROPOSAL', ref: { tenant: first, accountId, proposalId: orderId } };
    case 'WebhookEvent':
      return { kind: 'EVENT', id: accountId };
    case 'Merchant':
    case 'Product':
    case undefined:
      return undefined;
  }
}

/** What was found, or a sentence that says what there isn't. Throws if the table or the provider could not be reached. */
export async function look(ledger: Ledger, subject: Subject): Promise<Shown | string> {
  switch (subject.kind) {
    case 'ORDER':
      return lookAtOrder(ledger, subject.ref);
    case 'ACCOUNT':
      return lookAtAccount(ledger, subject.ref);
    case 'EVENT':
      return lookAtEvent(ledger, subject.id);
    case 'PROPOSAL':
      return lookAtProposal(ledger, subject.ref);
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

async function lookAtProposal(ledger: Ledger, ref: ProposalRef): Promise<Shown | string> {
  const proposal = await findProposal(ledger, ref);
  if (proposal === undefined) return 'There is no such proposal.';
  return foundProposal(proposal, ledger.clock.nowMs());
}

function noTenant(tenant: string): string {
  return `TENANTS_FILE has no tenant ${tenant}.`;
}
