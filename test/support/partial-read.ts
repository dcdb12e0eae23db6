import { z } from 'zod';

const requestSchema = z.object({
  RequestItems: z.record(z.string(), z.looseObject({ Keys: z.array(z.unknown()) })),
});
const answerSchema = z.looseObject({ Responses: z.record(z.string(), z.array(z.unknown())) });

type Read = z.output<typeof requestSchema>['RequestItems'];

/** A read by keys in two: one key of each table, and the others; undefined where there are none. */
export interface PartialRead {
  readonly undone: Read;
  readonly rest: string | undefined;
}

/** Undefined for a request that isn't a read by keys. */
export function partOf(body: string, which: 'FIRST' | 'LAST'): PartialRead | undefined {
  const request = requestSchema.safeParse(JSON.parse(body)).data;
  if (request === undefined) return undefined;
  const at = which === 'FIRST' ? 0 : -1;
  const tables = Object.entries(request.RequestItems).map(([name, read]) => {
    const one = read.Keys.at(at);
    return { name, read, one, others: read.Keys.filter((key) => key !== one) };
  });
  const rest = tables.filter(({ others }) => others.length > 0);
  return {
    undone: Object.fromEntries(tables.map(({ name, read, one }) => [name, { ...read, Keys: [one] }])),
    rest:
      rest.length === 0
        ? undefined
        : JSON.stringify({
            RequestItems: Object.fromEntries(
              rest.map(({ name, read, others }) => [name, { ...read, Keys: others }]),
            ),
          }),
  };
}

/** The answer to the rest of a read, as if the others had exceeded what the table may read now. */
export function partlyAnswered(undone: Read, answerToRest: string | undefined): string {
  const answer =
    answerToRest === undefined ? { Responses: {} } : answerSchema.parse(JSON.parse(answerToRest));
  return JSON.stringify({ ...answer, UnprocessedKeys: undone });
}
