import { type ExecutionArgs, type ExecutionResult, createSourceEventStream, execute, print } from 'graphql';
import type { Viewer } from '../auth/viewer.ts';

type ResultStream = AsyncGenerator<ExecutionResult, undefined>;
type Subscribe = (args: ExecutionArgs) => Promise<ResultStream | ExecutionResult>;

/**
 * Whoever has the same scope sees the same of one event. Merchants' users and admins share: no rule tells two of them apart by
 * their subject. Customers and terminals don't: their subject is what they see by (docs/DESIGN.md §11).
 */
export function accessScope({ tenant, role, merchantId, subject }: Viewer): string {
  const own = role === 'CUSTOMER' || role === 'TERMINAL' ? subject : null;
  return JSON.stringify([tenant, role, merchantId ?? null, own]);
}

/**
 * GraphQL's `subscribe`, but an event is executed once for all who get it with the same document, operation, variables and access
 * scope. Never by the document alone: two customers with one text would see each other's orders (FIELD-CASES C58).
 *
 * Sources give the same event object to all their subscribers; results hang on it, and go when it goes. `scopeOf` tells the scope
 * from a context; undefined shares nothing.
 */
export function createSharedSubscribe(scopeOf: (contextValue: unknown) => string | undefined): Subscribe {
  const resultsOf = new WeakMap<object, Map<string, Promise<ExecutionResult>>>();

  function executeShared(
    args: ExecutionArgs,
    key: string | undefined,
    event: unknown,
  ): Promise<ExecutionResult> {
    const run = async (): Promise<ExecutionResult> => await execute({ ...args, rootValue: event });
    if (key === undefined || typeof event !== 'object' || event === null) return run();
    const results = resultsOf.get(event) ?? new Map<string, Promise<ExecutionResult>>();
    resultsOf.set(event, results);
    const result = results.get(key) ?? run();
    results.set(key, result);
    return result;
  }

  return async (args) => {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return source;
    const scope = scopeOf(args.contextValue);
    const key = scope === undefined ? undefined : selectionKey(args, scope);
    const events = source[Symbol.asyncIterator]();
    return mapped(events, (event) => executeShared(args, key, event), signalOf(args));
  };
}

function selectionKey({ document, operationName, variableValues }: ExecutionArgs, scope: string): string {
  const text = document.loc?.source.body ?? print(document);
  return JSON.stringify([scope, text, operationName ?? null, variableValues ?? null]);
}

/** Yoga hands the request's signal along with the arguments. */
function signalOf(args: ExecutionArgs): AbortSignal | undefined {
  return 'signal' in args && args.signal instanceof AbortSignal ? args.signal : undefined;
}

/**
 * Not an async generator: one that is parked on a promise hears of `return()` only when the promise settles, and a source whose
 * client has gone would be held for ever.
 */
function mapped(
  events: AsyncIterator<unknown>,
  toResult: (event: unknown) => Promise<ExecutionResult>,
  signal: AbortSignal | undefined,
): ResultStream {
  const close = async (): Promise<IteratorReturnResult<undefined>> => {
    signal?.removeEventListener('abort', onAbort);
    await events.return?.();
    return { done: true, value: undefined };
  };
  const onAbort = (): void => void close();
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const stream: ResultStream = {
    next: async () => {
      const event = await events.next();
      if (event.done === true) return await close();
      return { done: false, value: await toResult(event.value) };
    },
    return: close,
    throw: async (error: unknown) => {
      await close();
      throw error;
    },
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}
