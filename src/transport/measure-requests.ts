import { getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { RequestContext } from '../schema/context.ts';
import { rootFields } from './document-rules.ts';
import type { Execution } from './responses.ts';

export interface MeasureOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Measures how long each document took, by its root field; one with several root fields counts as `several`. */
export function measureRequests(options: MeasureOptions): Plugin<RequestContext, RequestContext> {
  const { clock, metrics, logger } = options;
  return {
    onExecute: ({ args }) => {
      const startedAtMs = clock.nowMs();
      const { requestId, viewer } = args.contextValue;
      const operation = nameOf(args);
      return {
        onExecuteDone: () => {
          const durationMs = clock.nowMs() - startedAtMs;
          metrics.observe('requestDurationS', durationMs / 1_000, { operation });
          const { tenant, role } = viewer;
          logger.debug('answered', { requestId, operation, durationMs, tenant, role });
        },
      };
    },
  };
}

function nameOf({ document, operationName }: Pick<Execution, 'document' | 'operationName'>): string {
  const operation = getOperationAST(document, operationName);
  const [name, ...more] =
    operation === null || operation === undefined ? [] : rootFields(document, operation).keys();
  return name === undefined || more.length > 0 ? 'several' : name;
}
