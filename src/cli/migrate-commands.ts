import { type BackfillResult, backfill } from '../migrations/backfill.ts';
import type { CapacityLimiter } from '../migrations/capacity.ts';
import type { Heartbeat } from '../migrations/heartbeat.ts';
import type { Migration } from '../migrations/migration.ts';
import { progressLine } from '../migrations/progress.ts';
import { readFleet, readStates } from '../migrations/read-migrations.ts';
import { MIGRATIONS, migrationOf } from '../migrations/registry.ts';
import type { MigrationState } from '../migrations/state.ts';
import { type StepResult, type Toolkit, takeStep } from '../migrations/steps.ts';
import { type VerifyResult, verify } from '../migrations/verify.ts';

export const COMMANDS = ['list', 'status', 'advance', 'back', 'backfill', 'verify'] as const;
export type Command = (typeof COMMANDS)[number];

export function isCommand(text: string): text is Command {
  return COMMANDS.some((command) => command === text);
}

export interface Request {
  readonly command: Command;
  /** Of a known migration, where the command takes one. */
  readonly id: string | undefined;
  readonly dryRun: boolean;
  readonly segments: number;
  readonly limiter: CapacityLimiter;
  readonly expectedItems: () => Promise<number>;
  readonly showProgress: (line: string) => void;
}

/** What a command answers, as data: its own JSON. `ok` is false where it was refused or found differences. */
export type Answer = { readonly ok: boolean } & (
  | { readonly command: 'list'; readonly migrations: readonly Listed[] }
  | {
      readonly command: 'status';
      readonly migrations: readonly Status[];
      readonly fleet: readonly Heartbeat[];
    }
  | { readonly command: 'advance' | 'back'; readonly id: string; readonly result: StepResult }
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

/** A table that was born in the new shape has no state of a migration. */
export const NOT_BEGUN = 'not begun';

/** Does one command. Throws where the table can't be reached. */
export async function perform(toolkit: Toolkit, request: Request): Promise<Answer> {
  const { command } = request;
  if (command === 'list' || command === 'status') return look(toolkit, command);
  const migration = migrationOf(request.id ?? '');
  if (migration === undefined) throw new RangeError('an unknown migration: refused before');
  const { id } = migration;
  switch (command) {
    case 'advance':
    case 'back': {
      const result = await takeStep(toolkit, migration, command === 'back' ? 'BACK' : 'FORWARD', request);
      return { ok: result.kind !== 'REFUSED', command, id, result };
    }
    case 'backfill': {
      const result = await runBackfill(toolkit, migration, request);
      return { ok: result.kind === 'FINISHED' && result.left === 0, command, id, result };
    }
    case 'verify': {
      const result = await verify(toolkit, migration, request);
      const ok = result.kind === 'VERIFIED' && result.report.unmoved === 0 && result.report.differences === 0;
      return { ok, command, id, result };
    }
  }
}

async function look({ table, clock }: Toolkit, command: 'list' | 'status'): Promise<Answer> {
  const states = await readStates(table.store);
  const migrations = MIGRATIONS.map(({ id, title }) => {
    const state = states.find((one) => one.id === id);
    const listed: Listed = { id, title, phase: state?.phase ?? NOT_BEGUN };
    return command === 'list' || state === undefined ? listed : { ...listed, state };
  });
  if (command === 'list') return { ok: true, command, migrations };
  return { ok: true, command, migrations, fleet: await readFleet(table.store, clock.nowMs()) };
}

async function runBackfill(
  toolkit: Toolkit,
  migration: Migration,
  { segments, dryRun, limiter, expectedItems, showProgress }: Request,
): Promise<BackfillResult> {
  const startedMs = toolkit.clock.nowMs();
  const expected = await expectedItems();
  return backfill(toolkit, migration, {
    segments,
    dryRun,
    limiter,
    onProgress: (progress) => {
      const elapsedMs = toolkit.clock.nowMs() - startedMs;
      const units = limiter.spentUnits();
      showProgress(progressLine({ ...progress, expectedItems: expected, elapsedMs, units }));
    },
  });
}
