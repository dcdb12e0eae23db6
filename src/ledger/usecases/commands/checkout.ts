import { z } from 'zod';
import { mayCheckOut } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { type Tenant, mayReturnTo } from '../../../config/tenants.ts';
import { type SessionTerms, claimAttempt } from '../../model/provider/attempts.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { balanceKey, orderKey } from '../../kernel/keys.ts';
import { hasRoomForAttempt } from '../../model/orders/order-size.ts';
import { allows } from '../../model/orders/order-states.ts';
import { checkOrder, updateOrder } from '../../items/order-writes.ts';
import { type Order, openAttempt } from '../../model/orders/order.ts';
import {
  type Answered,
  CONFLICT,
  type InputIssue,
  NOT_FOUND,
  PROVIDER_UNAVAILABLE,
  type ProviderFailure,
  invalid,
} from '../../model/outcomes.ts';
import type { PlanPart } from '../../items/plan.ts';
import { answerRun, inProgress } from '../provider-calls/resume-request.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { capClaim } from './cap.ts';
import { newLease } from '../provider-calls/complete-claim.ts';
import { type ClaimFailure, type Decision, runGuardedCommand } from '../runtime/guarded-command.ts';
import type { Request } from '../runtime/idempotency.ts';
import { invalidWith, orderRefOf, parseInput } from '../runtime/input.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';
import { notPayable } from '../runtime/outcomes.ts';
import { orderFor } from '../runtime/read-order.ts';
import { refreshAttempts } from '../provider-calls/refresh-attempts.ts';

type CheckoutKind = 'CheckoutSuccess' | 'OrderNotPayable' | 'ProviderRefused';
export type CheckoutOutcome = Answered<CheckoutKind> | ProviderFailure;
type CheckoutDecision = Decision<CheckoutKind, ClaimFailure>;

const inputSchema = z.strictObject({
  orderId: z.string(),
  successUrl: z.string().max(2_048),
  cancelUrl: z.string().max(2_048),
});

/**
 * Opens a payment page for an order of the customer's own. An order has at most one open session: while there is one,
 * another checkout answers it. The order is PAID only when the provider says so.
 */
export async function checkout(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: unknown,
): Promise<CheckoutOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { orderId, successUrl, cancelUrl } = parsed.value;
  const tenant = tenantOf(ledger, viewer.tenant);
  const ref = orderRefOf(viewer.tenant, orderId);
  if (ref === undefined) return NOT_FOUND;
  const run = await runGuardedCommand<CheckoutKind, ClaimFailure>(ledger, viewer, {
    operation: 'checkout',
    key,
    input: { order: ref, successUrl, cancelUrl },
    reads: [orderKey(ref)],
    decide: async ([item], _nowMs, request) => {
      const terms = { successUrl, cancelUrl, paymentMethodTypes: tenant.paymentMethods };
      const found = await ownOrder(ledger, viewer, item);
      if (found === undefined) return { kind: 'ANSWER', failure: NOT_FOUND };
      const issue = returnUrlIssue(tenant, terms);
      if (issue !== undefined) return { kind: 'ANSWER', failure: invalidWith(issue) };
      return decide(ledger, tenant, found, terms, request);
    },
  });
  return answerRun(ledger, run);
}

/** The order as it stands, once whatever was left of earlier attempts is settled; undefined if it isn't the viewer's. */
async function ownOrder(
  ledger: Ledger,
  viewer: Viewer,
  item: StoredItem | undefined,
): Promise<Order | undefined> {
  const order = orderFor(viewer, item, mayCheckOut);
  return order === undefined ? undefined : refreshAttempts(ledger, order);
}

/** Judged with what changes in time, after the idempotency record: a list that has changed since must not break a replay. */
export function returnUrlIssue(
  tenant: Tenant,
  urls: Pick<SessionTerms, 'successUrl' | 'cancelUrl'>,
): InputIssue | undefined {
  const wrong = (['successUrl', 'cancelUrl'] as const).find((name) => !mayReturnTo(tenant, urls[name]));
  if (wrong === undefined) return undefined;
  return { path: [wrong], code: 'url_not_allowed', message: 'not on the list of allowed return URLs' };
}

async function decide(
  ledger: Ledger,
  tenant: Tenant,
  order: Order,
  terms: SessionTerms,
  request: Request,
): Promise<CheckoutDecision> {
  const nowMs = ledger.clock.nowMs();
  const { accountId, orderId, state } = order;
  const current = openAttempt(order);
  if (current?.lease !== undefined) return { kind: 'ANSWER', failure: inProgress(current.lease, nowMs) };
  if (current !== undefined && state === 'SESSION_CREATED') {
    // Still open though its time is over: the provider couldn't be asked.
    if (current.expiresAtMs <= nowMs) return { kind: 'ANSWER', failure: PROVIDER_UNAVAILABLE };
    return {
      kind: 'COMMIT',
      parts: [checkOrder(order)],
      outcome: { kind: 'CheckoutSuccess', accountId, orderId },
    };
  }
  if (!allows('SESSION_MADE', state)) return { kind: 'REFUSE', outcome: notPayable(order) };
  // Whatever the state says: an order has at most one page that can be paid.
  if (current !== undefined) return { kind: 'ANSWER', failure: CONFLICT };
  if (!hasRoomForAttempt(order)) {
    const failure = invalid(['orderId'], 'too_many_attempts', 'the order has as many attempts as one can');
    return { kind: 'ANSWER', failure };
  }
  const room = await roomFor(ledger, tenant, order);
  if (room === 'NONE') return { kind: 'REFUSE', outcome: notPayable(order) };
  const lease = newLease(ledger, request, nowMs);
  const claimed = claimAttempt(order, terms, lease, nowMs, ledger.metadataSeal.seal);
  return {
    kind: 'CLAIM',
    parts: [updateOrder(order, claimed, ledger.settings), ...room],
    order: claimed,
    lease,
  };
}

/** The cap binds a card top-up whenever it is claimed, also when its order is checked out anew. */
async function roomFor(
  ledger: Ledger,
  { assets }: Tenant,
  { tenant, accountId, asset = '', amount }: Order,
): Promise<readonly PlanPart[] | 'NONE'> {
  const rule = assets.get(asset);
  if (rule?.cap === undefined) return [];
  const [balance] = await ledger.store.get([balanceKey({ tenant, accountId, asset })]);
  const capped = capClaim(rule, { tenant, accountId }, amount, balanceOf(balance));
  return capped.kind === 'REFUSE' ? 'NONE' : capped.parts;
}
