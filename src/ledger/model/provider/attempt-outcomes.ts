import { move, note, touch } from '../orders/order-changes.ts';
import { allows, isPaid } from '../orders/order-states.ts';
import type { Attempt, Order, PaymentPage } from '../orders/order.ts';
import { furtherSteps } from '../orders/payments.ts';
import { type AttemptDetails, isCurrent, hasNewDetails, withDetails } from './attempt-ownership.ts';
import {
  type OrderUpdate,
  type UpdateDecision,
  type DecisionContext,
  transitionDetails,
  stale,
} from './update-decision.ts';

/** How an attempt that has not been paid goes, for now or for good. */
export type AttemptOutcome =
  | { readonly kind: 'WAITING'; readonly voucher?: PaymentPage | undefined }
  /** A try that the customer may repeat; `reopens`: on its session's page, which showed a payment under way. */
  | {
      readonly kind: 'DECLINED';
      readonly declineCode?: string | undefined;
      readonly reopens?: boolean | undefined;
    }
  | { readonly kind: 'FAILED'; readonly reason?: string | undefined }
  | { readonly kind: 'EXPIRED'; readonly reason?: string | undefined };

/**
 * What an attempt's fate does to its order. Only the current attempt's counts; what came before it, or after the money,
 * is stale. The order of arrival doesn't matter: the state's rank decides (docs/DESIGN.md §8).
 */
export function applyAttemptOutcome(
  order: Order,
  attempt: Attempt,
  outcome: AttemptOutcome,
  details: AttemptDetails,
  context: DecisionContext,
): UpdateDecision {
  if (isPaid(order.state))
    return recordAttemptDetails(order, attempt, details, context) ?? stale('the order is paid');
  if (!isCurrent(order, attempt))
    return recordAttemptDetails(order, attempt, details, context) ?? stale('of an earlier attempt');
  const attempts = withDetails(order, attempt, details);
  switch (outcome.kind) {
    case 'WAITING':
      return wait(order, attempt, outcome.voucher, details, context);
    case 'DECLINED':
      if (!isAwaitingPayment(order)) break;
      return changed(order, declined(order, outcome, attempts, context));
    case 'FAILED':
      if (!allows('PAYMENT_FAILED', order.state)) break;
      return changed(
        order,
        move(
          order,
          'PAYMENT_FAILED',
          'FAILED',
          transitionDetails('PAYMENT_FAILED', context, outcome.reason),
          {
            attempts,
            voucher: undefined,
            steps: stepsAfter('failed', order, context),
          },
        ),
      );
    case 'EXPIRED':
      if (!allows('SESSION_EXPIRED', order.state)) break;
      return changed(
        order,
        move(
          order,
          'SESSION_EXPIRED',
          'EXPIRED',
          transitionDetails('SESSION_EXPIRED', context, outcome.reason),
          { attempts, voucher: undefined, steps: stepsAfter('expired', order, context) },
        ),
      );
  }
  return recordAttemptDetails(order, attempt, details, context) ?? stale(`the order is ${order.state}`);
}

function stepsAfter(
  kind: 'failed' | 'expired',
  order: Order,
  { atMs, stepNames }: DecisionContext,
): Order['steps'] {
  return [...order.steps, ...furtherSteps(order, stepNames({ kind, atMs }, order), atMs)];
}

function declined(
  order: Order,
  { declineCode, reopens = false }: Extract<AttemptOutcome, { readonly kind: 'DECLINED' }>,
  attempts: readonly Attempt[],
  context: DecisionContext,
): Order {
  const what = transitionDetails('PAYMENT_DECLINED', context, declineCode);
  if (!reopens || !allows('PAYMENT_DECLINED', order.state)) return note(order, what, { attempts });
  return move(order, 'PAYMENT_DECLINED', 'SESSION_CREATED', what, { attempts, voucher: undefined });
}

function wait(
  order: Order,
  attempt: Attempt,
  voucher: PaymentPage | undefined,
  details: AttemptDetails,
  context: DecisionContext,
): UpdateDecision {
  const patch = {
    attempts: withDetails(order, attempt, details),
    ...(voucher === undefined ? {} : { voucher }),
  };
  if (allows('PAYMENT_WAITING', order.state)) {
    const what = transitionDetails('PAYMENT_PROCESSING', context);
    return changed(order, move(order, 'PAYMENT_WAITING', 'PENDING_PAYMENT', what, patch));
  }
  const isNewVoucher = voucher !== undefined && order.voucher?.url !== voucher.url;
  if (order.state === 'PENDING_PAYMENT' && isNewVoucher)
    return changed(order, touch(order, context.atMs, patch));
  return recordAttemptDetails(order, attempt, details, context) ?? stale(`the order is ${order.state}`);
}

function isAwaitingPayment({ state }: Order): boolean {
  return state === 'SESSION_CREATED' || state === 'PENDING_PAYMENT';
}

/** Writes down what is learnt of an attempt though it moves nothing: its payment, its session's end. */
export function recordAttemptDetails(
  order: Order,
  attempt: Attempt,
  details: AttemptDetails,
  { atMs }: DecisionContext,
): OrderUpdate | undefined {
  if (!hasNewDetails(attempt, details)) return undefined;
  return changed(order, touch(order, atMs, { attempts: withDetails(order, attempt, details) }));
}

function changed(before: Order, after: Order): OrderUpdate {
  return { kind: 'CHANGE', before, after };
}
