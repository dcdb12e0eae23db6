/** Which requests a rule is for. Left out means any. */
interface RequestMatch {
  readonly method?: string | undefined;
  /** The beginning of the path, such as `/v1/refunds`. */
  readonly path?: string | undefined;
}

/** An answer given in place of the real one. */
export interface InjectedFailure {
  readonly status: number;
  readonly type: 'api_error' | 'card_error' | 'invalid_request_error';
  readonly code?: string | undefined;
  readonly declineCode?: string | undefined;
  readonly message?: string | undefined;
}

/** What happens to the next requests that match. `before` and `after` are seen from the effect. */
export type RequestRule = RequestMatch &
  (
    | {
        readonly kind: 'fail';
        readonly when: 'before' | 'after';
        readonly failure: InjectedFailure;
        /** Whether the request's key is bound to the failure, as Stripe does with a 500 of a request it ran. */
        readonly stored: boolean;
      }
    | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
    /** Keeps the answer back after the effect, for a time or until resumed. The key stays in flight. */
    | { readonly kind: 'delay'; readonly ms: number | undefined }
  );

/** Rules for requests to come, each for a number of requests; the first that matches is taken. */
export interface RequestChaos {
  readonly add: (rule: RequestRule, count: number) => void;
  readonly take: (method: string, path: string) => RequestRule | undefined;
  /** Waits as a delay rule says. */
  readonly wait: (ms: number | undefined) => Promise<void>;
  /** Lets every answer go that is kept back. Gives how many were. */
  readonly resume: () => number;
  /** How many answers are kept back now. */
  readonly waiting: () => number;
  /** Forgets the rules and lets every answer go. */
  readonly clear: () => void;
}

export function createRequestChaos(): RequestChaos {
  let rules: { readonly rule: RequestRule; remaining: number }[] = [];
  const waiting = new Set<() => void>();
  const resume = () => {
    const released = [...waiting];
    for (const release of released) release();
    return released.length;
  };
  return {
    add: (rule, count) => {
      rules.push({ rule, remaining: count });
    },
    take: (method, path) => {
      const found = rules.find(({ rule }) => isFor(rule, method, path));
      if (found === undefined) return undefined;
      found.remaining -= 1;
      rules = rules.filter(({ remaining }) => remaining > 0);
      return found.rule;
    },
    wait: (ms) =>
      new Promise((resolve) => {
        const release = () => {
          clearTimeout(timer);
          waiting.delete(release);
          resolve();
        };
        const timer = ms === undefined ? undefined : setTimeout(release, ms);
        waiting.add(release);
      }),
    resume,
    waiting: () => waiting.size,
    clear: () => {
      rules = [];
      resume();
    },
  };
}

function isFor(rule: RequestMatch, method: string, path: string): boolean {
  return (rule.method === undefined || rule.method === method) && path.startsWith(rule.path ?? '');
}
