import type { Viewer } from '../../../auth/viewer.ts';
import type { OrderRef } from '../../kernel/keys.ts';
import { nodeParts } from '../../items/node-ids.ts';
import { NOT_FOUND, type PlainFailure } from '../../model/outcomes.ts';
import { reviveStep } from '../../model/orders/steps.ts';
import { changeOrder } from '../runtime/change-order.ts';
import type { Ledger } from '../runtime/ledger.ts';

export interface RetryStepSuccess {
  readonly kind: 'RetryStepSuccess';
  readonly accountId: string;
  readonly orderId: string;
  readonly stepName: string;
}

/** Puts a DEAD step back to work, due at once; on any other step it changes nothing and succeeds. */
export async function retryStep(
  ledger: Ledger,
  viewer: Pick<Viewer, 'tenant' | 'subject'>,
  id: string,
): Promise<RetryStepSuccess | Exclude<PlainFailure, { readonly kind: 'InvalidInput' }>> {
  const [accountId, orderId, stepName] = nodeParts('Step', viewer.tenant, id) ?? [];
  if (accountId === undefined || orderId === undefined || stepName === undefined) return NOT_FOUND;
  const ref: OrderRef = { tenant: viewer.tenant, accountId, orderId };
  const change = await changeOrder(ledger, ref, (order, nowMs) =>
    reviveStep(order, stepName, viewer.subject, nowMs),
  );
  if (change.kind === 'FAILED') return change.failure;
  if (change.kind === 'GONE') return NOT_FOUND;
  const order = change.kind === 'CHANGED' ? change.after : change.order;
  if (order.steps.every(({ name }) => name !== stepName)) return NOT_FOUND;
  return { kind: 'RetryStepSuccess', accountId, orderId, stepName };
}
