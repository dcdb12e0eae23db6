import type { ProviderPayment } from '../../../provider/port.ts';
import { ignored, mismatch } from '../../model/provider/update-decision.ts';
import { applyPayment } from './apply-payment.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { orderNamedBy } from './load-context.ts';
import type { Judgement } from './process-provider-update.ts';
import type { UpdateSource } from './provider-update.ts';

/** The payment of a refund or dispute that came before the payment's own events did. */
export interface UnrecordedPayment {
  /** Nothing that is known names an order: the payment's metadata may. */
  readonly identify: () => Promise<Judgement>;
  /** Books it by the same decisions as its own events, in a transaction of its own (docs/DESIGN.md §8). */
  readonly book: () => Promise<Judgement>;
}

export function unrecordedPayment(
  ledger: Ledger,
  paymentId: string,
  source: UpdateSource,
): UnrecordedPayment {
  let asked: ProviderPayment | undefined;
  const ask = async (): Promise<
    { readonly kind: 'PAYMENT'; readonly payment: ProviderPayment } | Judgement
  > => {
    if (asked !== undefined) return { kind: 'PAYMENT', payment: asked };
    const answer = await ledger.provider.retrievePayment(paymentId);
    if (answer.kind === 'REFUSED') return ignored('no such payment');
    if (answer.kind !== 'DONE') return { kind: 'RETRY_LATER', reason: 'PROVIDER' };
    asked = answer.value;
    return { kind: 'PAYMENT', payment: asked };
  };
  return {
    identify: async () => {
      const answer = await ask();
      if (answer.kind !== 'PAYMENT') return answer;
      const { metadata } = answer.payment;
      return orderNamedBy(metadata) === undefined ? ignored('not of ours') : { kind: 'REREAD', metadata };
    },
    book: async () => {
      const answer = await ask();
      if (answer.kind !== 'PAYMENT') return answer;
      const { payment } = answer;
      if (payment.status !== 'succeeded') return mismatch('of a payment that has not succeeded');
      const createdS = source.kind === 'EVENT' ? source.event.createdS : source.createdS;
      const settled = await applyPayment(ledger, payment, 'SUCCEEDED', {
        kind: 'LOOKUP',
        ...(createdS === undefined ? {} : { createdS }),
      });
      if (settled.kind === 'RETRY_LATER') return settled;
      if (settled.outcome === 'MISMATCH') return mismatch(settled.detail ?? "not the order's own");
      return settled.outcome === 'IGNORED' ? ignored('not of ours') : { kind: 'REREAD' };
    },
  };
}
