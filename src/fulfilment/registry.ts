import type { FollowUps } from '../ledger/usecases/runtime/ledger.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import type { Tenants } from '../config/tenants.ts';
import { type FollowUp, type FollowUpTrigger, isFollowUpName, stepName } from './follow-up.ts';

/** The follow-ups of this deployment by name. Server and workers must have the same ones. */
export type Registry = ReadonlyMap<string, FollowUp>;

/** Throws RangeError for a name that no step could carry, or that is taken: a mistake of the one who deploys. */
export function createRegistry(...followUps: readonly FollowUp[]): Registry {
  const registry = new Map<string, FollowUp>();
  for (const followUp of followUps) {
    if (!isFollowUpName(followUp.name)) throw new RangeError(`no name of a follow-up: ${followUp.name}`);
    if (registry.has(followUp.name)) throw new RangeError(`two follow-ups are named ${followUp.name}`);
    registry.set(followUp.name, followUp);
  }
  return registry;
}

/** Which steps the ledger adds to an order when something happens: one of every follow-up that applies. */
export function followUpsOf(registry: Registry, tenants: Tenants): FollowUps {
  const names = (trigger: FollowUpTrigger, order: Order): readonly string[] => {
    const tenant = tenants.get(order.tenant);
    if (tenant === undefined) return [];
    return [...registry.values()]
      .filter((followUp) => followUp.appliesTo(trigger, order, tenant))
      .map((followUp) => stepName(followUp.name, trigger));
  };
  return {
    afterPaid: (order) => names({ kind: 'paid' }, order),
    afterRefund: (order, refundId) => names({ kind: 'refunded', refundId }, order),
    afterDispute: (order, disputeId) => names({ kind: 'disputed', disputeId }, order),
  };
}
