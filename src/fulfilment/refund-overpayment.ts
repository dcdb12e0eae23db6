import { currency } from '../ledger/kernel/currencies.ts';
import { digest } from '../ledger/kernel/fingerprint.ts';
import { toMinorUnits } from '../ledger/kernel/money.ts';
import { providerOrderId } from '../ledger/model/provider/session-metadata.ts';
import { overpaymentRefundId } from '../ledger/model/orders/order.ts';
import { refundPages } from '../ledger/usecases/runtime/provider-pages.ts';
import type { PaymentProvider, ProviderRefund, ProviderResult } from '../provider/port.ts';
import type { FollowUp, StepContext, StepResult } from './follow-up.ts';

/** The ledger's names for the steps of overpayments begin with it too. */
export const REFUND_OVERPAYMENT = 'refund-surplus';

/**
 * Refunds an overpayment at the provider (docs/DESIGN.md §8). It only sends the request: the refund is recorded when the
 * provider's event comes. The ledger itself adds the step when it records the payment, so it applies to no trigger.
 */
export function refundOverpayment(provider: PaymentProvider): FollowUp {
  return {
    name: REFUND_OVERPAYMENT,
    appliesTo: () => false,
    run: (context) => refund(provider, context),
  };
}

/**
 * Refunds what is left of the payment after the refunds that the provider knows, those of an earlier attempt and of the dashboard
 * included. The key depends on what is left, so that only a repetition of the very same request has the same key.
 */
async function refund(provider: PaymentProvider, { order, trigger, key }: StepContext): Promise<StepResult> {
  if (trigger.kind !== 'overpayment') return { kind: 'GIVE_UP', reason: 'not the step of a surplus payment' };
  const { paymentId } = trigger;
  const overpayment = order.overpayments.find((payment) => payment.paymentId === paymentId);
  if (overpayment === undefined) return { kind: 'GIVE_UP', reason: 'the order has no such surplus payment' };
  const known = await refundsOf(provider, paymentId);
  if (known.kind !== 'DONE') return retry(known);
  const refunds = known.value.length;
  const standing = known.value.filter(({ status }) => status !== 'failed');
  const refundedMinor = standing.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  const amountMinor = toMinorUnits(overpayment.amount, currency(order.currency).exponent) - refundedMinor;
  if (amountMinor <= 0) return { kind: 'DONE', refunds };
  const made = await provider.createRefund({
    // A failed refund is final. Its key would only return that refund again.
    idempotencyKey: digest(key, String(amountMinor), String(refunds - standing.length)),
    paymentId,
    amountMinor,
    tenant: order.tenant,
    orderId: providerOrderId(order),
    refundId: overpaymentRefundId(paymentId),
  });
  if (made.kind !== 'DONE') return retry(made);
  return made.value.status === 'failed'
    ? { kind: 'RETRY', reason: `the refund failed: ${made.value.failureReason ?? 'no reason given'}` }
    : { kind: 'DONE', refunds: refunds + 1 };
}

async function refundsOf(
  provider: PaymentProvider,
  paymentId: string,
): Promise<ProviderResult<readonly ProviderRefund[]>> {
  const refunds: ProviderRefund[] = [];
  for await (const page of refundPages(provider, paymentId)) {
    if (page.kind !== 'DONE') return page;
    refunds.push(...page.value.items);
  }
  return { kind: 'DONE', value: refunds };
}

/** Even a refusal is tried again: the account may lack funds today, and operators see the step once it is dead. */
function retry(result: Exclude<ProviderResult<never>, { readonly kind: 'DONE' }>): StepResult {
  const reason = result.kind === 'REFUSED' ? result.code : result.reason;
  return { kind: 'RETRY', reason: `the provider: ${reason}` };
}
