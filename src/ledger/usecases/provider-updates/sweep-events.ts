import type { ProviderEvent } from '../../../provider/port.ts';
import { epochS } from '../../kernel/clock.ts';
import { defined } from '../../kernel/defined.ts';
import {
  type CursorPlace,
  EVENT_CURSOR_KEY,
  type EventCursor,
  credibleCursor,
  giveUpBeforeS,
  nextPlace,
  putEventCursor,
  readEventCursor,
} from '../../items/event-cursor.ts';
import { EVENT_LIFE_S, isSettled, readEventRecord } from '../../items/event-item.ts';
import { eventKey } from '../../kernel/keys.ts';
import { plan } from '../../items/plan.ts';
import { applyEvent, failureName, noteFailure } from './apply-event.ts';
import { type Ledger, commit } from '../runtime/ledger.ts';

/** What one look through the provider's events found. */
export interface EventSweep {
  readonly listed: number;
  /** Applied now, since no webhook had told of them. */
  readonly applied: number;
  /** To be looked at again: the provider or the table couldn't be reached, or applying failed. */
  readonly left: number;
  /** Of those that were left: the ones that nobody tries by himself any more. Each has its FAILED note. */
  readonly giveUp: readonly GivenUpEvent[];
  /** Whether the list was read to its end. */
  readonly complete: boolean;
}

/** An event that could not be applied for hours. */
export interface GivenUpEvent {
  readonly event: ProviderEvent;
  /** Whose operators see its note among their problems; absent where nothing that we hold tells whose it is. */
  readonly tenant?: string;
}

/** Younger events are left to their webhooks. */
const WEBHOOK_GRACE_S = 120;
/** How long one page may take before somebody else may begin anew. */
const LEASE_MS = 300_000;
const PAGE = 100;

interface SweepState {
  listed: number;
  applied: number;
  left: number;
  /** An event is to be given up, but its note couldn't be written: it still holds the cursor. */
  unnoted: boolean;
  readonly giveUp: GivenUpEvent[];
  /** When the events were made that were left. */
  readonly leftS: number[];
}

/**
 * Lists the provider's events from the cursor and applies those whose record is absent, past its `ttl` or FAILED, so
 * that a lost webhook heals whatever it told of. One process at a time does it; undefined where another one does, or
 * where it was done less than `pauseMs` ago, or where this process's clock is wrong. An abort ends it after the page at hand. Throws TableUnavailableError in
 * an outage of the table.
 */
export async function sweepEvents(
  ledger: Ledger,
  { pauseMs, signal }: { readonly pauseMs: number; readonly signal?: AbortSignal },
): Promise<EventSweep | undefined> {
  const [item] = await ledger.store.get([EVENT_CURSOR_KEY]);
  if (!ledger.clock.isRight()) return undefined;
  const startMs = ledger.clock.nowMs();
  const before =
    item === undefined
      ? undefined
      : credibleCursor(readEventCursor(item), startMs, Math.max(LEASE_MS, pauseMs) + LEASE_MS);
  if (before !== undefined && before.notBeforeMs > startMs) return undefined;
  const { fromS, heldSinceS } = before ?? { fromS: epochS(startMs) - EVENT_LIFE_S };
  const place: CursorPlace = { fromS, ...defined({ heldSinceS }) };
  const giveUpS = giveUpBeforeS(place, epochS(startMs));
  let cursor = await moved(ledger, before, { ...place, notBeforeMs: startMs + LEASE_MS });
  const tally: SweepState = { listed: 0, applied: 0, left: 0, unnoted: false, giveUp: [], leftS: [] };
  let after: string | undefined;
  while (cursor !== undefined) {
    const page = await ledger.provider.listEvents({
      createdFromS: fromS,
      limit: PAGE,
      ...defined({ after }),
    });
    if (page.kind !== 'DONE') {
      await moved(ledger, cursor, { ...place, notBeforeMs: ledger.clock.nowMs() + pauseMs });
      return sweptSoFar(tally, false);
    }
    const { items, hasMore } = page.value;
    tally.listed += items.length;
    for (const event of await missing(ledger, items)) await take(ledger, event, giveUpS, tally);
    after = items.at(-1)?.eventId;
    if (!hasMore || after === undefined) {
      const next = tally.unnoted ? place : nextPlace(place, tally.leftS, epochS(startMs));
      await moved(ledger, cursor, { ...next, notBeforeMs: ledger.clock.nowMs() + pauseMs });
      return sweptSoFar(tally, true);
    }
    if (signal?.aborted === true) {
      await moved(ledger, cursor, { ...place, notBeforeMs: ledger.clock.nowMs() });
      return sweptSoFar(tally, false);
    }
    cursor = await moved(ledger, cursor, { ...place, notBeforeMs: ledger.clock.nowMs() + LEASE_MS });
  }
  return undefined;
}

function sweptSoFar({ listed, applied, left, giveUp }: SweepState, complete: boolean): EventSweep {
  return { listed, applied, left, giveUp, complete };
}

/** The events that nothing is known of, oldest first, in one consistent read of their records. */
async function missing(ledger: Ledger, events: readonly ProviderEvent[]): Promise<readonly ProviderEvent[]> {
  const nowS = epochS(ledger.clock.nowMs());
  const due = events.filter(({ createdS }) => createdS <= nowS - WEBHOOK_GRACE_S).reverse();
  const records = await ledger.store.get(due.map(({ eventId }) => eventKey(eventId)));
  return due.filter((_, index) => {
    const record = records[index];
    return record === undefined || !isSettled(readEventRecord(record), 'FAILED', nowS);
  });
}

/** Applies an event; what can't be is left to the next look, or noted for operators if this is the last one. */
async function take(
  ledger: Ledger,
  event: ProviderEvent,
  giveUpS: number | undefined,
  tally: SweepState,
): Promise<void> {
  const objection = await objectionTo(ledger, event);
  // It has its note and is alerted: to hold the cursor would make it no more readable.
  if (objection === UNREADABLE) return;
  if (objection === undefined) {
    tally.applied += 1;
    return;
  }
  tally.left += 1;
  tally.leftS.push(event.createdS);
  if (giveUpS === undefined || event.createdS >= giveUpS) return;
  // Before the cursor moves, so that there is no moment in which nobody would know of it.
  const note = await noteFailure(ledger, event, `tried for hours: ${objection}`);
  if (note.kind === 'NOTED') tally.giveUp.push({ event, ...defined({ tenant: note.tenant }) });
  else if (note.kind === 'UNWRITTEN') tally.unnoted = true;
}

const UNREADABLE = 'unreadable';

/** Why it could not be applied; undefined if it was. An event that fails must not end the sweep for all others. */
async function objectionTo(ledger: Ledger, event: ProviderEvent): Promise<string | undefined> {
  try {
    const settled = await applyEvent(ledger, event);
    if (settled.kind !== 'DONE') return settled.reason;
    return settled.outcome === 'FAILED' ? UNREADABLE : undefined;
  } catch (error) {
    return failureName(error);
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
