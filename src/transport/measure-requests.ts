import { type DocumentNode, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Clock } from '../ledger/kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { RequestContext } from '../schema/context.ts';
import { rootFields } from './root-fields.ts';

export interface MeasureOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** What the plugin reads of GraphQL's arguments, which Yoga types loosely. */
interface Execution {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
}

/** How long each document took, by its root field; one with several has no name of its own. */
export function measureRequests({
  clock,
  metrics,
  log,
}: MeasureOptions): Plugin<RequestContext, RequestContext> {
  return {
    onExecute: ({ args }) => {
      const startedAtMs = clock.nowMs();
      const { contextValue } = args;
      const operation = nameOf(args);
      return {
        onExecuteDone: () => {
          const durationMs = clock.nowMs() - startedAtMs;
          const { requestId, viewer } = contextValue;
          metrics.observe('requestDurationS', durationMs / 1_000, { operation });
          log.debug('answered', {
            requestId,
            operation,
            durationMs,
            tenant: viewer.tenant,
            role: viewer.role,
          });
        },
      };
    },
  };
}

function nameOf({ document, operationName }: Execution): string {
  const selected = getOperationAST(document, operationName)?.selectionSet;
  const names = selected === undefined ? [] : [...rootFields(document, selected).keys()];
  return names.length === 1 && names[0] !== undefined ? names[0] : 'several';
}
