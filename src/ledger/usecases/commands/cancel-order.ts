import { z } from 'zod';
import { mayCancel } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { closedAttempts, providerKey } from '../../model/provider/attempts.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { orderKey } from '../../kernel/keys.ts';
import { move } from '../../model/orders/order-changes.ts';
import { allows } from '../../model/orders/order-states.ts';
import { updateOrder } from '../../items/order-writes.ts';
import { type Attempt, type Order, hasClaimedAttempt } from '../../model/orders/order.ts';
import { furtherSteps } from '../../model/orders/payments.ts';
import {
  type Answered,
  CONFLICT,
  NOT_FOUND,
  PROVIDER_UNAVAILABLE,
  type ProviderFailure,
  type Stored,
} from '../../model/outcomes.ts';
import { askAboutSession, readAgain } from '../provider-calls/ask-provider.ts';
import { refreshAttempts } from '../provider-calls/refresh-attempts.ts';
import { type ClaimFailure, type Decision, runGuardedCommand } from '../runtime/guarded-command.ts';
import { orderRefOf, parseInput } from '../runtime/input.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { orderFor } from '../runtime/read-order.ts';

type CancelKind = 'CancelOrderSuccess' | 'OrderNotCancelable';
export type CancelOrderOutcome = Answered<CancelKind> | ProviderFailure;
type CancelDecision = Decision<CancelKind, ClaimFailure>;

const inputSchema = z.strictObject({ orderId: z.string() });

/**
 * Closes an unpaid order. An open session is expired at the provider first, so that nobody can pay what is canceled;
 * money that arrives all the same wins, visibly (docs/DESIGN.md §7).
 */
export async function cancelOrder(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: unknown,
): Promise<CancelOrderOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const ref = orderRefOf(viewer.tenant, parsed.value.orderId);
  if (ref === undefined) return NOT_FOUND;
  const run = await runGuardedCommand<CancelKind, ClaimFailure>(ledger, viewer, {
    operation: 'cancelOrder',
    key,
    input: { order: ref },
    reads: [orderKey(ref)],
    decide: ([item]) => decide(ledger, viewer, item),
  });
  return run.kind === 'ANSWERED' ? run.answer : CONFLICT;
}

async function decide(ledger: Ledger, viewer: Viewer, item: StoredItem | undefined): Promise<CancelDecision> {
  const found = orderFor(viewer, item, mayCancel);
  if (found === undefined) return { kind: 'ANSWER', failure: NOT_FOUND };
  const order = await refreshAttempts(ledger, found);
  if (hasClaimedAttempt(order)) return { kind: 'ANSWER', failure: CONFLICT };
  if (!allows('CANCEL', order.state)) return { kind: 'REFUSE', outcome: notCancelable(order) };
  for (const attempt of order.attempts.filter((one) => one.state === 'OPEN')) {
    const stays = await endSession(ledger, order, attempt);
    if (stays !== undefined) return stays;
  }

  const { accountId, orderId } = order;
  const atMs = ledger.clock.nowMs();
  const stepNames = ledger.followUps({ kind: 'canceled', atMs }, order);
  const what = { cause: 'CANCELED', actor: viewer.subject, atMs } as const;
  const canceled = move(order, 'CANCEL', 'CANCELED', what, {
    attempts: closedAttempts(order),
    steps: [...order.steps, ...furtherSteps(order, stepNames, atMs)],
  });
  return {
    kind: 'COMMIT',
    parts: [updateOrder(order, canceled, ledger.settings)],
    outcome: { kind: 'CancelOrderSuccess', accountId, orderId },
  };
}

/** Expires an open attempt's session at the provider. Undefined once nobody can pay it; else why the order stays. */
async function endSession(
  ledger: Ledger,
  order: Order,
  attempt: Attempt,
): Promise<CancelDecision | undefined> {
  if (attempt.sessionId === undefined) return undefined;
  // An expiry is safe to repeat, so each state of the order has its own key: no stored failure stands in the way.
  const key = providerKey(order, 'expire', String(attempt.number), order.rev);
  const expired = await ledger.provider.expireSession(attempt.sessionId, key);
  switch (expired.kind) {
    case 'DONE':
      return undefined;
    case 'REFUSED':
      return alreadyComplete(ledger, order, attempt);
    case 'UNAVAILABLE':
    case 'UNKNOWN':
      return { kind: 'ANSWER', failure: PROVIDER_UNAVAILABLE };
  }
}

/** Complete: the customer has paid, or holds a voucher, or its payment failed. The order follows what the provider says. */
async function alreadyComplete(ledger: Ledger, order: Order, attempt: Attempt): Promise<CancelDecision> {
  const asked = await askAboutSession(ledger, order, attempt);
  if (asked !== 'KNOWN') return { kind: 'ANSWER', failure: PROVIDER_UNAVAILABLE };
  const current = await readAgain(ledger, order);
  const mayTryAgain = current.state !== order.state && allows('CANCEL', current.state);
  return mayTryAgain
    ? { kind: 'ANSWER', failure: CONFLICT }
    : { kind: 'REFUSE', outcome: notCancelable(current) };
}

function notCancelable({ accountId, orderId, state }: Order): Stored<'OrderNotCancelable'> {
  return { kind: 'OrderNotCancelable', accountId, orderId, state };
}
