import { MIGRATIONS, migrationOf } from '../migrations/registry.ts';
import { UsageError, readCount, readWords } from './command-line.ts';
import { COMMANDS, type Command, isCommand } from './migrate-commands.ts';

const KNOWN = MIGRATIONS.map(({ id }) => id).join(', ');
export const HELP = `Usage: npm run migrate -- ${COMMANDS.join(' | ')} [<migration>] [options]
Migrations: ${KNOWN}

  list                   what there is, and in which phase it is
  status                 phases, walks, verifies, and the fleet while a migration is under way
  advance, back          one phase forward or back, if its gate is open
  backfill               moves records, or in cleanup removes their old shape
  verify                 compares the old shape with the new one

  --dry-run              says what would be done
  --json                 prints the answer as data
  --segments N           reads the table in N parts, 1…1000; 8 unless given
  --units-per-second N   the most that a backfill consumes; 200 unless given

Examples:
  npm run migrate -- status
  npm run migrate -- advance god-record --dry-run
  npm run migrate -- backfill god-record --segments 16 --units-per-second 500

Exit codes: 0 done, 1 refused, or records left or differences found, 2 asked wrongly, 3 the table could not be reached`;

/** What `npm run migrate` was asked for. */
export interface MigrateOptions {
  readonly command: Command;
  readonly id: string | undefined;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly segments: number;
  readonly unitsPerS: number;
}

/** Reads the words after the command. Throws UsageError that names the one that is wrong. */
export function readOptions(args: readonly string[]): MigrateOptions {
  const { has, valueOf, words } = readWords(args, {
    flags: ['dry-run', 'json'],
    options: ['segments', 'units-per-second'],
    maxWords: 2,
  });
  const [command, id] = words;
  if (command === undefined) throw new UsageError('Say what to do.');
  if (!isCommand(command)) throw new UsageError(`"${command}" is none of ${COMMANDS.join(', ')}.`);
  if (command === 'list' || command === 'status') {
    if (id !== undefined)
      throw new UsageError(`${command} is of all migrations: "${id}" is a word too many.`);
  } else if (id === undefined) throw new UsageError(`${command} takes a migration: ${KNOWN}.`);
  else if (migrationOf(id) === undefined)
    throw new UsageError(`There is no migration "${id}", only ${KNOWN}.`);
  return {
    command,
    id,
    dryRun: has('dry-run'),
    json: has('json'),
    segments: readCount('--segments', valueOf('segments') ?? '8', 1_000),
    unitsPerS: readCount('--units-per-second', valueOf('units-per-second') ?? '200', 1_000_000),
  };
}
