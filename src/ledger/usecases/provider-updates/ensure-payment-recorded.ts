import type { ProviderPayment } from '../../../provider/port.ts';
import { namesPayment } from '../../model/provider/provider-recordings.ts';
import { type RecordedPayment, ignored, mismatch } from '../../model/provider/update-decision.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { applyPayment } from './apply-payment.ts';
import type { DecideResult, LoadedOrder, UpdateHandler } from './process-provider-update.ts';
import { type UpdateSource, lookupFor, orderNamedBy, withoutObject } from './provider-update.ts';

/**
 * How refunds and disputes are handled, which may come before the events of their payment: the payment is asked for, to
 * learn whose it is and to record it first (docs/DESIGN.md §8).
 * @param decide decides once the payment is recorded
 */
export function ensurePaymentRecorded(
  ledger: Ledger,
  paymentId: string,
  source: UpdateSource,
  decide: (loaded: LoadedOrder & { readonly recorded: RecordedPayment }) => Promise<DecideResult>,
): UpdateHandler {
  let retrieved: ProviderPayment | undefined;
  const withPayment = async (
    next: (payment: ProviderPayment) => DecideResult | Promise<DecideResult>,
  ): Promise<DecideResult> => {
    if (retrieved === undefined) {
      const found = await ledger.provider.retrievePayment(paymentId);
      if (found.kind !== 'DONE') return withoutObject(found, ignored('no such payment'));
      retrieved = found.value;
    }
    return next(retrieved);
  };
  return {
    identify: () =>
      withPayment(({ metadata }) =>
        orderNamedBy(metadata) === undefined ? ignored('not of ours') : { kind: 'REREAD', metadata },
      ),
    decide: ({ order, recorded, books }) =>
      recorded === undefined || (books !== undefined && !namesPayment(order, paymentId))
        ? withPayment((payment) => record(ledger, payment, source))
        : decide({ order, recorded }),
  };
}

/** Records the payment by the same decisions as its own events, in a transaction of its own. */
async function record(ledger: Ledger, payment: ProviderPayment, source: UpdateSource): Promise<DecideResult> {
  if (payment.status !== 'succeeded') return mismatch('of a payment that has not succeeded');
  const result = await applyPayment(ledger, payment, 'SUCCEEDED', lookupFor(source));
  if (result.kind === 'RETRY_LATER') return result;
  if (result.outcome === 'MISMATCH') return mismatch(result.detail ?? "not the order's own");
  return result.outcome === 'IGNORED' ? ignored('not of ours') : { kind: 'REREAD' };
}
