import type { ProviderEvent } from '../provider/port.ts';

/** What a log line says of an event of the provider: nothing of what it is about. */
export function aboutEvent({ eventId, type, livemode }: ProviderEvent): {
  readonly eventId: string;
  readonly eventType: string;
  readonly livemode: boolean;
} {
  return { eventId, eventType: type, livemode };
}

/** Types that mean nothing to us share a label: a metric's labels come from a fixed list. */
export function typeLabel({ type, object }: ProviderEvent): string {
  return object.kind === 'other' || (object.kind === 'unread' && object.name === undefined) ? 'other' : type;
}
