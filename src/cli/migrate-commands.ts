import { type BackfillResult, backfill } from '../migrations/backfill.ts';
import type { Progress } from '../migrations/checkpoints.ts';
import { MIGRATIONS, migrationOf } from '../migrations/manifests.ts';
import type { CapacityLimiter } from '../migrations/scan.ts';
import type { Heartbeat, MigrationState } from '../migrations/state.ts';
import { type MigrationStepResult, takeStep } from '../migrations/steps.ts';
import { type Toolkit, readFleet, readStates } from '../migrations/toolkit.ts';
import { type VerifyResult, verify } from '../migrations/verify.ts';
import { UsageError, readCount, readWords } from './command-line.ts';

const COMMANDS = ['list', 'status', 'advance', 'back', 'backfill', 'verify'] as const;
type Command = (typeof COMMANDS)[number];

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

function isCommand(text: string): text is Command {
  return COMMANDS.some((command) => command === text);
}

/** What a command answers, as data: its own JSON. `ok` is false where it was refused or found differences. */
export type MigrateAnswer = { readonly ok: boolean } & (
  | { readonly command: 'list'; readonly migrations: readonly Listed[] }
  | {
      readonly command: 'status';
      readonly migrations: readonly Status[];
      readonly fleet: readonly Heartbeat[];
    }
  | { readonly command: 'advance' | 'back'; readonly id: string; readonly result: MigrationStepResult }
  | { readonly command: 'backfill'; readonly id: string; readonly result: BackfillResult }
  | { readonly command: 'verify'; readonly id: string; readonly result: VerifyResult }
);

export interface Listed {
  readonly id: string;
  readonly title: string;
  readonly phase: string;
}

export interface Status extends Listed {
  readonly state?: MigrationState;
}

/** A table that had the new shape from the start has no state of a migration. */
export const NOT_BEGUN = 'not begun';

/** Does one command. Throws where the table can't be reached. */
export async function perform(
  toolkit: Toolkit,
  options: MigrateOptions,
  pace: { readonly limiter: CapacityLimiter; readonly onProgress: (progress: Progress) => void },
): Promise<MigrateAnswer> {
  const { command } = options;
  if (command === 'list' || command === 'status') return look(toolkit, command);
  const migration = migrationOf(options.id ?? '');
  if (migration === undefined) throw new RangeError('an unknown migration: refused before');
  const { id } = migration;
  switch (command) {
    case 'advance':
    case 'back': {
      const result = await takeStep(toolkit, migration, command === 'back' ? 'BACK' : 'FORWARD', options);
      return { ok: result.kind !== 'REFUSED', command, id, result };
    }
    case 'backfill': {
      const result = await backfill(toolkit, migration, { ...options, ...pace });
      return { ok: result.kind === 'FINISHED' && result.left === 0, command, id, result };
    }
    case 'verify': {
      const result = await verify(toolkit, migration, options);
      const ok = result.kind === 'VERIFIED' && result.report.unmoved === 0 && result.report.differences === 0;
      return { ok, command, id, result };
    }
  }
}

async function look({ table, clock }: Toolkit, command: 'list' | 'status'): Promise<MigrateAnswer> {
  const states = await readStates(table.store);
  const migrations = MIGRATIONS.map(({ id, title }) => {
    const state = states.find((one) => one.id === id);
    const listed: Listed = { id, title, phase: state?.phase ?? NOT_BEGUN };
    return command === 'list' || state === undefined ? listed : { ...listed, state };
  });
  if (command === 'list') return { ok: true, command, migrations };
  return { ok: true, command, migrations, fleet: await readFleet(table.store, clock.nowMs()) };
}
