/** What every platform has in some form: localStorage, AsyncStorage, a file, SQLite. It must survive the app's restart. */
export interface Storage {
  readonly getItem: (name: string) => Promise<string | null>;
  readonly setItem: (name: string, value: string) => Promise<void>;
  readonly removeItem: (name: string) => Promise<void>;
}

/** The idempotency keys of what the user has decided and nobody knows the end of yet. */
export interface KeptKeys {
  /** The key of an intent: the one that is kept, or a new one, kept before it's returned. */
  readonly keyFor: (intent: string) => Promise<string>;
  /** The intent is settled: its next time is another one, by the user's own decision. */
  readonly settle: (intent: string) => Promise<void>;
}

/**
 * One key an intent ("pay order 123"), made once and written down before the first request leaves. Whatever happens then - a
 * lost answer, a crash, a restart - the same intent asks with the same key, and the gateway answers what it answered before.
 */
export function createKeptKeys(storage: Storage, newKey: () => string = () => crypto.randomUUID()): KeptKeys {
  const nameOf = (intent: string): string => `hitotsu-key:${intent}`;
  return {
    keyFor: async (intent) => {
      const kept = await storage.getItem(nameOf(intent));
      if (kept !== null) return kept;
      const key = newKey();
      await storage.setItem(nameOf(intent), key);
      return key;
    },
    settle: (intent) => storage.removeItem(nameOf(intent)),
  };
}
