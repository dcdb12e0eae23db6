import type { ProviderDispute, ProviderRefund, ProviderResult } from '../../../provider/port.ts';
import type { Decimal } from '../../kernel/money.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import type { MinorAmount } from '../../model/provider/update-decision.ts';
import type { Difference } from './compare-with-provider.ts';
import type { Ledger } from '../runtime/ledger.ts';

/** An object of the provider as far as it backs something that the ledger booked. */
export interface Backing extends MinorAmount {
  readonly status: string;
}

/** An object of the provider that events tell of too: what it says can be applied. */
export type Reported =
  | { readonly kind: 'REFUND'; readonly refund: ProviderRefund }
  | { readonly kind: 'DISPUTE'; readonly dispute: ProviderDispute };

/** What the provider says of a claim. */
export interface Said {
  readonly backing: Backing;
  readonly reported?: Reported;
}

/** What an order says that the provider has: an object in exactly this state, of exactly this amount. */
export interface LedgerAssertion {
  readonly kind: Difference['kind'];
  readonly providerId: string;
  readonly status: string;
  readonly amount: Decimal;
  readonly retrieve: (ledger: Ledger) => Promise<ProviderResult<Said>>;
}

/** All that an order itself says the provider has. */
export function assertionsOf(order: Order): readonly LedgerAssertion[] {
  const { payment, overpayments, disputes } = order;
  return [
    ...(payment?.paymentId === undefined ? [] : [paymentAssertion(order, payment.paymentId, order.amount)]),
    ...overpayments.map(({ paymentId, amount }) => paymentAssertion(order, paymentId, amount)),
    ...disputes.map(({ disputeId, amount, status }): LedgerAssertion => ({
      kind: 'DISPUTE',
      providerId: disputeId,
      status,
      amount,
      retrieve: async ({ provider }) =>
        said(await provider.retrieveDispute(disputeId), (dispute) => ({
          backing: dispute,
          reported: { kind: 'DISPUTE', dispute },
        })),
    })),
  ];
}

function paymentAssertion({ attempts }: Order, paymentId: string, amount: Decimal): LedgerAssertion {
  const assertion = { kind: 'PAYMENT', providerId: paymentId, amount } as const;
  // Where nothing was due there is no payment: its session stands for it.
  return attempts.some(({ sessionId }) => sessionId === paymentId)
    ? {
        ...assertion,
        status: 'complete',
        retrieve: async ({ provider }) =>
          said(await provider.retrieveSession(paymentId), (backing) => ({ backing })),
      }
    : { ...assertion, status: 'succeeded', retrieve: (ledger) => retrieveReceived(ledger, paymentId) };
}

async function retrieveReceived({ provider }: Ledger, paymentId: string): Promise<ProviderResult<Said>> {
  return said(
    await provider.retrievePayment(paymentId),
    ({ status, amountReceivedMinor: amountMinor, currency }) => ({
      backing: { status, amountMinor, currency },
    }),
  );
}

function said<Value>(result: ProviderResult<Value>, reading: (value: Value) => Said): ProviderResult<Said> {
  return result.kind === 'DONE' ? { kind: 'DONE', value: reading(result.value) } : result;
}

/** What a refund says that the provider has. */
export function refundAssertions({ providerRefundId, amount, state }: Refund): readonly LedgerAssertion[] {
  // One that failed gave nothing back, so there is nothing to be backed.
  if (providerRefundId === undefined || state === 'FAILED') return [];
  return [
    {
      kind: 'REFUND',
      providerId: providerRefundId,
      status: state === 'SUCCEEDED' ? 'succeeded' : 'pending',
      amount,
      retrieve: async ({ provider }) =>
        said(await provider.retrieveRefund(providerRefundId), (refund) => ({
          backing: refund,
          reported: { kind: 'REFUND', refund },
        })),
    },
  ];
}
