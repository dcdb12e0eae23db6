import { type ExecutionArgs, type ExecutionResult, createSourceEventStream, execute, print } from 'graphql';
import type { Viewer } from '../auth/viewer.ts';

type ResultStream = AsyncGenerator<ExecutionResult, undefined>;
type Subscribe = (args: ExecutionArgs) => Promise<ResultStream | ExecutionResult>;

/**
 * Viewers with the same scope see the same of one event. A merchant's users share a scope, and so do admins: no rule depends on
 * their subject. For customers and terminals it decides what they see, so it is part of theirs (docs/DESIGN.md §11).
 */
export function accessScope({ tenant, role, merchantId, subject }: Viewer): string {
  const own = role === 'CUSTOMER' || role === 'TERMINAL' ? subject : null;
  return JSON.stringify([tenant, role, merchantId ?? null, own]);
}

/**
 * GraphQL's `subscribe`, except that an event is executed once for all subscribers with the same document, operation, variables
 * and access scope. Never by the document alone: two customers with one text would see each other's orders (FIELD-CASES C58).
 *
 * Sources give the same event object to all their subscribers. Results are kept with that object, and go when it goes.
 * @param scopeOf the access scope of a context; undefined shares nothing
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
    // Yoga adds the request's signal to the arguments.
    const signal = 'signal' in args && args.signal instanceof AbortSignal ? args.signal : undefined;
    return mapped(events, (event) => executeShared(args, key, event), signal);
  };
}

function selectionKey({ document, operationName, variableValues }: ExecutionArgs, scope: string): string {
  const text = document.loc?.source.body ?? print(document);
  return JSON.stringify([scope, text, operationName ?? null, variableValues ?? null]);
}

/**
 * Not an async generator: one that waits for a promise handles `return()` only after the promise settles. A source whose client
 * has gone would never be released.
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
