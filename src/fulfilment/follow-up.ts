import type { FollowUpTrigger, StepNames } from '../ledger/model/orders/follow-up-trigger.ts';
import { parseInteger } from '../ledger/kernel/integers.ts';
import type { Order, Refund } from '../ledger/model/orders/order.ts';
import type { Tenant, Tenants } from '../config/tenants.ts';

/** How a run ended. A reason is stored with the order and shown to operators: no personal data, no secrets. */
export type StepResult =
  /** `refunds`: how many refunds of its overpayment the provider has now, where the step is about one. */
  | { readonly kind: 'DONE'; readonly refunds?: number }
  /** It failed and is tried again later. What a run throws counts as this. */
  | { readonly kind: 'RETRY'; readonly reason: string }
  /** It can never succeed: the step becomes a dead letter at once. */
  | { readonly kind: 'GIVE_UP'; readonly reason: string };

export interface StepContext {
  /** The order as it was when the worker claimed the step. */
  readonly order: Order;
  /** The refund that it follows, as it is now; absent for other triggers. */
  readonly refund?: Refund;
  readonly trigger: FollowUpTrigger;
  /**
   * The step's idempotency key: the same on every attempt, and no other step's. A worker may die between the effect of a run and
   * its record, and the run is then repeated. Pass the key on, so that the effect happens once.
   */
  readonly key: string;
  /** Aborts when the time is over or the worker stops. After that another worker may run the same step. */
  readonly signal: AbortSignal;
}

/** Something to do after money came in or went back: telling the merchant, a receipt, stock, analytics. */
export interface FollowUp {
  /** Lower-case words with dashes. Step names begin with it, so it must not change while there are any. */
  readonly name: string;
  /** Whether this order gets a step. Called once, while the money is recorded: pure, quick, never throws. */
  readonly appliesTo: (trigger: FollowUpTrigger, order: Order, tenant: Tenant) => boolean;
  /** Does it, at least once. */
  readonly run: (context: StepContext) => Promise<StepResult>;
}

/** The name of the step that runs a follow-up after this trigger: `receipt:paid`, `receipt:refunded:<refundId>:<atMs>`, … */
export function stepName(followUpName: string, trigger: FollowUpTrigger): string {
  if (trigger.kind === 'paid') return `${followUpName}:paid`;
  if (trigger.kind === 'overpayment') return `${followUpName}:${trigger.paymentId}`;
  const about =
    'refundId' in trigger ? [trigger.refundId] : 'disputeId' in trigger ? [trigger.disputeId] : [];
  return [followUpName, trigger.kind, ...about, String(trigger.atMs)].join(':');
}

/** The inverse of `stepName`. */
export function readStepName(name: string): {
  readonly followUpName: string;
  readonly trigger: FollowUpTrigger;
} {
  const [followUpName = '', ...rest] = name.split(':');
  return { followUpName, trigger: readTrigger(rest) };
}

function readTrigger(parts: readonly string[]): FollowUpTrigger {
  const [kind = '', ...rest] = parts;
  const id = rest.slice(0, -1).join(':');
  const last = rest.at(-1) ?? '';
  const atMs = /^\d{1,16}$/.test(last) ? parseInteger(last) : undefined;
  if (kind === 'paid' && rest.length === 0) return { kind };
  if (atMs !== undefined) {
    if ((kind === 'failed' || kind === 'expired' || kind === 'canceled') && id === '') return { kind, atMs };
    if ((kind === 'refunded' || kind === 'refund-failed') && id !== '') return { kind, refundId: id, atMs };
    if ((kind === 'disputed' || kind === 'dispute-won' || kind === 'dispute-lost') && id !== '')
      return { kind, disputeId: id, atMs };
  }
  return { kind: 'overpayment', paymentId: parts.join(':') };
}

/** The follow-ups of this deployment by name. Servers and workers must have the same ones. */
export type Registry = ReadonlyMap<string, FollowUp>;

const NAME_GRAMMAR = /^[a-z][a-z0-9-]{0,63}$/;

/** Throws RangeError, to stop start-up, for a malformed name and for one that is used twice. */
export function createRegistry(...followUps: readonly FollowUp[]): Registry {
  const registry = new Map<string, FollowUp>();
  for (const followUp of followUps) {
    const { name } = followUp;
    if (!NAME_GRAMMAR.test(name)) throw new RangeError(`no name of a follow-up: ${name}`);
    if (registry.has(name)) throw new RangeError(`two follow-ups are named ${name}`);
    registry.set(name, followUp);
  }
  return registry;
}

/** The steps that the ledger adds to an order after each trigger: one for every follow-up that applies. */
export function followUpsOf(registry: Registry, tenants: Tenants): StepNames {
  return (trigger, order) => {
    const tenant = tenants.get(order.tenant);
    if (tenant === undefined) return [];
    return [...registry.values()]
      .filter((followUp) => followUp.appliesTo(trigger, order, tenant))
      .map((followUp) => stepName(followUp.name, trigger));
  };
}
