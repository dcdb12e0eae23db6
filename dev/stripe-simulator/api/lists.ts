import { referenceMissing } from './errors.ts';

export interface CreatedRange {
  readonly gt?: number | undefined;
  readonly gte?: number | undefined;
  readonly lt?: number | undefined;
  readonly lte?: number | undefined;
}

export interface ListQuery {
  readonly created?: number | CreatedRange | undefined;
  readonly ending_before?: string | undefined;
  readonly limit: number;
  readonly starting_after?: string | undefined;
}

export interface ListPage<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly url: string;
}

/**
 * One page of a list, newest first, as Stripe pages: a cursor is the id of the last object seen.
 * @param oldestFirst the objects in order of creation
 */
export function pageOf<T extends { readonly id: string; readonly created: number }>(
  url: string,
  oldestFirst: readonly T[],
  query: ListQuery,
): ListPage<T> {
  const matching = oldestFirst.filter((item) => isWithin(item.created, query.created)).reverse();
  if (query.ending_before !== undefined) {
    const end = positionOf(matching, query.ending_before, 'ending_before');
    const start = Math.max(0, end - query.limit);
    return { object: 'list', data: matching.slice(start, end), has_more: start > 0, url };
  }
  const start =
    query.starting_after === undefined ? 0 : positionOf(matching, query.starting_after, 'starting_after') + 1;
  const end = start + query.limit;
  return { object: 'list', data: matching.slice(start, end), has_more: end < matching.length, url };
}

function isWithin(created: number, range: number | CreatedRange | undefined): boolean {
  if (range === undefined) return true;
  if (typeof range === 'number') return created === range;
  return (
    created > (range.gt ?? -Infinity) &&
    created >= (range.gte ?? -Infinity) &&
    created < (range.lt ?? Infinity) &&
    created <= (range.lte ?? Infinity)
  );
}

function positionOf(items: readonly { readonly id: string }[], id: string, param: string): number {
  const position = items.findIndex((item) => item.id === id);
  if (position < 0) throw referenceMissing('object', id, param);
  return position;
}
