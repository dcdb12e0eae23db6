import { GraphQLError } from 'graphql';
import type { Repeater } from 'graphql-yoga';
import { mayManageMerchant, mayPerform, maySeeHistory, maySeeOrder } from '../auth/permissions.ts';
import type { Viewer } from '../auth/viewer.ts';
import { isId } from '../ledger/kernel/id-grammar.ts';
import type { EntryRef, OrderRef } from '../ledger/kernel/keys.ts';
import { nodeParts } from '../ledger/items/node-ids.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import { type Bus, type Heard, topics } from './bus/bus.ts';
import type { LiveSources, Supply, SupplyControls } from './live-sources.ts';
import type { OrderFeeds, TransitionEvent } from './order-feeds.ts';

/** What the subscription fields get their events from. */
export interface Realtime {
  readonly bus: Bus;
  readonly orders: OrderFeeds;
  readonly sources: LiveSources;
  /** A consistent read. */
  readonly readOrder: (ref: OrderRef) => Promise<Order | undefined>;
  /** How many notices a slow subscriber of a live feed may fall behind. */
  readonly maxBacklog: number;
}

/** An entry on its way to a subscriber: the same object for all who get it. */
export interface EntryEvent {
  readonly entry: EntryRef;
}

export type Source<Event> = Repeater<Event, undefined>;

/**
 * `orderTransitions(orderId:, afterVersion:)`: the transitions of one order above a version, in order, then live ones; no gap,
 * no duplicate (docs/DESIGN.md §9). It stays open in every state, since a paid order may yet be refunded. Access is checked
 * here and for every event, on the order as just read. Ends at the token's expiry.
 *
 * Throws BAD_REQUEST for a version below 0; FORBIDDEN alike for an id that is malformed, unknown or someone else's;
 * RATE_LIMITED for one subscription too many.
 */
export async function orderTransitionSource(
  realtime: Realtime,
  viewer: Viewer,
  { orderId, afterVersion }: { readonly orderId: string; readonly afterVersion: number },
): Promise<Source<TransitionEvent>> {
  if (afterVersion < 0) {
    throw new GraphQLError('afterVersion is 0 or more.', { extensions: { code: 'BAD_REQUEST' } });
  }
  const [accountId, id] = nodeParts('Order', viewer.tenant, orderId) ?? [];
  const order =
    accountId === undefined || id === undefined
      ? undefined
      : await realtime.readOrder({ tenant: viewer.tenant, accountId, orderId: id });
  if (order === undefined || !maySeeOrder(viewer, order)) throw forbidden();
  assertRoom(realtime, viewer);
  return realtime.sources.open(viewer, ({ wake, end }) => {
    const watch = realtime.orders.watch(order, wake);
    let version = afterVersion;
    return {
      take: () => {
        if (!maySeeOrder(viewer, watch.order())) {
          end();
          return undefined;
        }
        const event = watch.next(version);
        version = event?.transition.version ?? version;
        return event;
      },
      close: watch.leave,
    };
  });
}

/**
 * `merchantOrders(merchantId:)`: live transitions of a merchant's orders. Throws FORBIDDEN for whoever doesn't manage the
 * merchant. It ends when it can't vouch for what it has sent (the bus may have missed something, or its client is too slow):
 * then the client subscribes again and refetches what it shows.
 */
export function merchantOrdersSource(
  realtime: Realtime,
  viewer: Viewer,
  { merchantId }: { readonly merchantId: string },
): Source<TransitionEvent> {
  const mayWatch = (): boolean =>
    isId(merchantId) &&
    mayPerform(viewer.role, 'WATCH_MERCHANT_ORDERS') &&
    mayManageMerchant(viewer, viewer.tenant, merchantId);
  if (!mayWatch()) throw forbidden();
  assertRoom(realtime, viewer);
  return liveFeed(realtime, viewer, topics.merchantOrders(viewer.tenant, merchantId), (heard) =>
    heard.kind === 'transition' && heard.merchantId === merchantId && mayWatch()
      ? eventOf(heard, () => ({ ref: heard.order, transition: heard.transition }))
      : undefined,
  );
}

/** `walletEntries(accountId:)`: live entries of one account, for its customer or an admin. Otherwise as `merchantOrders`. */
export function walletEntriesSource(
  realtime: Realtime,
  viewer: Viewer,
  { accountId }: { readonly accountId: string },
): Source<EntryEvent> {
  const mayWatch = (): boolean =>
    isId(accountId) &&
    mayPerform(viewer.role, 'WATCH_WALLET_ENTRIES') &&
    maySeeHistory(viewer, viewer.tenant, accountId);
  if (!mayWatch()) throw forbidden();
  assertRoom(realtime, viewer);
  return liveFeed(realtime, viewer, topics.walletEntries(viewer.tenant, accountId), (heard) =>
    heard.kind === 'entry' && heard.entry.accountId === accountId && mayWatch() ? heard : undefined,
  );
}

/** Hands on what is heard of a topic. Its backlog is bounded: past that it ends, as it does on a gap. */
function liveFeed<Event>(
  { bus, sources, maxBacklog }: Realtime,
  viewer: Viewer,
  topic: string,
  toEvent: (heard: Heard) => Event | undefined,
): Source<Event> {
  return sources.open(viewer, ({ wake, end }: SupplyControls): Supply<Event> => {
    const backlog: Event[] = [];
    const subscribed = bus.subscribe(topic, (heard) => {
      if (heard.kind === 'gap' || backlog.length >= maxBacklog) {
        end();
        return;
      }
      const event = toEvent(heard);
      if (event === undefined) return;
      backlog.push(event);
      wake();
    });
    return {
      take: () => backlog.shift(),
      close: () => {
        void subscribed.then((unsubscribe) => {
          unsubscribe();
        });
      },
    };
  });
}

/** One event object a notice, whoever hears it: what is shared hangs on its identity. */
const events = new WeakMap<Heard, TransitionEvent>();

function eventOf(heard: Heard, make: () => TransitionEvent): TransitionEvent {
  const event = events.get(heard) ?? make();
  events.set(heard, event);
  return event;
}

function assertRoom({ sources }: Realtime, viewer: Viewer): void {
  if (sources.hasRoomFor(viewer)) return;
  throw new GraphQLError('Too many subscriptions.', { extensions: { code: 'RATE_LIMITED' } });
}

function forbidden(): GraphQLError {
  return new GraphQLError('You may not watch this.', { extensions: { code: 'FORBIDDEN' } });
}
