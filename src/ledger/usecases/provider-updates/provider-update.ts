import type { ProviderEvent, ProviderMetadata } from '../../../provider/port.ts';
import type { OrderRef } from '../../kernel/keys.ts';
import type { EventRecord, Overwriting } from '../../items/event-item.ts';
import type { EventOutcome } from '../../model/provider/update-decision.ts';

/*
 * The words in which a fact of the provider is told and answered, by events and by us who ask. `settle-fact.ts` goes
 * through what comes in between: `look-up-fact.ts` reads, the operation judges, `commit-fact.ts` writes.
 */

/** Who tells of a fact. What an event does commits together with the event's record. */
export type UpdateSource =
  | { readonly kind: 'EVENT'; readonly event: ProviderEvent; readonly overwriting: Overwriting }
  /** We asked the provider ourselves; `createdS` where an event made us ask. */
  | { readonly kind: 'LOOKUP'; readonly createdS?: number };

/** How telling a fact ended. */
export type UpdateResult =
  | {
      readonly kind: 'DONE';
      readonly outcome: EventOutcome;
      /** The event had been taken up before: nothing was done now. */
      readonly duplicate: boolean;
      readonly order?: OrderRef | undefined;
      readonly detail?: string | undefined;
    }
  /** Nothing was done, and it must be told again. */
  | { readonly kind: 'RETRY_LATER'; readonly reason: RetryReason };

/** NOT_YET: of an order or attempt that is still being written. The others: what couldn't be reached or was contended. */
export type RetryReason = 'NOT_YET' | 'PROVIDER' | 'CONFLICT' | 'TABLE';

/** What a fact is about, as it says itself. */
export interface UpdateSubject {
  /** What the payment is booked under, where the fact names one. */
  readonly paymentId: string | undefined;
  readonly metadata: ProviderMetadata;
  readonly objectId: string | undefined;
  readonly livemode: boolean;
}

/** What an event answers that had been taken up before. */
export function duplicate({ outcome, order, detail }: EventRecord): UpdateResult {
  return { kind: 'DONE', outcome, duplicate: true, order, detail };
}
