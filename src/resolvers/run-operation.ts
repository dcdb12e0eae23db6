import type { Ledger, LedgerCounter } from '../ledger/operations/ledger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { RequestContext } from '../schema/context.ts';

/** Runs an operation for a root field: what it counts and how it ends are counted under its name. */
export async function runOperation<Outcome extends { readonly kind: string }>(
  { ledger, metrics }: RequestContext,
  operation: string,
  run: (ledger: Ledger) => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await run({ ...ledger, count: countFor(metrics, operation) });
  metrics.count('OperationOutcome', { operation, outcome: outcome.kind });
  if (outcome.kind === 'IdempotencyInProgress' || outcome.kind === 'Throttled') {
    metrics.count(outcome.kind, { operation });
  }
  return outcome;
}

/** Counts what the ledger tells, under the name of what it was doing. */
export function countFor(metrics: Metrics, operation: string): (counter: LedgerCounter) => void {
  return (counter) => {
    switch (counter) {
      case 'IdempotencyKeyMissing':
      case 'IdempotencyReplay':
      case 'IdempotencyKeyReused':
      case 'TransactionConflict':
      case 'TransactionUnknown':
        metrics.count(counter, { operation });
        break;
      case 'RefundBeyondRefundable':
      case 'SurplusPayment':
        metrics.count(counter);
        break;
      case 'WebhookMismatch':
        metrics.count('Mismatch');
        break;
    }
  };
}
