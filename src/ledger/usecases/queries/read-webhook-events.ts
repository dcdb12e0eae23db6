import type { Viewer } from '../../../auth/viewer.ts';
import { epochS } from '../../kernel/clock.ts';
import {
  EVENT_LIFE_S,
  type EventRecord,
  PROBLEM_OUTCOMES,
  monthOf,
  problemList,
  readEventRecord,
} from '../../items/event-item.ts';
import { eventKey } from '../../kernel/keys.ts';
import type { IndexEntry } from '../../table/store.ts';
import type { Ledger } from '../runtime/ledger.ts';
import {
  type Page,
  type PageRequest,
  decodeCursor,
  encodeCursor,
  pageReading,
  toPage,
} from '../runtime/pages.ts';

/** Up to 100 provider events; undefined for what isn't kept, has expired, or isn't of the viewer's tenant. */
export async function readWebhookEvents(
  ledger: Ledger,
  viewer: Viewer,
  eventIds: readonly string[],
): Promise<readonly (EventRecord | undefined)[]> {
  const nowS = epochS(ledger.clock.nowMs());
  const items = await ledger.store.get(eventIds.map(eventKey));
  return items.map((item) => {
    const record = item === undefined ? undefined : readEventRecord(item);
    return record !== undefined && mayBeOf(viewer, record) && record.ttlS >= nowS ? record : undefined;
  });
}

/** One that failed and names no tenant may be anybody's: its id and type are all that is known of it. */
function mayBeOf({ tenant }: Viewer, record: EventRecord): boolean {
  return record.tenant === tenant || (record.tenant === undefined && record.outcome === 'FAILED');
}

/**
 * Events of the viewer's tenant that matched nothing of ours or couldn't be applied, newest first, forward only. The
 * index has a partition an outcome and month: the few that can hold live events are merged. Throws PageRequestError.
 */
export async function listWebhookProblems(
  ledger: Ledger,
  viewer: Viewer,
  request: Pick<PageRequest, 'first' | 'after'>,
): Promise<Page<EventRecord>> {
  const reading = pageReading(request);
  const after = reading.cursor === undefined ? undefined : readCursor(reading.cursor);
  const lists = liveMonths(ledger.clock.nowMs()).flatMap((month) => [
    ...PROBLEM_OUTCOMES.map((outcome) => problemList(outcome, viewer.tenant, month)),
    problemList('FAILED', undefined, month),
  ]);
  const found = await Promise.all(
    lists.map((hash) =>
      ledger.store.queryIndex({
        index: 'listed',
        hash,
        limit: reading.size + 1 + SAME_INSTANT,
        newestFirst: true,
        untilMs: after?.atMs,
      }),
    ),
  );
  const entries = found
    .flat()
    .sort(newestFirst)
    .filter((entry) => after === undefined || newestFirst(after, entry) < 0)
    .slice(0, reading.size + 1);
  const shown = entries.slice(0, reading.size).map(eventIdOf);
  const records = await readWebhookEvents(ledger, viewer, shown);
  return toPage(
    reading,
    entries.map((entry, index) => ({
      row: records[index],
      cursor: encodeCursor(String(entry.atMs), eventIdOf(entry)),
    })),
  );
}

/** A page begins within an instant that the page before ended in: so many more events are read to find the place. */
const SAME_INSTANT = 50;

/** The months in which an event that still lives may have been processed. */
function liveMonths(nowMs: number): readonly string[] {
  const lifeMs = EVENT_LIFE_S * 1000;
  return [...new Set([nowMs, nowMs - lifeMs / 2, nowMs - lifeMs].map(monthOf))];
}

type Place = Pick<IndexEntry, 'uuid' | 'atMs'>;

function newestFirst(one: Place, other: Place): number {
  if (one.atMs !== other.atMs) return other.atMs - one.atMs;
  return one.uuid < other.uuid ? -1 : one.uuid > other.uuid ? 1 : 0;
}

function eventIdOf({ uuid }: Place): string {
  return uuid.slice('stripe#'.length);
}

function readCursor(cursor: string): Place {
  const isInstant = (part: string): boolean => /^\d{1,15}$/.test(part);
  const isEventId = (part: string): boolean => part.length > 0 && part.length <= 255;
  const [at = '', eventId = ''] = decodeCursor(cursor, isInstant, isEventId);
  return { atMs: Number.parseInt(at, 10), uuid: eventKey(eventId).uuid };
}
