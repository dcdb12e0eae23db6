import type { EntryRef, OrderRef } from '../../ledger/kernel/keys.ts';
import type { Transition } from '../../ledger/model/orders/order.ts';

/** What was just committed. Only a hint: whoever needs certainty reads the table (docs/DESIGN.md §9). */
export type Notice =
  | {
      readonly kind: 'transition';
      readonly order: OrderRef;
      readonly merchantId?: string;
      readonly transition: Transition;
    }
  | { readonly kind: 'entry'; readonly entry: EntryRef };

/** What a listener gets. `gap`: notices of its topic may be missing; later ones will come again. Nobody publishes a gap. */
export type Heard = Notice | { readonly kind: 'gap' };

export type Listener = (heard: Heard) => void;

/** `ready`: what is published now reaches every process. `degraded`: subscribers fall back on reading the table. */
export type BusStatus = 'ready' | 'degraded';

/** Carries notices from committers to listeners, within one process or between many. */
export interface Bus {
  /** Never throws and never waits: a bus that is down must not stop a payment. */
  readonly publish: (topic: string, notice: Notice) => void;
  /**
   * Resolves once every later notice will be delivered, so that "subscribe, then read" leaves no gap. Never rejects. A bus that
   * is down resolves at once, and delivers a `gap` when it is back.
   */
  readonly subscribe: (topic: string, listener: Listener) => Promise<Unsubscribe>;
  readonly status: () => BusStatus;
}

export type Unsubscribe = () => void;

/** Topic names begin with the tenant, so that no tenant can listen to another's. */
export const topics = {
  order: ({ tenant, accountId, orderId }: OrderRef) => `${tenant}#order#${accountId}#${orderId}`,
  merchantOrders: (tenant: string, merchantId: string) => `${tenant}#merchant#${merchantId}`,
  walletEntries: (tenant: string, accountId: string) => `${tenant}#wallet#${accountId}`,
} as const;

/** Publishes a committed transition on its order's topic, and on its merchant's if it has one. */
export function publishTransition(
  bus: Bus,
  { tenant, accountId, orderId, merchantId }: OrderRef & { readonly merchantId?: string },
  transition: Transition,
): void {
  const order = { tenant, accountId, orderId };
  const notice = {
    kind: 'transition',
    order,
    transition,
    ...(merchantId !== undefined && { merchantId }),
  } as const;
  bus.publish(topics.order(order), notice);
  if (merchantId !== undefined) bus.publish(topics.merchantOrders(tenant, merchantId), notice);
}

/** Publishes a committed entry on its wallet's topic. */
export function publishEntry(bus: Bus, { tenant, accountId, entryId }: EntryRef): void {
  const entry = { tenant, accountId, entryId };
  bus.publish(topics.walletEntries(tenant, accountId), { kind: 'entry', entry });
}

/** The bus of a single process. */
export function createInProcessBus(): Bus {
  const listeners = new Map<string, Set<Listener>>();
  return {
    publish: (topic, notice) => {
      for (const listener of [...(listeners.get(topic) ?? [])]) listener(notice);
    },
    subscribe: (topic, listener) => {
      const own = listeners.get(topic) ?? new Set<Listener>();
      listeners.set(topic, own);
      own.add(listener);
      return Promise.resolve(() => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(topic) === own) listeners.delete(topic);
      });
    },
    status: () => 'ready',
  };
}

/** The same bus, which also calls `onTransition` once for every transition that this process publishes. It must not throw or wait. */
export function observedBus(bus: Bus, onTransition: (order: OrderRef, transition: Transition) => void): Bus {
  return {
    ...bus,
    publish: (topic, notice) => {
      bus.publish(topic, notice);
      // A transition goes out on several topics; its order's is always one of them.
      if (notice.kind === 'transition' && topic === topics.order(notice.order))
        onTransition(notice.order, notice.transition);
    },
  };
}
