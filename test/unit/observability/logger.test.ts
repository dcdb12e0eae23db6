import { describe, expect, test } from 'vitest';
import { createLogger, type Logger, type LogFields } from '../../../src/observability/logger.ts';
import type { LogLevel } from '../../../src/config/config.ts';

function capture(level: LogLevel = 'debug'): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const clock = { nowMs: () => 1_780_000_000_000 };
  return {
    logger: createLogger({ level, clock, destination: { write: (line) => lines.push(line) } }),
    lines,
  };
}

function parse(line: string | undefined): unknown {
  return JSON.parse(line ?? '');
}

/** As careless code would call it: with more than the types allow. */
function careless(fields: unknown): LogFields {
  return fields as LogFields;
}

test('a line holds its time, level, message and fields, those of its logger too', () => {
  const { logger, lines } = capture();
  logger.with({ tenant: 'demo', requestId: '01KT5W8Z3N8Q4V6X7Y9ZABCDEF' }).info('order paid', {
    orderId: 'alice/01KT5W8Z3N8Q4V6X7Y9ZABCDEF',
    durationMs: 12,
    livemode: false,
    reason: undefined,
  });
  expect(lines.map(parse)).toStrictEqual([
    {
      level: 'info',
      time: '2026-05-28T20:26:40.000Z',
      tenant: 'demo',
      requestId: '01KT5W8Z3N8Q4V6X7Y9ZABCDEF',
      orderId: 'alice/01KT5W8Z3N8Q4V6X7Y9ZABCDEF',
      durationMs: 12,
      livemode: false,
      message: 'order paid',
    },
  ]);
});

test('a level below the configured one says nothing', () => {
  const { logger, lines } = capture('warn');
  logger.debug('one');
  logger.info('two');
  logger.warn('three');
  logger.error('four');
  expect(lines.map((line) => (parse(line) as { message: string }).message)).toStrictEqual(['three', 'four']);
  const silent = capture('silent');
  silent.logger.error('five');
  expect(silent.lines).toStrictEqual([]);
});

describe('no personal data reaches a line', () => {
  const sentinel = 'pii-sentinel@x.test';
  const deep = { a: { b: { c: { d: { email: sentinel } } } } };

  test.each<[string, unknown]>([
    ['at the root', { email: sentinel }],
    ['in an allowed field', { reason: `declined for ${sentinel}` }],
    ['in an object in an allowed field', { reason: { email: sentinel } }],
    ['at depth', { reason: deep, ...deep }],
    ['in an array', { reason: [sentinel, [{ email: sentinel }]] }],
    ['in an event', { data: { object: { customer_details: { email: sentinel } } } }],
    ['in a JSON string', { reason: JSON.stringify({ email: sentinel }) }],
    ['in JSON in a JSON string', { reason: JSON.stringify({ body: JSON.stringify({ email: sentinel }) }) }],
    ['in a key', { [sentinel]: 1 }],
    ['behind toJSON', { reason: { toJSON: () => sentinel } }],
    ['in bytes', { reason: Buffer.from(sentinel) }],
  ])('%s', (_, fields) => {
    const { logger, lines } = capture();
    logger.info('seen', careless(fields));
    logger.with(careless(fields)).info('seen');
    expect(lines).toHaveLength(2);
    expect(lines.join('')).not.toContain('sentinel');
  });

  test('in a message', () => {
    const { logger, lines } = capture();
    logger.info(`welcome ${sentinel}`);
    expect(parse(lines[0])).toMatchObject({ message: 'welcome [redacted]' });
  });

  test('in an error: its message, stack, causes and what hangs on it', () => {
    const { logger, lines } = capture();
    const cause = Object.assign(new TypeError(`cause ${sentinel}`), { code: 'ECONNRESET' });
    const error = Object.assign(new Error(`failed for ${sentinel}`, { cause }), {
      code: 'TransactionCanceledException',
      item: { email: sentinel },
      CancellationReasons: [{ Item: { email: { S: sentinel } } }],
    });
    logger.error('operation failed', { operation: 'CHARGE' }, error);
    expect(lines.join('')).not.toContain('sentinel');
    expect(parse(lines[0])).toMatchObject({
      operation: 'CHARGE',
      error: {
        name: 'Error',
        code: 'TransactionCanceledException',
        message: 'failed for [redacted]',
        cause: { name: 'TypeError', code: 'ECONNRESET', message: 'cause [redacted]' },
      },
    });
    expect(lines[0]).toContain('logger.test.ts');
  });

  test('in something thrown that is no error', () => {
    const { logger, lines } = capture();
    logger.error('operation failed', {}, { email: sentinel });
    logger.error('operation failed', {}, sentinel);
    expect(lines.join('')).not.toContain('sentinel');
    expect(lines.map(parse)).toMatchObject([{ error: { name: 'object' } }, { error: { name: 'string' } }]);
  });

  test('an error that is its own cause ends', () => {
    const { logger, lines } = capture();
    const error = new Error('loop');
    error.cause = error;
    logger.error('operation failed', {}, error);
    expect(lines).toHaveLength(1);
  });
});

test('a destination that fails stops nobody', () => {
  const logger = createLogger({
    level: 'info',
    clock: { nowMs: () => 0 },
    destination: {
      write: () => {
        throw new Error('disk full');
      },
    },
  });
  expect(() => {
    logger.info('order paid');
  }).not.toThrow();
});
