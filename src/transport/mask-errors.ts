import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Logger } from '../observability/logger.ts';
import type { RequestContext } from '../schema/context.ts';
import { publicError } from './public-error.ts';

export interface MaskOptions {
  readonly log: Logger;
  readonly suggestions: boolean;
}

/** Shows clients the public form of every error, of single results and of each event of a stream. */
export function maskErrors(options: MaskOptions): Plugin<RequestContext, RequestContext> {
  return {
    // Where every answer passes, also that to a body that Yoga couldn't read.
    onResultProcess: (payload) => {
      const { result, serverContext } = payload;
      if (!Array.isArray(result) && 'errors' in result)
        payload.setResult(masked(result, serverContext.requestId, options));
    },
    onSubscribe: ({ args: { contextValue } }) => ({
      onSubscribeError: ({ error, setError }) => {
        setError(publicError(error, { ...options, requestId: contextValue.requestId }));
      },
      onSubscribeResult: () => ({
        onNext: ({ result, setResult }) => {
          if ('errors' in result) setResult(masked(result, contextValue.requestId, options));
        },
      }),
    }),
  };
}

function masked(result: ExecutionResult, requestId: string, options: MaskOptions): ExecutionResult {
  if (result.errors === undefined) return result;
  return { ...result, errors: result.errors.map((error) => publicError(error, { ...options, requestId })) };
}
