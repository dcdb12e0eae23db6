import type { OrderRef } from '../../ledger/kernel/keys.ts';
import type { Transition } from '../../ledger/model/orders/order.ts';
import { type Bus, topics } from './bus.ts';

/** Told of a transition that this process has committed. Must not throw, and not wait. */
export type OnTransition = (order: OrderRef, transition: Transition) => void;

/** The same bus, which also tells the process itself of every transition that it publishes: once, whoever else listens. */
export function tappedBus(bus: Bus, onTransition: OnTransition): Bus {
  return {
    ...bus,
    publish: (topic, notice) => {
      bus.publish(topic, notice);
      // It goes out on several topics, of which its order's is always one.
      if (notice.kind === 'transition' && topic === topics.order(notice.order))
        onTransition(notice.order, notice.transition);
    },
  };
}
