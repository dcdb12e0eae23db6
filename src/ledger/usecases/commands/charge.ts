import { z } from 'zod';
import { maySeeOrder } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import type { Tenant } from '../../../config/tenants.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { recordEntry } from '../../items/entry-writes.ts';
import { type Entry, postings } from '../../model/entries/entry.ts';
import { orderKey } from '../../kernel/keys.ts';
import { chargePosting } from '../../model/orders/postings.ts';
import { allows } from '../../model/orders/order-states.ts';
import { updateOrder } from '../../items/order-writes.ts';
import { type Order, hasClaimedAttempt, openAttempt } from '../../model/orders/order.ts';
import { type Answered, CONFLICT, type LedgerFailure, NOT_FOUND, invalid } from '../../model/outcomes.ts';
import { payOrder } from '../../model/orders/payments.ts';
import { type RewardRates, rewardFor, rewardPostings } from '../../model/orders/rewards.ts';
import { type Decision, runLedgerCommand } from '../runtime/guarded-command.ts';
import { assetText, orderRefOf, parseInput } from '../runtime/input.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';
import { UNKNOWN_ASSET, notPayable, whenInsufficient } from '../runtime/outcomes.ts';
import { orderFor } from '../runtime/read-order.ts';

type ChargeKind = 'ChargeSuccess' | 'InsufficientBalance' | 'OrderNotPayable';
export type ChargeOutcome = Answered<ChargeKind> | LedgerFailure;

const inputSchema = z.strictObject({ orderId: z.string(), asset: assetText.default('ECOPAY') });

/**
 * Pays a purchase from a wallet balance: one transaction, at once PAID. The customer charges its own orders; a terminal
 * only those that were opened with the customer's payment code.
 */
export async function charge(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: unknown,
): Promise<ChargeOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { orderId, asset } = parsed.value;
  const tenant = tenantOf(ledger, viewer.tenant);
  const ref = orderRefOf(viewer.tenant, orderId);
  if (ref === undefined) return NOT_FOUND;
  return runLedgerCommand<ChargeKind>(ledger, viewer, {
    operation: 'charge',
    key,
    input: { order: ref, asset },
    reads: [orderKey(ref)],
    decide: ([item], nowMs) => decide(ledger, viewer, tenant, asset, item, nowMs),
  });
}

function decide(
  ledger: Ledger,
  viewer: Viewer,
  tenant: Tenant,
  asset: string,
  item: StoredItem | undefined,
  nowMs: number,
): Decision<ChargeKind> {
  // Judged after the idempotency record: an asset that has gone since must not break a replay.
  if (!tenant.assets.has(asset)) return { kind: 'ANSWER', failure: UNKNOWN_ASSET };
  const order = orderFor(viewer, item, maySeeOrder);
  if (order === undefined) return { kind: 'ANSWER', failure: NOT_FOUND };
  const issue = objection(viewer, tenant, asset, order);
  if (issue !== undefined) return { kind: 'ANSWER', failure: issue };
  if (hasClaimedAttempt(order)) return { kind: 'ANSWER', failure: CONFLICT };
  if (!allows('WALLET_CHARGE', order.state)) return { kind: 'REFUSE', outcome: notPayable(order) };
  // Whatever the state says: beside a page that can be paid nothing else pays.
  if (openAttempt(order) !== undefined) return { kind: 'ANSWER', failure: CONFLICT };

  const { paid, entry } = pay(ledger, viewer, tenant, asset, order, nowMs);
  return {
    kind: 'COMMIT',
    parts: [updateOrder(order, paid, ledger.settings), recordEntry(entry)],
    outcome: {
      kind: 'ChargeSuccess',
      accountId: order.accountId,
      orderId: order.orderId,
      entryId: entry.entryId,
      asset,
    },
    whenRefused: whenInsufficient(tenant, asset, order.amount),
  };
}

/** What is wrong with the request rather than with the order's state: no money was ever in question. */
function objection(viewer: Viewer, tenant: Tenant, asset: string, order: Order): LedgerFailure | undefined {
  if (viewer.role === 'TERMINAL' && !order.consented) {
    return invalid(['orderId'], 'consent_required', 'a terminal charges only what a payment code opened');
  }
  if (order.kind !== 'PURCHASE') return invalid(['orderId'], 'not_a_purchase', 'a top-up is not charged');
  if (tenant.assets.get(asset)?.pays !== order.currency) {
    return invalid(['asset'], 'wrong_asset', `does not pay for orders in ${order.currency}`);
  }
  return undefined;
}

function pay(
  ledger: Ledger,
  viewer: Viewer,
  tenant: Tenant,
  asset: string,
  order: Order,
  nowMs: number,
): { readonly paid: Order; readonly entry: Entry } {
  const rates = rewardRates(tenant);
  const reward = rates === undefined ? undefined : rewardFor(order.amount, rates);
  const entry: Entry = {
    tenant: order.tenant,
    accountId: order.accountId,
    entryId: ledger.ids.ulid(nowMs),
    operation: 'CHARGE',
    postings: postings(
      chargePosting(order, asset),
      ...(reward === undefined ? [] : rewardPostings(order.accountId, order.amount, reward)),
    ),
    orderId: order.orderId,
    actor: viewer.subject,
    atMs: nowMs,
  };
  const paid = payOrder(
    order,
    'WALLET_CHARGE',
    { method: 'WALLET', atMs: nowMs, asset, ...reward },
    ledger.followUps({ kind: 'paid' }, order),
    { cause: 'WALLET_CHARGED', actor: viewer.subject, atMs: nowMs },
  );
  return { paid, entry };
}

/** What a charge earns by the tenant's file; undefined where it gives nothing at all. */
export function rewardRates({ rewards, assets }: Tenant): RewardRates | undefined {
  if (rewards.pointRate === undefined && rewards.co2KgRate === undefined) return undefined;
  return { ...rewards, pointScale: assets.get('POINT')?.scale ?? 0 };
}
