import { describe, expect, it } from 'vitest';
import { UsageError, counted, readWords } from '../../../src/cli/command-line.ts';
import { readOptions } from '../../../src/cli/migrate-commands.ts';

function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'taken';
}

describe('readWords', () => {
  const grammar = { flags: ['json'], options: ['since'], maxWords: 1 } as const;
  const read = (line: string) => readWords(line.split(' '), grammar);

  it('reads flags, options in both forms, and words', () => {
    const words = read('one --json --since=24h');
    expect([words.has('json'), words.valueOf('since'), words.words]).toEqual([true, '24h', ['one']]);
    expect(read('--since 24h --since -1').valueOf('since')).toBe('-1');
    expect([read('one').has('json'), read('one').valueOf('since')]).toEqual([false, undefined]);
  });

  it.each([
    ['--jsn', 'There is no option --jsn here.'],
    ['-j', 'There is no option -j here.'],
    ['--no-json', 'There is no option --no-json here.'],
    ['--json=yes', '--json takes no value.'],
    ['--since', '--since takes a value.'],
    ['--since=', '--since takes a value.'],
    ['--since --json', '--since takes a value.'],
    ['one two three', '"two" is a word too many.'],
  ])('refuses %s by name', (line, message) => {
    expect(refusal(() => read(line))).toBe(message);
  });
});

it.each([
  ['forward god-record', '"forward" is none of list, status, advance, back, backfill, verify.'],
  ['advance', 'advance takes a migration: god-record, metrics-split.'],
  ['advance bogus', 'There is no migration "bogus", only god-record, metrics-split.'],
  ['advance god-record now', '"now" is a word too many.'],
  ['status god-record', 'status is of all migrations: "god-record" is a word too many.'],
  ['list extra', 'list is of all migrations: "extra" is a word too many.'],
  ['backfill god-record --segments 0', '--segments takes a whole number from 1 to 1000, not "0".'],
  ['backfill god-record --segments 1001', '--segments takes a whole number from 1 to 1000, not "1001".'],
  [
    'backfill god-record --units-per-second -1',
    '--units-per-second takes a whole number from 1 to 1000000, not "-1".',
  ],
  [
    'backfill god-record --units-per-second 1e3',
    '--units-per-second takes a whole number from 1 to 1000000, not "1e3".',
  ],
])('migrate refuses "%s" by the word that is wrong', (line, message) => {
  expect(refusal(() => readOptions(line.split(' ')))).toBe(message);
});

it('migrate without a word asks for one', () => {
  expect(refusal(() => readOptions([]))).toBe('Say what to do.');
});

it('counts in words', () => {
  expect([0, 1, 2].map((count) => counted(count, 'payment'))).toEqual([
    '0 payments',
    '1 payment',
    '2 payments',
  ]);
  expect(counted(2, 'entry', 'entries')).toBe('2 entries');
});
