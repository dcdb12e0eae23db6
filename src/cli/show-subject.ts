import { isId, isTenantId, isUlid } from '../ledger/kernel/id-grammar.ts';
import type { AccountRef, OrderRef } from '../ledger/kernel/keys.ts';
import { decodeNodeId } from '../ledger/items/node-ids.ts';
import { UsageError } from './command-line.ts';

/** What `npm run show` is asked about. */
export type Subject =
  | { readonly kind: 'ORDER'; readonly ref: OrderRef }
  | { readonly kind: 'ACCOUNT'; readonly ref: AccountRef }
  /** A payment, session, refund or dispute of the provider's. */
  | { readonly kind: 'PROVIDER'; readonly id: string }
  | { readonly kind: 'EVENT'; readonly id: string };

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
    throw new UsageError(`"${text}" is no order, payment, session, refund, dispute, event or account.`);
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
    case 'Step':
      return { kind: 'ORDER', ref: { tenant: first, accountId, orderId } };
    case 'Wallet':
    case 'Balance':
    case 'Entry':
      return { kind: 'ACCOUNT', ref: { tenant: first, accountId } };
    case 'WebhookEvent':
      return { kind: 'EVENT', id: accountId };
    case 'Merchant':
    case 'Product':
    case undefined:
      return undefined;
  }
}
