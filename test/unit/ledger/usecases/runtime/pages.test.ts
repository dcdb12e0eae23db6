import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type Page,
  type PageRequest,
  type Positioned,
  pageReading,
  readPage,
} from '../../../../../src/ledger/usecases/runtime/pages.ts';

/** A list of numbers, of which only some are shown. */
function listOf(length: number, isShown: (value: number) => boolean) {
  return (request: PageRequest): Promise<Page<number>> => {
    const reading = pageReading(request);
    return readPage(reading, (cursor, limit) => {
      const all = Array.from({ length }, (_, value): Positioned<number> => {
        return { row: isShown(value) ? value : undefined, cursor: String(value) };
      });
      if (reading.backward) all.reverse();
      const start = cursor === undefined ? 0 : all.findIndex((one) => one.cursor === cursor) + 1;
      return Promise.resolve(all.slice(start, start + limit));
    });
  };
}

const valuesOf = ({ rows }: Page<number>): readonly number[] => rows.map(({ row }) => row);

it('reads on to fill a page, and gives up a long search with a cursor to go on from', async () => {
  const list = listOf(100, (value) => value === 20 || value === 60);
  const first = await list({ first: 1 });
  // A page of one reads two at a time, five times.
  expect(first).toMatchObject({ rows: [], hasNextPage: true, endCursor: '9' });
  expect(await list({ first: 5 })).toMatchObject({ rows: [{ row: 20 }], hasNextPage: true, endCursor: '29' });
  expect(await list({ first: 5, after: '50' })).toMatchObject({ rows: [{ row: 60 }], hasNextPage: true });
  expect(await list({ first: 5, after: '71' })).toMatchObject({ rows: [], hasNextPage: false });
});

it('misses nothing and tells nothing twice, at any size, in both directions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      async (shown, size, backward) => {
        const list = listOf(shown.length, (value) => shown[value] === true);
        const seen: number[] = [];
        let cursor: string | undefined;
        for (let more = true; more;) {
          const page = await list(backward ? { last: size, before: cursor } : { first: size, after: cursor });
          expect(page.rows.length).toBeLessThanOrEqual(size);
          if (backward) seen.unshift(...valuesOf(page));
          else seen.push(...valuesOf(page));
          more = backward ? page.hasPreviousPage : page.hasNextPage;
          cursor = backward ? page.startCursor : page.endCursor;
        }
        expect(seen).toEqual(shown.flatMap((isShown, value) => (isShown ? [value] : [])));
      },
    ),
  );
});
