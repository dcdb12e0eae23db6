/** What a list was asked for: `first` after a cursor, or `last` before one. Lists are newest first. */
export interface PageRequest {
  readonly first?: number | undefined;
  readonly after?: string | undefined;
  readonly last?: number | undefined;
  readonly before?: string | undefined;
}

/** One page of a list, in the list's order. A filtered page may be short; its cursors say where the reading stood. */
export interface Page<Row> {
  readonly rows: readonly { readonly row: Row; readonly cursor: string }[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor?: string | undefined;
  readonly endCursor?: string | undefined;
}

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

/** The arguments of a page can't be met, whatever the list holds. The message is for developers. */
export class PageRequestError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PageRequestError';
  }
}

/** How a page is read: so many rows, in which direction, from where. */
export interface PageReading {
  readonly size: number;
  readonly backward: boolean;
  readonly cursor: string | undefined;
}

/** Reads the arguments of a list. Throws PageRequestError for a size outside 1 to 100 or a mix of both directions. */
export function pageReading({ first, after, last, before }: PageRequest): PageReading {
  const forward = first !== undefined || after !== undefined;
  const backward = last !== undefined || before !== undefined;
  if (forward && backward) throw new PageRequestError('give first and after, or last and before');
  const size = (backward ? last : first) ?? DEFAULT_PAGE_SIZE;
  if (size < 1 || size > MAX_PAGE_SIZE)
    throw new PageRequestError(`${backward ? 'last' : 'first'} takes 1 to ${String(MAX_PAGE_SIZE)}`);
  return { size, backward, cursor: backward ? before : after };
}

/** Something that was read for a page, and where it stands in the list. */
export interface Positioned<Row> {
  readonly row: Row | undefined;
  readonly cursor: string;
}

/** A filtered list is read on this often to fill a page; past it the page is short, and its cursor says where it stood. */
const MAX_READS = 5;

/**
 * Reads until a page is full or the list has ended. `read` gives what comes after a cursor in the direction of reading,
 * and fewer positions than the limit only at the list's end.
 */
export async function readPage<Row>(
  reading: PageReading,
  read: (cursor: string | undefined, limit: number) => Promise<readonly Positioned<Row>[]>,
): Promise<Page<Row>> {
  const limit = reading.size + 1;
  const positions: Positioned<Row>[] = [];
  let { cursor } = reading;
  let ended = false;
  for (let reads = 0; reads < MAX_READS && !ended && rowsOf(positions).length < limit; reads += 1) {
    const batch = await read(cursor, limit);
    positions.push(...batch);
    cursor = batch.at(-1)?.cursor ?? cursor;
    ended = batch.length < limit;
  }
  return toPage(reading, positions, ended);
}

/**
 * Makes a page of what was read in the direction of reading, up to its last row that fits. Positions without a row
 * (filtered away, not the viewer's) are left out, but move the cursors.
 */
export function toPage<Row>(
  { size, backward, cursor }: PageReading,
  read: readonly Positioned<Row>[],
  ended = read.length <= size,
): Page<Row> {
  const last = rowsOf(read)[size - 1];
  const more = !ended || rowsOf(read).length > size;
  const kept = last === undefined ? [...read] : read.slice(0, read.indexOf(last) + 1);
  const positions = backward ? kept.reverse() : kept;
  return {
    rows: positions.flatMap(({ row, cursor: at }) => (row === undefined ? [] : [{ row, cursor: at }])),
    hasNextPage: backward ? cursor !== undefined : more,
    hasPreviousPage: backward ? more : cursor !== undefined,
    startCursor: positions.at(0)?.cursor,
    endCursor: positions.at(-1)?.cursor,
  };
}

function rowsOf<Row>(positions: readonly Positioned<Row>[]): readonly Positioned<Row>[] {
  return positions.filter(({ row }) => row !== undefined);
}

/** A cursor is opaque to clients: what it holds may change between versions. */
export function encodeCursor(...parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts), 'utf8').toString('base64url');
}

/** The parts of a cursor that each pass their check. Throws PageRequestError for anything else. */
export function decodeCursor(
  cursor: string,
  ...checks: readonly ((part: string) => boolean)[]
): readonly string[] {
  const parts = cursor.length > 1_024 ? undefined : parseParts(cursor);
  if (parts?.length !== checks.length || !checks.every((check, index) => check(parts[index] ?? '')))
    throw new PageRequestError('after or before is no cursor of this list');
  return parts;
}

function parseParts(cursor: string): readonly string[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) && parts.every((part) => typeof part === 'string') ? parts : undefined;
  } catch {
    return undefined;
  }
}
