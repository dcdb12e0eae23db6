import { providerOrderId } from '../ledger/model/provider/attempts.ts';
import { currency } from '../ledger/kernel/currencies.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { digest } from '../ledger/kernel/fingerprint.ts';
import { toMinorUnits } from '../ledger/kernel/money.ts';
import type { PaymentProvider, ProviderRefund, ProviderResult } from '../provider/port.ts';
import type { FollowUp, StepContext, StepResult } from './follow-up.ts';

/** It also begins the names that the ledger gives to the steps of overpayments. */
export const REFUND_OVERPAYMENT = 'refund-surplus';

const LIST_LIMIT = 100;

/**
 * Gives an overpayment back at the provider (docs/DESIGN.md §8). Only asks: what the provider does is booked when its
 * event tells of it. The ledger adds the step with the booking of the payment, so nothing else makes it apply.
 */
export function refundOverpayment(provider: PaymentProvider): FollowUp {
  return {
    name: REFUND_OVERPAYMENT,
    appliesTo: () => false,
    run: (context) => refund(provider, context),
  };
}

/**
 * What is left of the payment after the refunds that the provider knows, ours of an earlier attempt and the dashboard's
 * included, is refunded under a key of its own: a repetition of the very same request, and nothing else, has the same.
 */
async function refund(provider: PaymentProvider, { order, trigger, key }: StepContext): Promise<StepResult> {
  if (trigger.kind !== 'overpayment') return { kind: 'GIVE_UP', reason: 'not the step of a surplus payment' };
  const { paymentId } = trigger;
  const overpayment = order.overpayments.find((payment) => payment.paymentId === paymentId);
  if (overpayment === undefined) return { kind: 'GIVE_UP', reason: 'the order has no such surplus payment' };
  const known = await refundsOf(provider, paymentId);
  if (known.kind !== 'DONE') return again(known);
  const failed = known.value.filter(({ status }) => status === 'failed').length;
  const givenBackMinor = known.value
    .filter(({ status }) => status !== 'failed')
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  const amountMinor = toMinorUnits(overpayment.amount, currency(order.currency).exponent) - givenBackMinor;
  const refunds = known.value.length;
  if (amountMinor <= 0) return { kind: 'DONE', refunds };
  const made = await provider.createRefund({
    // A refund that failed is over: its key would only tell of it again.
    idempotencyKey: digest(key, String(amountMinor), String(failed)),
    paymentId,
    amountMinor,
    tenant: order.tenant,
    orderId: providerOrderId(order),
    refundId: `surplus:${paymentId}`,
  });
  if (made.kind !== 'DONE') return again(made);
  return made.value.status === 'failed'
    ? { kind: 'RETRY', reason: `the refund failed: ${made.value.failureReason ?? 'no reason given'}` }
    : { kind: 'DONE', refunds: refunds + 1 };
}

async function refundsOf(
  provider: PaymentProvider,
  paymentId: string,
): Promise<ProviderResult<readonly ProviderRefund[]>> {
  const refunds: ProviderRefund[] = [];
  for (;;) {
    const after = refunds.at(-1)?.providerRefundId;
    const page = await provider.listRefunds({ paymentId, limit: LIST_LIMIT, ...defined({ after }) });
    if (page.kind !== 'DONE') return page;
    refunds.push(...page.value.items);
    if (!page.value.hasMore || page.value.items.length === 0) return { kind: 'DONE', value: refunds };
  }
}

/** Even a refusal is tried again: the account may lack funds today, and an operator sees the step when it is dead. */
function again(result: Exclude<ProviderResult<never>, { readonly kind: 'DONE' }>): StepResult {
  return {
    kind: 'RETRY',
    reason: `the provider: ${result.kind === 'REFUSED' ? result.code : result.reason}`,
  };
}
