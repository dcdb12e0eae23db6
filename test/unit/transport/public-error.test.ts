import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Logger, LogFields } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { forbidden } from '../../../src/schema/errors.ts';
import { publicError } from '../../../src/transport/public-error.ts';

function show(error: unknown, suggestions = true): { shown: object; logged: readonly LogFields[] } {
  const logged: LogFields[] = [];
  const log = (_message: string, fields: LogFields = {}): void => void logged.push(fields);
  const logger: Logger = { debug: log, info: log, warn: log, error: log, with: () => logger };
  const { message, extensions, path } = publicError(error, {
    requestId: 'r-1',
    log: logger,
    metrics: createMetrics(),
    suggestions,
  });
  return { shown: { message, extensions, path }, logged };
}

describe('an error as a client sees it', () => {
  it('is itself where it was meant for clients', () => {
    expect(show(forbidden())).toEqual({
      shown: { message: 'Your role may not do this.', extensions: { code: 'FORBIDDEN' }, path: undefined },
      logged: [],
    });
  });

  it('is BAD_REQUEST where GraphQL refused the request', () => {
    expect(show(new GraphQLError('Syntax Error: Unexpected <EOF>.')).shown).toMatchObject({
      message: 'Syntax Error: Unexpected <EOF>.',
      extensions: { code: 'BAD_REQUEST' },
    });
  });

  it.each([
    ['an Error', new Error('secret')],
    ['what is no Error', 'secret'],
    [
      'what a resolver threw',
      new GraphQLError('secret', { path: ['a'], originalError: new Error('secret') }),
    ],
    ['a GraphQLError of a resolver without a code', new GraphQLError('secret', { path: ['a'] })],
    ['a code that is none of ours', new GraphQLError('secret', { path: ['a'], extensions: { code: 'X' } })],
  ])('is INTERNAL and logged with its id: %s', (_, error) => {
    const { shown, logged } = show(error);
    expect(shown).toMatchObject({
      message: 'Internal error.',
      extensions: { code: 'INTERNAL', requestId: 'r-1' },
    });
    expect(JSON.stringify(shown)).not.toContain('secret');
    expect(logged).toEqual([{ requestId: 'r-1' }]);
  });

  it('names nothing that the client did not where suggestions are off', () => {
    const error = new GraphQLError('Cannot query field "a" on type "Query". Did you mean "b", "c", or "d"?');
    expect(show(error, false).shown).toMatchObject({ message: 'Cannot query field "a" on type "Query".' });
    expect(show(error, true).shown).toMatchObject({ message: error.message });
  });
});
