import { move, note, touch } from '../orders/order-changes.ts';
import { allows, isPaid } from '../orders/order-states.ts';
import type { Attempt, Order, PaymentPage } from '../orders/order.ts';
import { type AttemptNews, isCurrent, isNews, withNews } from './provider-attempts.ts';
import { type Change, type FactDecision, type Occasion, happening, stale } from './provider-facts.ts';

/** How an attempt that has not been paid goes, for now or for good. */
export type AttemptFate =
  | { readonly kind: 'WAITING'; readonly slip?: PaymentPage | undefined }
  /** A try that the customer may repeat. */
  | { readonly kind: 'DECLINED'; readonly declineCode?: string | undefined }
  | { readonly kind: 'FAILED'; readonly reason?: string | undefined }
  | { readonly kind: 'EXPIRED' };

/**
 * What an attempt's fate does to its order. Only the current attempt's counts; what came before it, or after the money,
 * is stale. The order of arrival doesn't matter: the state's rank decides (docs/DESIGN.md §8).
 */
export function suffer(
  order: Order,
  attempt: Attempt,
  fate: AttemptFate,
  news: AttemptNews,
  occasion: Occasion,
): FactDecision {
  if (isPaid(order.state)) return learn(order, attempt, news, occasion) ?? stale('the order is paid');
  if (!isCurrent(order, attempt))
    return learn(order, attempt, news, occasion) ?? stale('of an earlier attempt');
  const attempts = withNews(order, attempt, news);
  switch (fate.kind) {
    case 'WAITING':
      return wait(order, attempt, fate.slip, news, occasion);
    case 'DECLINED':
      if (!isAwaitingPayment(order)) break;
      return changed(
        order,
        note(order, happening('PAYMENT_DECLINED', occasion, fate.declineCode), { attempts }),
      );
    case 'FAILED':
      if (!allows('PAYMENT_FAILED', order.state)) break;
      return changed(
        order,
        move(order, 'PAYMENT_FAILED', 'FAILED', happening('PAYMENT_FAILED', occasion, fate.reason), {
          attempts,
          slip: undefined,
        }),
      );
    case 'EXPIRED':
      if (!allows('SESSION_EXPIRED', order.state)) break;
      return changed(
        order,
        move(order, 'SESSION_EXPIRED', 'EXPIRED', happening('SESSION_EXPIRED', occasion), {
          attempts,
          slip: undefined,
        }),
      );
  }
  return learn(order, attempt, news, occasion) ?? stale(`the order is ${order.state}`);
}

function wait(
  order: Order,
  attempt: Attempt,
  slip: PaymentPage | undefined,
  news: AttemptNews,
  occasion: Occasion,
): FactDecision {
  const patch = {
    attempts: withNews(order, attempt, news),
    ...(slip === undefined ? {} : { slip }),
  };
  if (allows('PAYMENT_WAITING', order.state)) {
    const what = happening('PAYMENT_PROCESSING', occasion);
    return changed(order, move(order, 'PAYMENT_WAITING', 'PENDING_PAYMENT', what, patch));
  }
  const isNewSlip = slip !== undefined && order.slip?.url !== slip.url;
  if (order.state === 'PENDING_PAYMENT' && isNewSlip)
    return changed(order, touch(order, occasion.atMs, patch));
  return learn(order, attempt, news, occasion) ?? stale(`the order is ${order.state}`);
}

function isAwaitingPayment({ state }: Order): boolean {
  return state === 'SESSION_CREATED' || state === 'PENDING_PAYMENT';
}

/** Writes down what is learnt of an attempt though it moves nothing: its payment, its session's end. */
export function learn(
  order: Order,
  attempt: Attempt,
  news: AttemptNews,
  { atMs }: Occasion,
): Change | undefined {
  if (!isNews(attempt, news)) return undefined;
  return changed(order, touch(order, atMs, { attempts: withNews(order, attempt, news) }));
}

function changed(before: Order, after: Order): Change {
  return { kind: 'CHANGE', before, after };
}
