import type { ExecutionResult } from 'graphql';
import { type Plugin, isAsyncIterable } from 'graphql-yoga';
import type { Logger } from '../observability/logger.ts';
import type { RequestContext } from '../schema/context.ts';
import { publicError } from './public-error.ts';

export interface MaskOptions {
  readonly log: Logger;
  readonly suggestions: boolean;
}

/** Shows clients the public form of every error, over HTTP and on sockets: of single results and of each event of a stream. */
export function maskErrors(options: MaskOptions): Plugin<RequestContext, RequestContext> {
  const mask = (result: ExecutionResult, { requestId }: RequestContext): ExecutionResult =>
    result.errors === undefined
      ? result
      : { ...result, errors: result.errors.map((error) => publicError(error, { ...options, requestId })) };
  return {
    onExecute: ({ args: { contextValue } }) => ({
      onExecuteDone: ({ result, setResult }) => {
        if (!isAsyncIterable(result)) setResult(mask(result, contextValue));
      },
    }),
    onSubscribe: ({ args: { contextValue } }) => ({
      onSubscribeError: ({ error, setError }) => {
        setError(publicError(error, { ...options, requestId: contextValue.requestId }));
      },
      onSubscribeResult: (payload) => {
        const { result } = payload;
        // Where no stream begins, its errors are a result.
        if (!isAsyncIterable(result)) payload.setResult(mask(result, contextValue));
        return {
          onNext: (next) => {
            if (!isAsyncIterable(next.result)) next.setResult(mask(next.result, contextValue));
          },
        };
      },
    }),
    // What never came to be executed, such as a body that Yoga couldn't read: HTTP alone has that.
    onResultProcess: (payload) => {
      const { result, serverContext } = payload;
      if (!Array.isArray(result) && !isAsyncIterable(result)) payload.setResult(mask(result, serverContext));
    },
  };
}
