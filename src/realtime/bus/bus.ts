import type { EntryRef, OrderRef } from '../../ledger/kernel/keys.ts';
import type { Transition } from '../../ledger/model/orders/order.ts';

/** What is told after a commit. It is a hint: whoever needs certainty reads the table (docs/DESIGN.md §9). */
export type Notice =
  | {
      readonly kind: 'transition';
      readonly order: OrderRef;
      readonly merchantId?: string;
      readonly transition: Transition;
    }
  | { readonly kind: 'entry'; readonly entry: EntryRef };

/** `gap`: notices of this topic may have been missed, and later ones will be heard again. Never published, only heard. */
export type Heard = Notice | { readonly kind: 'gap' };

export type Listener = (heard: Heard) => void;

/** Whether what is published now is heard everywhere. `degraded`: subscribers fall back on reading the table. */
export type BusStatus = 'ready' | 'degraded';

/** Carries notices from whoever committed to whoever listens, in one process or in many. */
export interface Bus {
  /** Never throws and never waits: a bus that is down must not stop a payment. */
  readonly publish: (topic: string, notice: Notice) => void;
  /**
   * Resolves once every later notice will be heard, so that "subscribe, then read" leaves no gap. A bus that is down resolves
   * at once, never rejects, and tells of a `gap` when it is back.
   */
  readonly subscribe: (topic: string, listener: Listener) => Promise<Unsubscribe>;
  readonly status: () => BusStatus;
}

export type Unsubscribe = () => void;

/** Topic names begin with the tenant, so that no subject of one can be heard by another. */
export const topics = {
  order: ({ tenant, accountId, orderId }: OrderRef) => `${tenant}#order#${accountId}#${orderId}`,
  merchantOrders: (tenant: string, merchantId: string) => `${tenant}#merchant#${merchantId}`,
  walletEntries: (tenant: string, accountId: string) => `${tenant}#wallet#${accountId}`,
} as const;

/** Tells all who may listen of a transition that is in the table. */
export function tellOfTransition(
  bus: Bus,
  { tenant, accountId, orderId, merchantId }: OrderRef & { readonly merchantId?: string },
  transition: Transition,
): void {
  const order = { tenant, accountId, orderId };
  const merchant = merchantId === undefined ? {} : { merchantId };
  const notice = { kind: 'transition', order, transition, ...merchant } as const;
  bus.publish(topics.order(order), notice);
  if (merchantId !== undefined) bus.publish(topics.merchantOrders(tenant, merchantId), notice);
}

/** Tells all who may listen of an entry that is in the table. */
export function tellOfEntry(bus: Bus, { tenant, accountId, entryId }: EntryRef): void {
  const entry = { tenant, accountId, entryId };
  bus.publish(topics.walletEntries(tenant, accountId), { kind: 'entry', entry });
}
