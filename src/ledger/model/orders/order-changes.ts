import { cutText } from '../../kernel/text.ts';
import type { OrderTrigger } from './order-states.ts';
import { allows } from './order-states.ts';
import {
  type Order,
  type Transition,
  type TransitionCause,
  awaitsOverpaymentRefund,
  openAttempt,
} from './order.ts';
import { MAX_BYTES_BEFORE_TRANSITION, isFull, orderBytes } from './order-size.ts';
import type { OrderState } from './order-states.ts';

/** Past this many listed transitions, or once the order is full, notes raise `rev` alone and are counted. */
export const MAX_LISTED_TRANSITIONS = 300;
export const MAX_LINES = 99;

export interface TransitionDetails {
  readonly cause: TransitionCause;
  readonly actor: string;
  readonly atMs: number;
  readonly detail?: string | undefined;
}

/** What a change may set beside the state: everything but identity and bookkeeping. */
export type OrderPatch = Partial<
  Omit<Order, 'tenant' | 'accountId' | 'orderId' | 'state' | 'version' | 'rev' | 'timeline' | 'updatedAtMs'>
>;

/**
 * Moves an order along an edge of the table and lists the transition.
 * Throws RangeError for an edge that the table doesn't have: deciding comes first, so that is a bug.
 */
export function move(
  order: Order,
  trigger: OrderTrigger,
  to: OrderState,
  what: TransitionDetails,
  patch: OrderPatch = {},
): Order {
  if (!allows(trigger, order.state, to))
    throw new RangeError(`no edge ${trigger} from ${order.state} to ${to}`);
  return listed({ ...order, ...patch, state: to }, order.state, what);
}

/** Lists a change that leaves the state: of refunds, disputes, steps, attempts. */
export function note(order: Order, what: TransitionDetails, patch: OrderPatch = {}): Order {
  if (order.timeline.length >= MAX_LISTED_TRANSITIONS || isFull(order)) {
    return touch(order, what.atMs, { ...patch, unlistedNotes: order.unlistedNotes + 1 });
  }
  return listed({ ...order, ...patch }, order.state, what);
}

/** Changes what clients don't see: a lease, a payment id, the time of a check. Raises `rev` alone. */
export function touch(order: Order, atMs: number, patch: OrderPatch): Order {
  return settled({ ...order, ...patch, rev: order.rev + 1, updatedAtMs: atMs });
}

/** The transitions that `after` lists and `before` doesn't. */
export function newTransitions(before: Order | undefined, after: Order): readonly Transition[] {
  const seen = before?.version ?? 0;
  return after.timeline.filter((transition) => transition.version > seen);
}

function listed(order: Order, from: OrderState, { cause, actor, atMs, detail }: TransitionDetails): Order {
  const version = order.version + 1;
  const transition: Transition = {
    version,
    from,
    to: order.state,
    cause,
    actor,
    atMs,
    ...(detail === undefined ? {} : { detail: cutText(detail, 200) }),
  };
  const after: Order = {
    ...order,
    version,
    rev: order.rev + 1,
    timeline: [...order.timeline, transition],
    updatedAtMs: atMs,
  };
  const bytes = orderBytes(order);
  return settled(bytes < MAX_BYTES_BEFORE_TRANSITION ? after : withoutEarlier(after, bytes));
}

/**
 * Lets the newest transition take the place of earlier ones, which are only counted from then on: notes first, then
 * states that are long past, each time the oldest. How the order began stays, and so does what is new: it must reach
 * whoever listens.
 * @param mostBytes what the order may take afterwards
 */
function withoutEarlier(order: Order, mostBytes: number): Order {
  const past = order.timeline.slice(1, -1);
  const isNote = ({ from, to }: Transition): boolean => from === to;
  const oldest = past.find(isNote) ?? past[0];
  if (oldest === undefined || orderBytes(order) <= mostBytes) return order;
  const timeline = order.timeline.filter((transition) => transition !== oldest);
  return withoutEarlier({ ...order, timeline, unlistedNotes: order.unlistedNotes + 1 }, mostBytes);
}

/** Forgets when the provider was last asked once nothing waits for it any more. */
function settled(order: Order): Order {
  return isWaitingForProvider(order) ? order : { ...order, checks: undefined };
}

/** Whether the order waits for something that only the provider knows: a session, a payment, a refund, a dispute. */
export function isWaitingForProvider(order: Order): boolean {
  return (
    order.state === 'PENDING_PAYMENT' ||
    openAttempt(order)?.state === 'OPEN' ||
    order.pendingRefundCount > order.refundClaims.length ||
    order.overpayments.some(awaitsOverpaymentRefund) ||
    order.disputes.some((dispute) => dispute.status === 'open')
  );
}
