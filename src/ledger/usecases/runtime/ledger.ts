import type { MetadataSeal } from '../../../auth/metadata-seal.ts';
import type { PaymentCodes } from '../../../auth/payment-code.ts';
import { type Bus, publishEntry, publishTransition } from '../../../realtime/bus/bus.ts';
import type { PaymentProvider } from '../../../provider/port.ts';
import type { Tenant, Tenants } from '../../../config/tenants.ts';
import type { SharedClock } from '../../kernel/clock.ts';
import type { DuePolicy } from '../../model/orders/due.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { StepNames } from '../../model/orders/follow-up-trigger.ts';
import type { Plan } from '../../items/plan.ts';
import type { Store } from '../../table/store.ts';
import type { CommitResult, Transactor } from '../../table/transact.ts';

/** What the operations count for operators. */
export type LedgerCounter =
  | 'IdempotencyKeyMissing'
  | 'IdempotencyReplay'
  | 'IdempotencyKeyReused'
  | 'TransactionConflict'
  | 'TransactionUnknown'
  | 'RefundBeyondRefundable'
  | 'SurplusPayment'
  | 'RecordedPaymentRestored'
  | 'UnreadableEvent'
  | 'WebhookMismatch';

export interface LedgerSettings extends DuePolicy {
  /** `optional` is for rolling out to old clients (docs/DESIGN.md §5.9). */
  readonly idempotencyKeyPhase: 'required' | 'optional';
  /** How long the content of a request without a key stands in for one. */
  readonly contentKeyWindowS: number;
  /** How long a call to the provider is waited for before somebody else may take over. */
  readonly leaseMs: number;
}

/** What the operations work with: the table, time, randomness, the tenants, the provider, the bus. */
export interface Ledger {
  readonly store: Store;
  readonly transactor: Transactor;
  readonly clock: SharedClock;
  readonly ids: Ids;
  readonly tenants: Tenants;
  readonly provider: PaymentProvider;
  readonly paymentCodes: PaymentCodes;
  /** Seals what the provider keeps for us to make orders of again. */
  readonly metadataSeal: MetadataSeal;
  readonly bus: Bus;
  readonly followUps: StepNames;
  readonly count: (counter: LedgerCounter) => void;
  readonly settings: LedgerSettings;
}

/**
 * Commits a plan and, if it did, publishes what it changed: there is no other way to write an order. Conflicts are
 * counted, each try, and an outcome that stays unknown is, whatever its caller finds out about it.
 */
export async function commit(ledger: Ledger, plan: Plan): Promise<CommitResult> {
  const result = await ledger.transactor.commit(plan, {
    onConflict: () => {
      ledger.count('TransactionConflict');
    },
  });
  if (result.kind === 'COMMITTED') publish(ledger.bus, plan);
  if (result.kind === 'UNKNOWN') ledger.count('TransactionUnknown');
  return result;
}

/** Tells what a committed plan changed. After the commit only: what isn't in the table was never said. */
export function publish(bus: Bus, { orders, entries }: Plan): void {
  for (const { order, transitions } of orders) {
    for (const transition of transitions) publishTransition(bus, order, transition);
  }
  for (const entry of entries) publishEntry(bus, entry);
}

/** The tenant of a verified viewer. Throws if it is gone from the file: a token for it can't have been verified. */
export function tenantOf(ledger: Ledger, tenant: string): Tenant {
  const found = ledger.tenants.get(tenant);
  if (found === undefined) throw new RangeError('unknown tenant');
  return found;
}
