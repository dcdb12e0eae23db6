import type { ProviderDispute, ProviderRefund, ProviderResult } from '../../stripe/port.ts';
import type { Decimal } from '../money.ts';
import type { Order } from '../orders/order.ts';
import type { MinorAmount } from '../provider/provider-facts.ts';
import type { Difference } from './compare-with-provider.ts';
import type { Ledger } from './ledger.ts';

/** An object of the provider as far as it backs something that the ledger booked. */
export interface Backing extends MinorAmount {
  readonly status: string;
}

/** An object of the provider that events tell of too: what it says can be applied. */
export type Told =
  | { readonly kind: 'REFUND'; readonly refund: ProviderRefund }
  | { readonly kind: 'DISPUTE'; readonly dispute: ProviderDispute };

/** What the provider says of a claim. */
export interface Said {
  readonly backing: Backing;
  readonly told?: Told;
}

/** What an order says that the provider has: an object in exactly this state, of exactly this amount. */
export interface Claim {
  readonly kind: Difference['kind'];
  readonly providerId: string;
  readonly status: string;
  readonly amount: Decimal;
  readonly retrieve: (ledger: Ledger) => Promise<ProviderResult<Said>>;
}

/** All that an order itself says the provider has. */
export function claimsOf(order: Order): readonly Claim[] {
  const { payment, surplus, refunds, disputes } = order;
  return [
    ...(payment?.paymentId === undefined ? [] : [paymentClaim(order, payment.paymentId, order.amount)]),
    ...surplus.map(({ paymentId, amount }) => paymentClaim(order, paymentId, amount)),
    ...[...refunds, ...surplus.flatMap((one) => one.refunds)].flatMap(refundClaim),
    ...disputes.map(({ disputeId, amount, status }): Claim => ({
      kind: 'DISPUTE',
      providerId: disputeId,
      status,
      amount,
      retrieve: async ({ provider }) =>
        said(await provider.retrieveDispute(disputeId), (dispute) => ({
          backing: dispute,
          told: { kind: 'DISPUTE', dispute },
        })),
    })),
  ];
}

function paymentClaim({ attempts }: Order, paymentId: string, amount: Decimal): Claim {
  const claim = { kind: 'PAYMENT', providerId: paymentId, amount } as const;
  // Where nothing was due there is no payment: its session stands for it.
  return attempts.some(({ sessionId }) => sessionId === paymentId)
    ? {
        ...claim,
        status: 'complete',
        retrieve: async ({ provider }) =>
          said(await provider.retrieveSession(paymentId), (backing) => ({ backing })),
      }
    : { ...claim, status: 'succeeded', retrieve: (ledger) => retrieveReceived(ledger, paymentId) };
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

/** A refund that is in its order or beside it. */
export function refundClaim({
  providerRefundId,
  amount,
  state,
}: {
  readonly providerRefundId?: string;
  readonly amount: Decimal;
  readonly state: Order['refunds'][number]['state'];
}): readonly Claim[] {
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
          told: { kind: 'REFUND', refund },
        })),
    },
  ];
}
