import { z } from 'zod';
import { classifyFailure } from './errors.ts';
import type { Page, PageRequest, ProviderResult } from '../port.ts';
import { providerId, type Reader, unreadable } from './shapes.ts';

/** Makes one call and judges how it ended. An answer without what we need doesn't undo what the call did: UNKNOWN. */
export async function call<Value>(
  send: () => Promise<unknown>,
  reader: Reader<Value>,
): Promise<ProviderResult<Value>> {
  let answer: unknown;
  try {
    answer = await send();
  } catch (error) {
    return classifyFailure(error);
  }
  const reading = reader(answer);
  return reading.kind === 'READ'
    ? { kind: 'DONE', value: reading.value }
    : { kind: 'UNKNOWN', reason: 'unreadable_answer' };
}

/** The parameters that Stripe's lists share, by its own names. */
export interface ListParameters {
  readonly limit: number;
  readonly created?: { readonly gte: number };
  readonly starting_after?: string;
}

/**
 * Reads one page of a list, without what is FOREIGN. A page of foreign objects alone is passed over, since a caller
 * continues after the last item that it got. One UNREADABLE item makes the page UNKNOWN: whoever looks for a refund
 * must not take "can't be read" for "isn't there".
 */
export async function list<Value>(
  page: PageRequest,
  send: (parameters: ListParameters) => Promise<unknown>,
  reader: Reader<Value>,
): Promise<ProviderResult<Page<Value>>> {
  let { after } = page;
  for (;;) {
    const parameters = listParameters({ ...page, ...(after !== undefined && { after }) });
    const found = await call(() => send(parameters), pageReader(reader));
    if (found.kind !== 'DONE') return found;
    const { items, hasMore, lastId } = found.value;
    if (items.length > 0 || !hasMore || lastId === undefined)
      return { kind: 'DONE', value: { items, hasMore: hasMore && lastId !== undefined } };
    after = lastId;
  }
}

function listParameters({ limit, createdFromS, after }: PageRequest): ListParameters {
  return {
    limit,
    ...(createdFromS !== undefined && { created: { gte: createdFromS } }),
    ...(after !== undefined && { starting_after: after }),
  };
}

const listShape = z.object({ object: z.literal('list'), has_more: z.boolean(), data: z.array(z.unknown()) });

const identified = z.object({ id: providerId });

function pageReader<Value>(reader: Reader<Value>): Reader<Page<Value> & { readonly lastId?: string }> {
  return (raw) => {
    const parsed = listShape.safeParse(raw);
    if (!parsed.success) return unreadable(parsed.error);
    const { data, has_more: hasMore } = parsed.data;
    const readings = data.map(reader);
    const bad = readings.find((reading) => reading.kind === 'UNREADABLE');
    if (bad !== undefined) return bad;
    const items = readings.flatMap((reading) => (reading.kind === 'READ' ? [reading.value] : []));
    const lastId = identified.safeParse(data.at(-1)).data?.id;
    return { kind: 'READ', value: { items, hasMore, ...(lastId !== undefined && { lastId }) } };
  };
}
