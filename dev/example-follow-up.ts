import type { FollowUp, StepContext, StepResult } from '../src/fulfilment/follow-up.ts';
import { encodeNodeId } from '../src/ledger/items/node-ids.ts';

/*
 * A worked example of an operator's own follow-up (docs/FOLLOW-UPS.md): receipts are kept by a service of the operator's,
 * which gets one for every purchase that was paid and one for every refund. It is registered in src/main/compose-ledger.ts:
 *
 *     const registry = createRegistry(notifyMerchant(…), refundSurplus(provider), receipt({ serviceUrl: … }));
 */

export interface ReceiptOptions {
  readonly serviceUrl: string;
}

export function receipt({ serviceUrl }: ReceiptOptions): FollowUp {
  return {
    name: 'receipt',
    appliesTo: ({ kind }, order) => order.kind === 'PURCHASE' && (kind === 'paid' || kind === 'refunded'),
    run: (context) => issueReceipt(serviceUrl, context),
  };
}

async function issueReceipt(
  serviceUrl: string,
  { order, trigger, key, signal }: StepContext,
): Promise<StepResult> {
  const response = await fetch(serviceUrl, {
    method: 'POST',
    // The same key on every attempt: the service keeps one receipt, however often it is asked for it.
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({
      orderId: encodeNodeId('Order', order.tenant, order.accountId, order.orderId),
      about: trigger.kind,
      amount: order.amount.toFixed(),
      currency: order.currency,
    }),
    // Ends the request when the step's time is over; what `fetch` throws then, or on any failure, counts as RETRY.
    signal,
  });
  await response.body?.cancel();
  if (response.ok) return { kind: 'DONE' };
  // The service understood and says no: asking again can't help, an operator has to look.
  if (response.status === 422) return { kind: 'GIVE_UP', reason: 'the receipt service refuses this order' };
  return { kind: 'RETRY', reason: `the receipt service answered ${response.status}` };
}
