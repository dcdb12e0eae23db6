import { type DocumentNode, GraphQLError, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Metrics } from '../observability/metrics.ts';
import { principalOf } from '../realtime/live-sources.ts';
import type { RequestContext } from '../schema/context.ts';
import type { Rate, RateLimiter } from './rate-limit.ts';
import { rootFields } from './root-fields.ts';

/** Rates a principal has for each operation, by its kind. */
export interface Rates {
  readonly query: Rate;
  readonly mutation: Rate;
  readonly subscription: Rate;
}

export const DEFAULT_RATES: Rates = {
  query: { perSecond: 100, burst: 500 },
  mutation: { perSecond: 50, burst: 200 },
  subscription: { perSecond: 20, burst: 200 },
};

/** Every root field counts, also under an alias: a principal has a rate for each operation (docs/DESIGN.md §11). */
export function limitRates(
  limiter: RateLimiter,
  rates: Rates,
  metrics: Metrics,
): Plugin<RequestContext, RequestContext> {
  const refusal = ({ document, operationName, contextValue }: Execution): GraphQLError | undefined => {
    const operation = getOperationAST(document, operationName);
    if (operation === null || operation === undefined) return undefined;
    for (const [field, count] of rootFields(document, operation.selectionSet)) {
      const key = `${principalOf(contextValue.viewer)}#${field}`;
      const retryAfterMs = limiter.take(key, rates[operation.operation], count);
      if (retryAfterMs === undefined) continue;
      metrics.count('RateLimited', { operation: field });
      return rateLimited(retryAfterMs);
    }
    return undefined;
  };
  return {
    onExecute: ({ args, setResultAndStopExecution }) => {
      const error = refusal(args);
      if (error !== undefined) setResultAndStopExecution({ errors: [error] });
    },
    onSubscribe: ({ args, setResultAndStopExecution }) => {
      const error = refusal(args);
      if (error !== undefined) setResultAndStopExecution({ errors: [error] });
    },
  };
}

interface Execution {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly contextValue: RequestContext;
}

function rateLimited(retryAfterMs: number): GraphQLError {
  const headers = { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) };
  return new GraphQLError('Too many requests.', {
    extensions: { code: 'RATE_LIMITED', retryAfterMs, http: { status: 429, headers } },
  });
}
