import type { Viewer } from '../../../auth/viewer.ts';
import type { ProviderEvent } from '../../../provider/port.ts';
import { epochS } from '../../kernel/clock.ts';
import { type EventRecord, readEventRecord, readRecordedPayment } from '../../items/event-item.ts';
import { eventKey, paymentKey } from '../../kernel/keys.ts';
import {
  CONFLICT,
  NOT_FOUND,
  PROVIDER_UNAVAILABLE,
  THROTTLED,
  type UnstoredOf,
} from '../../model/outcomes.ts';
import { TableUnavailableError } from '../../table/store.ts';
import { applyEvent } from './apply-event.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readItem } from '../runtime/read-items.ts';
import { type RetryReason, providerUpdate } from './provider-update.ts';

/** The event was applied again, or had been applied before; what came of it is read live. */
export interface ReplayWebhookEventSuccess {
  readonly kind: 'ReplayWebhookEventSuccess';
  readonly providerEventId: string;
}

type ReplayFailure = UnstoredOf<'ProviderUnavailable' | 'TransactionConflict' | 'Throttled' | 'NotFound'>;
export type ReplayWebhookEventOutcome = ReplayWebhookEventSuccess | ReplayFailure;

const EVENT_ID_GRAMMAR = /^[A-Za-z0-9_-]{1,255}$/;

/**
 * Fetches one event from the provider and applies it by the webhook's own decisions, whatever its record says but
 * APPLIED (docs/DESIGN.md §8). An event of another tenant looks like one that isn't there.
 */
export async function replayWebhookEvent(
  ledger: Ledger,
  viewer: Viewer,
  providerEventId: string,
): Promise<ReplayWebhookEventOutcome> {
  if (!EVENT_ID_GRAMMAR.test(providerEventId)) return NOT_FOUND;
  try {
    return await replay(ledger, viewer, providerEventId);
  } catch (error) {
    if (error instanceof TableUnavailableError) return THROTTLED;
    throw error;
  }
}

async function replay(
  ledger: Ledger,
  viewer: Viewer,
  providerEventId: string,
): Promise<ReplayWebhookEventOutcome> {
  const success: ReplayWebhookEventSuccess = { kind: 'ReplayWebhookEventSuccess', providerEventId };
  const record = await liveRecord(ledger, providerEventId);
  if (record?.tenant !== undefined && record.tenant !== viewer.tenant) return NOT_FOUND;
  if (record?.outcome === 'APPLIED') return record.tenant === viewer.tenant ? success : NOT_FOUND;
  const asked = await ledger.provider.retrieveEvent(providerEventId);
  if (asked.kind === 'REFUSED') return NOT_FOUND;
  if (asked.kind !== 'DONE') return PROVIDER_UNAVAILABLE;
  const owner = await tenantOfEvent(ledger, asked.value);
  if (owner.kind === 'UNAVAILABLE') return PROVIDER_UNAVAILABLE;
  if (owner.tenant !== viewer.tenant) return NOT_FOUND;
  const settled = await applyEvent(ledger, asked.value, 'ALL_BUT_APPLIED');
  return settled.kind === 'DONE' ? success : failureOf(settled.reason);
}

async function liveRecord(ledger: Ledger, eventId: string): Promise<EventRecord | undefined> {
  const record = await readItem(ledger, eventKey(eventId), readEventRecord);
  return record !== undefined && record.ttlS >= epochS(ledger.clock.nowMs()) ? record : undefined;
}

type EventOwner =
  { readonly kind: 'OWNER'; readonly tenant: string | undefined } | { readonly kind: 'UNAVAILABLE' };

/** By the payment item, the object's metadata, or its payment's, as it will be applied. */
async function tenantOfEvent(ledger: Ledger, event: ProviderEvent): Promise<EventOwner> {
  const { metadata, paymentId } = providerUpdate({ kind: 'LOOKUP' }, event.object);
  if (paymentId !== undefined) {
    const recorded = await readItem(ledger, paymentKey(paymentId), readRecordedPayment);
    if (recorded !== undefined) return { kind: 'OWNER', tenant: recorded.tenant };
  }
  const { kind } = event.object;
  if (metadata.tenant !== undefined || paymentId === undefined || (kind !== 'refund' && kind !== 'dispute'))
    return { kind: 'OWNER', tenant: metadata.tenant };
  const payment = await ledger.provider.retrievePayment(paymentId);
  if (payment.kind === 'DONE') return { kind: 'OWNER', tenant: payment.value.metadata.tenant };
  return payment.kind === 'REFUSED' ? { kind: 'OWNER', tenant: undefined } : { kind: 'UNAVAILABLE' };
}

function failureOf(reason: RetryReason): ReplayFailure {
  switch (reason) {
    case 'NOT_YET':
    case 'CONFLICT':
      return CONFLICT;
    case 'PROVIDER':
      return PROVIDER_UNAVAILABLE;
    case 'TABLE':
      return THROTTLED;
  }
}
