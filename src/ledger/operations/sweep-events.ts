import type { ProviderEvent } from '../../stripe/port.ts';
import { epochS } from '../clock.ts';
import { defined } from '../defined.ts';
import {
  type CursorPlace,
  EVENT_CURSOR_KEY,
  type EventCursor,
  nextPlace,
  putEventCursor,
  readEventCursor,
} from '../provider/event-cursor.ts';
import { EVENT_LIFE_S, isSettled, readEventRecord } from '../provider/event-item.ts';
import { eventKey } from '../keys.ts';
import { plan } from '../plan.ts';
import { applyEvent } from './apply-event.ts';
import { type Ledger, commit } from './ledger.ts';

/** What one look through the provider's events found. */
export interface EventSweep {
  readonly listed: number;
  /** Applied now, since no webhook had told of them. */
  readonly applied: number;
  /** To be looked at again: the provider or the table couldn't be reached, or applying failed. */
  readonly left: number;
  /** Whether the list was read to its end. */
  readonly complete: boolean;
}

/** Younger events are left to their webhooks. */
const WEBHOOK_GRACE_S = 120;
/** How long one page may take before somebody else may begin anew. */
const LEASE_MS = 300_000;
const PAGE = 100;

/**
 * Lists the provider's events from the cursor and applies those whose marker is absent, past its `ttl` or FAILED, so
 * that a lost webhook heals whatever it told of. One process at a time does it; undefined where another one does, or
 * where it was done less than `pauseMs` ago. An abort ends it after the page at hand. Throws TableUnavailableError in an outage of the table.
 */
export async function sweepEvents(
  ledger: Ledger,
  { pauseMs, signal }: { readonly pauseMs: number; readonly signal?: AbortSignal },
): Promise<EventSweep | undefined> {
  const startMs = ledger.clock.nowMs();
  const [item] = await ledger.store.get([EVENT_CURSOR_KEY]);
  const before = item === undefined ? undefined : readEventCursor(item);
  if (before !== undefined && before.notBeforeMs > startMs) return undefined;
  const { fromS, heldSinceS } = before ?? { fromS: epochS(startMs) - EVENT_LIFE_S };
  const place: CursorPlace = { fromS, ...defined({ heldSinceS }) };
  let cursor = await moved(ledger, before, { ...place, notBeforeMs: startMs + LEASE_MS });
  const sum = { listed: 0, applied: 0, left: 0 };
  const leftS: number[] = [];
  let after: string | undefined;
  while (cursor !== undefined) {
    const page = await ledger.provider.listEvents({
      createdFromS: fromS,
      limit: PAGE,
      ...defined({ after }),
    });
    if (page.kind !== 'DONE') {
      await moved(ledger, cursor, { ...place, notBeforeMs: ledger.clock.nowMs() + pauseMs });
      return { ...sum, complete: false };
    }
    const { items, hasMore } = page.value;
    sum.listed += items.length;
    for (const event of await missing(ledger, items)) {
      const done = await apply(ledger, event);
      if (done) sum.applied += 1;
      else {
        sum.left += 1;
        leftS.push(event.createdS);
      }
    }
    after = items.at(-1)?.eventId;
    if (!hasMore || after === undefined) {
      const notBeforeMs = ledger.clock.nowMs() + pauseMs;
      await moved(ledger, cursor, { ...nextPlace(place, leftS, epochS(startMs)), notBeforeMs });
      return { ...sum, complete: true };
    }
    if (signal?.aborted === true) {
      await moved(ledger, cursor, { ...place, notBeforeMs: ledger.clock.nowMs() });
      return { ...sum, complete: false };
    }
    cursor = await moved(ledger, cursor, { ...place, notBeforeMs: ledger.clock.nowMs() + LEASE_MS });
  }
  return undefined;
}

/** The events that nothing is known of, oldest first, in one consistent read of their markers. */
async function missing(ledger: Ledger, events: readonly ProviderEvent[]): Promise<readonly ProviderEvent[]> {
  const nowS = epochS(ledger.clock.nowMs());
  const due = events.filter(({ createdS }) => createdS <= nowS - WEBHOOK_GRACE_S).reverse();
  const markers = await ledger.store.get(due.map(({ eventId }) => eventKey(eventId)));
  return due.filter((_, index) => {
    const marker = markers[index];
    return marker === undefined || !isSettled(readEventRecord(marker), 'FAILED', nowS);
  });
}

/** An event that can't be applied must not end the sweep for all others: it is noted, and left. */
async function apply(ledger: Ledger, event: ProviderEvent): Promise<boolean> {
  try {
    return (await applyEvent(ledger, event)).kind === 'DONE';
  } catch {
    return false;
  }
}

/** Undefined where somebody else has moved it meanwhile. */
async function moved(
  ledger: Ledger,
  before: EventCursor | undefined,
  to: Omit<EventCursor, 'rev'>,
): Promise<EventCursor | undefined> {
  const after: EventCursor = { ...to, rev: (before?.rev ?? 0) + 1 };
  const result = await commit(ledger, plan(ledger.ids.token(), putEventCursor(before, after)));
  return result.kind === 'COMMITTED' ? after : undefined;
}
