import type {
  ProviderEvent,
  ProviderEventObject,
  ProviderMetadata,
  ProviderResult,
} from '../../../provider/port.ts';
import type { EventRecord, Overwriting } from '../../items/event-item.ts';
import type { OrderRef } from '../../kernel/keys.ts';
import type { EventOutcome, NoChange } from '../../model/provider/update-decision.ts';

/** How we know of an update. What an event does commits together with the event's record. */
export type UpdateSource =
  | EventSource
  /** We asked the provider ourselves; `createdS` is the time of the event that made us ask, if one did. */
  | {
      readonly kind: 'LOOKUP';
      readonly createdS?: number | undefined;
      /** Also what the ledger has of it in part is brought up: the order, its entry, the payment item. */
      readonly mends?: boolean | undefined;
    };

export interface EventSource {
  readonly kind: 'EVENT';
  readonly event: ProviderEvent;
  /** Which earlier records of the event give way to this one's. */
  readonly overwriting: Overwriting;
}

/** What is processed, once and whole: an object of the provider, and how we know of it. */
export interface ProviderUpdate {
  readonly source: UpdateSource;
  readonly objectId?: string | undefined;
  /** The id that the object's payment is recorded under, where the object names one. */
  readonly paymentId?: string | undefined;
  readonly metadata: ProviderMetadata;
  /** Whether it is about real money, where the object says so. */
  readonly livemode?: boolean;
}

/** How processing an update ended. */
export type UpdateResult = Processed | RetryLater;

export interface Processed {
  readonly kind: 'DONE';
  readonly outcome: EventOutcome;
  /** The event had been processed before: nothing was done now. */
  readonly duplicate: boolean;
  readonly order?: OrderRef | undefined;
  readonly detail?: string | undefined;
}

/** Nothing was done, and the update must come again. */
export interface RetryLater {
  readonly kind: 'RETRY_LATER';
  readonly reason: RetryReason;
}

/** NOT_YET: the order or attempt is still being written. The others: what couldn't be reached or was contended. */
export type RetryReason = 'NOT_YET' | 'PROVIDER' | 'CONFLICT' | 'TABLE';

export function retryLater(reason: RetryReason): RetryLater {
  return { kind: 'RETRY_LATER', reason };
}

/** The update that an object makes; where nothing was to pay, a session stands for its payment. */
export function providerUpdate(source: UpdateSource, object: ProviderEventObject): ProviderUpdate {
  switch (object.kind) {
    case 'session': {
      const { sessionId, paymentId = sessionId, metadata, livemode } = object.session;
      return { source, objectId: sessionId, paymentId, metadata, livemode };
    }
    case 'payment': {
      const { paymentId, metadata, livemode } = object.payment;
      return { source, objectId: paymentId, paymentId, metadata, livemode };
    }
    case 'refund': {
      const { providerRefundId, paymentId, metadata } = object.refund;
      return { source, objectId: providerRefundId, paymentId, metadata };
    }
    case 'charge': {
      const { paymentId, metadata } = object;
      return { source, objectId: paymentId, paymentId, metadata };
    }
    case 'dispute': {
      const { disputeId, paymentId, livemode } = object.dispute;
      return { source, objectId: disputeId, paymentId, metadata: {}, livemode };
    }
    case 'unread':
      return { source, objectId: object.name?.id, metadata: object.metadata };
    case 'other':
      return { source, metadata: {} };
  }
}

/** When the event was made that an update goes back to; undefined where no event does. */
export function eventTimeS(source: UpdateSource): number | undefined {
  return source.kind === 'EVENT' ? source.event.createdS : source.createdS;
}

/** Whether the ledger's copies of one thing are compared with each other too. */
export function mendsBooks(source: UpdateSource): boolean {
  return source.kind === 'LOOKUP' && source.mends === true;
}

/** Of what is looked up because of an update. */
export function lookupFor(source: UpdateSource): UpdateSource {
  return { kind: 'LOOKUP', createdS: eventTimeS(source), mends: mendsBooks(source) };
}

/** The order that metadata of ours names. It says where to look, never whose the money is. */
export function orderNamedBy({ tenant, orderId: path }: ProviderMetadata): OrderRef | undefined {
  const [accountId, orderId] = path?.split('/') ?? [];
  return tenant === undefined || accountId === undefined || orderId === undefined
    ? undefined
    : { tenant, accountId, orderId };
}

/** What to do where the provider didn't give an object: a refusal is final, anything else may be better later. */
export function withoutObject(
  { kind }: Exclude<ProviderResult<never>, { readonly kind: 'DONE' }>,
  refused: NoChange,
): NoChange | RetryLater {
  return kind === 'REFUSED' ? refused : retryLater('PROVIDER');
}

/** The result of an event that had been processed before. */
export function duplicate({ outcome, order, detail }: EventRecord): Processed {
  return { kind: 'DONE', outcome, duplicate: true, order, detail };
}
