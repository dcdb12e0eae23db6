import type { Alert } from '../ledger/model/provider/update-decision.ts';
import { orderNodeId } from '../ledger/items/node-ids.ts';
import type { Ledger, LedgerCounter } from '../ledger/usecases/runtime/ledger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { RequestContext } from '../schema/context.ts';

/** What an outcome may tell of itself for the log: its name, whether it is a replay, and of which order. */
export interface OutcomeOfOperation {
  readonly kind: string;
  readonly replayed?: boolean;
  readonly accountId?: string;
  readonly orderId?: string;
}

/** Runs an operation for a root field: what it counts and how it ends are counted under its name, and logged in a line. */
export async function runOperation<Outcome extends OutcomeOfOperation>(
  { ledger, metrics, logger, viewer, requestId }: RequestContext,
  operation: string,
  run: (ledger: Ledger) => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await run({ ...ledger, count: countFor(metrics, operation) });
  metrics.count('OperationOutcome', { operation, outcome: outcome.kind });
  if (outcome.kind === 'IdempotencyInProgress' || outcome.kind === 'Throttled') {
    metrics.count(outcome.kind, { operation });
  }
  const { tenant } = viewer;
  const { kind, replayed, accountId, orderId } = outcome;
  logger.info('a mutation has ended', {
    requestId,
    tenant,
    operation,
    outcome: kind,
    replayed,
    ...(accountId !== undefined &&
      orderId !== undefined && { orderId: orderNodeId({ tenant, accountId, orderId }) }),
  });
  return outcome;
}

/** Counts what the ledger tells, under the name of what it was doing. */
export function countFor(metrics: Metrics, operation: string): (counter: LedgerCounter) => void {
  return (counter) => {
    if (counter === 'WebhookMismatch') metrics.count('Mismatch');
    else if (isAlert(counter)) metrics.count(counter);
    else metrics.count(counter, { operation });
  };
}

/** Alerts count alike whatever was done. */
function isAlert(counter: LedgerCounter): counter is Alert | 'UnreadableEvent' {
  return (
    counter === 'RefundBeyondRefundable' ||
    counter === 'SurplusPayment' ||
    counter === 'RecordedPaymentRestored' ||
    counter === 'UnreadableEvent'
  );
}
