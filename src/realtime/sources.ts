import { GraphQLError } from 'graphql';
import type { Repeater } from 'graphql-yoga';
import { mayManageMerchant, mayPerform, maySeeHistory, maySeeOrder } from '../auth/permissions.ts';
import type { Viewer } from '../auth/viewer.ts';
import { isId } from '../ledger/kernel/id-grammar.ts';
import type { EntryRef, OrderRef } from '../ledger/kernel/keys.ts';
import { nodeParts } from '../ledger/items/node-ids.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import { type Bus, type Heard, topics } from './bus/bus.ts';
import { type LiveSources, type LiveSourcesOptions, createLiveSources } from './live-sources.ts';
import {
  type OrderFeeds,
  type OrderFeedsOptions,
  type TransitionEvent,
  createOrderFeeds,
} from './order-feeds.ts';

/** What the subscription fields need. */
export interface Realtime {
  readonly bus: Bus;
  readonly orders: OrderFeeds;
  readonly sources: LiveSources;
  /** A consistent read: access is judged on its result. */
  readonly readOrder: (ref: OrderRef) => Promise<Order | undefined>;
  /** How many notices a slow subscriber of a live feed may fall behind. */
  readonly maxBacklog: number;
}

export interface RealtimeSettings {
  readonly maxSubscriptionsPerPrincipal: number;
  /** How often a watched order is read again without a notice, on average. */
  readonly rereadMs: number;
  readonly maxBacklog: number;
}

const DEFAULTS: RealtimeSettings = {
  maxSubscriptionsPerPrincipal: 200,
  rereadMs: 20_000,
  maxBacklog: 1_000,
};

/** Makes the sources of subscriptions, once for the process: its limits and gauges count what the process serves. */
export function createRealtime(
  options: Omit<OrderFeedsOptions, 'rereadMs'> & Omit<LiveSourcesOptions, 'maxPerPrincipal'>,
  settings: Partial<RealtimeSettings> = {},
): Realtime {
  const {
    maxSubscriptionsPerPrincipal: maxPerPrincipal,
    rereadMs,
    maxBacklog,
  } = { ...DEFAULTS, ...settings };
  return {
    bus: options.bus,
    readOrder: options.readOrder,
    maxBacklog,
    sources: createLiveSources({ ...options, maxPerPrincipal }),
    orders: createOrderFeeds({ ...options, rereadMs }),
  };
}

/** An entry for subscribers. All of them get the same object. */
export interface EntryEvent {
  readonly entry: EntryRef;
}

export type Source<Event> = Repeater<Event, undefined>;

/**
 * `orderTransitions(orderId:, afterVersion:)`: the transitions of one order above a version, in order, then live ones; no gap,
 * no duplicate (docs/DESIGN.md §9). It stays open in every state, since a paid order may yet be refunded. Access is checked
 * now and for every event, on the order as last read. It ends when the token expires.
 *
 * Throws BAD_REQUEST for a version below 0; FORBIDDEN alike for an id that is malformed, unknown or someone else's;
 * RATE_LIMITED for one subscription too many.
 */
export async function orderTransitionSource(
  realtime: Realtime,
  viewer: Viewer,
  { orderId, afterVersion }: { readonly orderId: string; readonly afterVersion: number },
): Promise<Source<TransitionEvent>> {
  if (afterVersion < 0) throw refusal('BAD_REQUEST', 'afterVersion is 0 or more.');
  const [accountId, id] = nodeParts('Order', viewer.tenant, orderId) ?? [];
  const order =
    accountId === undefined || id === undefined
      ? undefined
      : await realtime.readOrder({ tenant: viewer.tenant, accountId, orderId: id });
  if (order === undefined) throw forbidden();
  assertMayOpen(realtime, viewer, maySeeOrder(viewer, order));
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
 * `merchantOrders(merchantId:)`: live transitions of a merchant's orders. Throws FORBIDDEN for a viewer who doesn't manage the
 * merchant, RATE_LIMITED for one subscription too many. It ends when an event may be missing (the bus had a gap, or the client
 * is too slow): the client then subscribes again and refetches what it shows.
 */
export function merchantOrdersSource(
  realtime: Realtime,
  viewer: Viewer,
  { merchantId }: { readonly merchantId: string },
): Source<TransitionEvent> {
  return liveFeed(realtime, viewer, topics.merchantOrders(viewer.tenant, merchantId), {
    mayWatch: () =>
      isId(merchantId) &&
      mayPerform(viewer.role, 'WATCH_MERCHANT_ORDERS') &&
      mayManageMerchant(viewer, viewer.tenant, merchantId),
    toEvent: (heard) =>
      heard.kind === 'transition' && heard.merchantId === merchantId ? transitionEvent(heard) : undefined,
  });
}

/** `walletEntries(accountId:)`: live entries of one account, for its customer or an admin. Otherwise like `merchantOrders`. */
export function walletEntriesSource(
  realtime: Realtime,
  viewer: Viewer,
  { accountId }: { readonly accountId: string },
): Source<EntryEvent> {
  return liveFeed(realtime, viewer, topics.walletEntries(viewer.tenant, accountId), {
    mayWatch: () =>
      isId(accountId) &&
      mayPerform(viewer.role, 'WATCH_WALLET_ENTRIES') &&
      maySeeHistory(viewer, viewer.tenant, accountId),
    toEvent: (heard) => (heard.kind === 'entry' && heard.entry.accountId === accountId ? heard : undefined),
  });
}

interface FeedRules<Event> {
  /** Asked at the start and for every event. */
  readonly mayWatch: () => boolean;
  readonly toEvent: (heard: Heard) => Event | undefined;
}

/** Passes on what a topic delivers. Its backlog is bounded: beyond the bound it ends, as it does on a gap. */
function liveFeed<Event>(
  realtime: Realtime,
  viewer: Viewer,
  topic: string,
  { mayWatch, toEvent }: FeedRules<Event>,
): Source<Event> {
  assertMayOpen(realtime, viewer, mayWatch());
  return realtime.sources.open<Event>(viewer, ({ wake, end }) => {
    const backlog: Event[] = [];
    const subscribed = realtime.bus.subscribe(topic, (heard) => {
      if (heard.kind === 'gap' || backlog.length >= realtime.maxBacklog) {
        end();
        return;
      }
      const event = mayWatch() ? toEvent(heard) : undefined;
      if (event === undefined) return;
      backlog.push(event);
      wake();
    });
    const close = async (): Promise<void> => {
      (await subscribed)();
    };
    return { take: () => backlog.shift(), close: () => void close() };
  });
}

const transitionEvents = new WeakMap<Heard, TransitionEvent>();

/** One event object per notice, whoever gets it: shared results hang on its identity. */
function transitionEvent(notice: Extract<Heard, { readonly kind: 'transition' }>): TransitionEvent {
  const event = transitionEvents.get(notice) ?? { ref: notice.order, transition: notice.transition };
  transitionEvents.set(notice, event);
  return event;
}

function assertMayOpen({ sources }: Realtime, viewer: Viewer, mayWatch: boolean): void {
  if (!mayWatch) throw forbidden();
  if (!sources.hasRoomFor(viewer)) throw refusal('RATE_LIMITED', 'Too many subscriptions.');
}

function forbidden(): GraphQLError {
  return refusal('FORBIDDEN', 'You may not watch this.');
}

function refusal(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
