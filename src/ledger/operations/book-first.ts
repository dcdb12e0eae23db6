import type { ProviderPayment } from '../../stripe/port.ts';
import { ignored, mismatch } from '../provider/provider-facts.ts';
import { applyPayment } from './apply-payment.ts';
import type { Ledger } from './ledger.ts';
import { orderNamedBy } from './look-up-fact.ts';
import type { Judgement } from './settle-fact.ts';
import type { Source } from './told-fact.ts';

/** The payment of a refund or dispute that came before the payment's own events did. */
export interface UnbookedPayment {
  /** Nothing that is known names an order: the payment's metadata may. */
  readonly identify: () => Promise<Judgement>;
  /** Books it by the same decisions as its own events, in a transaction of its own (docs/DESIGN.md §8). */
  readonly book: () => Promise<Judgement>;
}

export function unbookedPayment(ledger: Ledger, paymentId: string, source: Source): UnbookedPayment {
  let asked: ProviderPayment | undefined;
  const ask = async (): Promise<
    { readonly kind: 'PAYMENT'; readonly payment: ProviderPayment } | Judgement
  > => {
    if (asked !== undefined) return { kind: 'PAYMENT', payment: asked };
    const answer = await ledger.provider.retrievePayment(paymentId);
    if (answer.kind === 'REFUSED') return ignored('no such payment');
    if (answer.kind !== 'DONE') return { kind: 'COME_AGAIN', reason: 'PROVIDER' };
    asked = answer.value;
    return { kind: 'PAYMENT', payment: asked };
  };
  return {
    identify: async () => {
      const answer = await ask();
      if (answer.kind !== 'PAYMENT') return answer;
      const { metadata } = answer.payment;
      return orderNamedBy(metadata) === undefined ? ignored('not of ours') : { kind: 'READ_AGAIN', metadata };
    },
    book: async () => {
      const answer = await ask();
      if (answer.kind !== 'PAYMENT') return answer;
      const { payment } = answer;
      if (payment.status !== 'succeeded') return mismatch('of a payment that has not succeeded');
      const createdS = source.kind === 'EVENT' ? source.event.createdS : source.createdS;
      const settled = await applyPayment(ledger, payment, 'SUCCEEDED', {
        kind: 'ASKED',
        ...(createdS === undefined ? {} : { createdS }),
      });
      if (settled.kind === 'COME_AGAIN') return settled;
      if (settled.outcome === 'MISMATCH') return mismatch(settled.detail ?? "not the order's own");
      return settled.outcome === 'IGNORED' ? ignored('not of ours') : { kind: 'READ_AGAIN' };
    },
  };
}
