import { type Viewer, tillOf } from '../../../auth/viewer.ts';
import type { AssetRule, Tenant } from '../../../config/tenants.ts';
import { recordEntry } from '../../items/entry-writes.ts';
import { putOrder } from '../../items/order-writes.ts';
import { type Currency, currency } from '../../kernel/currencies.ts';
import type { Decimal } from '../../kernel/money.ts';
import { type Entry, ledgerAccount, postings } from '../../model/entries/entry.ts';
import type { Order } from '../../model/orders/order.ts';
import { openOrder, payOrder } from '../../model/orders/payments.ts';
import { paymentPosting } from '../../model/orders/postings.ts';
import { claimAttempt } from '../../model/provider/attempts.ts';
import { newLease } from '../provider-calls/complete-claim.ts';
import type { ClaimFailure, Decision } from '../runtime/guarded-command.ts';
import type { Request } from '../runtime/idempotency.ts';
import { invalidWith } from '../runtime/input.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { capClaim, capCredit } from './cap.ts';
import { returnUrlIssue } from './checkout.ts';

export type TopUpKind = 'TopUpSuccess' | 'CapExceeded' | 'ProviderRefused';
type TopUpDecision = Decision<TopUpKind, ClaimFailure>;

/** By what the tenant sells an asset. */
export interface TopUpTerms {
  readonly rule: AssetRule;
  /** What is paid in, one to one. */
  readonly unit: Currency;
}

/** The terms of today; undefined where the asset can't be bought. */
export function topUpTerms({ assets }: Tenant, asset: string): TopUpTerms | undefined {
  const rule = assets.get(asset);
  return rule?.pays === undefined ? undefined : { rule, unit: currency(rule.pays) };
}

/** A top-up that may be made, of this much, with what was read for it. */
export interface TopUpToMake {
  readonly viewer: Viewer;
  readonly tenant: Tenant;
  readonly terms: TopUpTerms;
  /** Whose wallet it is. */
  readonly accountId: string;
  readonly amount: Decimal;
  /** What the wallet holds of the asset. */
  readonly balance: Decimal;
  readonly request: Request;
  readonly nowMs: number;
}

/** Cash at a terminal: the order opens PAID and the wallet is credited, all at once, within the cap. */
export function cashTopUp(ledger: Ledger, toMake: TopUpToMake): TopUpDecision {
  const { viewer, terms, accountId, amount, balance, nowMs } = toMake;
  const till = tillOf(viewer);
  if (till === undefined) throw new RangeError('only a till takes cash');
  const capped = capCredit(terms.rule, amount, balance);
  if (capped.kind === 'REFUSE') return capped;
  const opened = openTopUp(ledger, toMake);
  const order = payOrder(
    opened,
    'CASH',
    { method: 'CASH', atMs: nowMs, terminalId: till },
    ledger.followUps({ kind: 'paid' }, opened),
    { cause: 'CASH_RECEIVED', actor: viewer.subject, atMs: nowMs },
  );
  const entry: Entry = {
    tenant: viewer.tenant,
    accountId,
    entryId: ledger.ids.ulid(nowMs),
    operation: 'TOP_UP',
    postings: postings(paymentPosting(order, ledgerAccount.cash(till))),
    orderId: order.orderId,
    actor: viewer.subject,
    atMs: nowMs,
  };
  const { asset } = terms.rule;
  return {
    kind: 'COMMIT',
    parts: [putOrder(order, ledger.settings), recordEntry(entry, capped.guards)],
    outcome: { kind: 'TopUpSuccess', accountId, orderId: order.orderId, asset, entryId: entry.entryId },
    whenRefused: capped.whenRefused,
  };
}

/**
 * Opens a payment page for value of the customer's own wallet. The cap binds here; when the provider confirms, the
 * wallet is credited without one, since money that has arrived is never stranded (docs/DESIGN.md §4).
 */
export function cardTopUp(
  ledger: Ledger,
  toMake: TopUpToMake,
  urls: { readonly successUrl: string; readonly cancelUrl: string },
): TopUpDecision {
  const { viewer, tenant, terms, accountId, amount, balance, request, nowMs } = toMake;
  const issue = returnUrlIssue(tenant, urls);
  if (issue !== undefined) return { kind: 'ANSWER', failure: invalidWith(issue) };
  const capped = capClaim(terms.rule, { tenant: viewer.tenant, accountId }, amount, balance);
  if (capped.kind === 'REFUSE') return capped;
  const lease = newLease(ledger, request, nowMs);
  const page = { ...urls, paymentMethodTypes: tenant.paymentMethods };
  const order = claimAttempt(openTopUp(ledger, toMake), page, lease, nowMs, ledger.metadataSeal.seal);
  return {
    kind: 'CLAIM',
    parts: [putOrder(order, ledger.settings), ...capped.parts],
    order,
    lease,
    whenRefused: capped.whenRefused,
  };
}

/** The order of a top-up, with nothing paid yet. */
function openTopUp(ledger: Ledger, { viewer, terms, accountId, amount, nowMs }: TopUpToMake): Order {
  return openOrder({
    tenant: viewer.tenant,
    accountId,
    orderId: ledger.ids.ulid(nowMs),
    kind: 'TOP_UP',
    currency: terms.unit.code,
    amount,
    asset: terms.rule.asset,
    lines: [],
    actor: viewer.subject,
    consented: false,
    hasMetadata: false,
    atMs: nowMs,
  });
}
