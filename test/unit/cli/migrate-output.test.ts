import { expect, it } from 'vitest';
import { type MigrateAnswer, NOT_BEGUN } from '../../../src/cli/migrate-commands.ts';
import { printedAnswer } from '../../../src/cli/migrate-output.ts';

type Status = Extract<MigrateAnswer, { command: 'status' }>;

function status(phase: string, fleet: Status['fleet'] = []): string {
  const migrations = [{ id: 'god-record', title: 'One', phase }];
  return printedAnswer({ ok: true, command: 'status', migrations, fleet });
}

it('says when processes begin to tell of themselves, where no migration is under way', () => {
  for (const phase of [NOT_BEGUN, 'done']) {
    expect(status(phase)).toBe(
      `god-record: ${phase}\nfleet: unknown; processes write heartbeats only while a migration is under way, ` +
        'within a second of its first advance',
    );
  }
});

it('says that nobody was heard of, where one is', () => {
  expect(status('off')).toBe('god-record: off\nfleet: no process was heard of within the last minute');
});

it('lists the processes that were heard of', () => {
  const heard = [{ process: 'p1', atMs: 0, actsOn: { id: 'god-record', version: 2 } }];
  expect(status('expand', heard)).toBe(
    'god-record: expand\nprocess p1: acts on god-record, step 2, heard of 1970-01-01T00:00:00.000Z',
  );
});
