import type { Bus, Listener } from './bus.ts';

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
