import { type MigrateAnswer, NOT_BEGUN, type Status } from './migrate-commands.ts';
import type { BackfillResult } from '../migrations/backfill.ts';
import type { Progress } from '../migrations/checkpoints.ts';
import type { ParityReport } from '../migrations/parity.ts';
import type { MigrationStepResult } from '../migrations/steps.ts';
import { isoInstant } from '../ledger/kernel/clock.ts';
import { counted } from './command-line.ts';

/** An answer for people. */
export function printedAnswer(answer: MigrateAnswer): string {
  switch (answer.command) {
    case 'list':
      return answer.migrations
        .map(({ id, title, phase }) => `${id.padEnd(16)}${phase.padEnd(12)}${title}`)
        .join('\n');
    case 'status':
      return [...answer.migrations.flatMap(printedStatus), ...printedFleet(answer)].join('\n');
    case 'advance':
    case 'back':
      return printedStep(answer.id, answer.result);
    case 'backfill':
      return printedBackfill(answer.id, answer.result);
    case 'verify':
      return answer.result.kind === 'REFUSED'
        ? refusal(answer.id, answer.result.reasons)
        : printedParity(answer.result.report);
  }
}

function refusal(id: string, reasons: readonly string[]): string {
  return [`${id}: refused.`, ...reasons.map((reason) => `  - ${reason}`)].join('\n');
}

function printedStatus({ id, phase, state }: Status): readonly string[] {
  if (state === undefined) return [`${id}: ${phase}`];
  const { walk, verification } = state;
  return [
    `${id}: ${phase} since ${isoInstant(state.sinceMs)}, by ${state.by} (step ${state.version})`,
    ...(walk === undefined
      ? []
      : [
          walk.finishedAtMs === undefined
            ? `  backfill: under way or broken off, begun ${isoInstant(walk.startedAtMs)} by ${walk.by}`
            : `  backfill: finished ${isoInstant(walk.finishedAtMs)}, ${counted(walk.failed, 'record')} left`,
        ]),
    ...(verification === undefined
      ? []
      : [
          verification.finishedAtMs === undefined
            ? `  verify: under way or broken off, begun ${isoInstant(verification.startedAtMs)}`
            : `  verify: finished ${isoInstant(verification.finishedAtMs)}, ${counted(verification.records, 'record')}, ` +
              `${verification.unmoved} unmoved, ${counted(verification.differences, 'difference')}`,
        ]),
  ];
}

function printedFleet({
  migrations,
  fleet,
}: Extract<MigrateAnswer, { command: 'status' }>): readonly string[] {
  if (fleet.length > 0)
    return fleet.map(
      ({ process, atMs, actsOn }) =>
        `process ${process}: ${actsOn === undefined ? 'joining' : `acts on ${actsOn.id}, step ${actsOn.version}`}, ` +
        `heard of ${isoInstant(atMs)}`,
    );
  const isUnderWay = migrations.some(({ phase }) => phase !== NOT_BEGUN && phase !== 'done');
  return [
    isUnderWay
      ? 'fleet: no process was heard of within the last minute'
      : 'fleet: unknown; processes write heartbeats only while a migration is under way, within a second of its first advance',
  ];
}

function printedStep(id: string, result: MigrationStepResult): string {
  switch (result.kind) {
    case 'TAKEN':
      return `${id}: ${result.state.phase}`;
    case 'READY':
      return `${id}: nothing speaks against ${result.from?.phase ?? 'the beginning'} → ${result.to} (dry run)`;
    case 'REFUSED':
      return refusal(id, result.reasons);
  }
}

function printedBackfill(id: string, result: BackfillResult): string {
  if (result.kind === 'REFUSED') return refusal(id, result.reasons);
  const { dryRun, resumed, scanned, handled, left, leftRecords } = result;
  return [
    `${id}: ${counted(scanned, 'item')} read, ${counted(handled, 'record')} ${dryRun ? 'to do (dry run)' : 'done'}, ${left} left` +
      (resumed ? ', gone on from where an earlier run stopped' : ''),
    ...leftRecords.map(({ record, reason }) => `  - ${record}: ${reason}`),
  ].join('\n');
}

function printedParity({ records, unmoved, differences, totals, listed }: ParityReport): string {
  return [
    ...totals.map(
      (total) =>
        `${total.tenant.padEnd(16)}${total.asset.padEnd(12)}${String(total.accounts).padStart(9)} accounts  ` +
        `${total.old.padStart(20)} ${total.old === total.new ? '=' : '≠'} ${total.new.padStart(20)}  ` +
        counted(total.differences, 'difference'),
    ),
    ...listed.map(
      ({ kind, tenant, accountId, of, old, new: after }) =>
        `${kind}  ${tenant}#${accountId}  ${of ?? ''}${old === undefined ? '' : `  ${old} ≠ ${after ?? ''}`}`,
    ),
    `${counted(records, 'record')}, ${unmoved} unmoved, ${counted(differences, 'difference')}`,
  ].join('\n');
}

export interface ProgressLine extends Progress {
  /** About how many items the table has; 0: unknown. */
  readonly expectedItems: number;
  readonly elapsedMs: number;
  /** Capacity units consumed so far. */
  readonly units: number;
}

const BAR_WIDTH = 30;

/** One line: a bar, what was done, and about how long it will still take. */
export function migrationProgressLine(progress: ProgressLine): string {
  const { scanned, handled, failed, expectedItems, elapsedMs, units } = progress;
  const part = expectedItems === 0 ? 0 : Math.min(1, scanned / expectedItems);
  const filled = Math.floor(part * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  const left = failed === 0 ? '' : `, ${failed} left`;
  const percent = `${Math.floor(part * 100)} %`.padStart(5);
  return `${bar} ${percent}  ${scanned} items, ${handled} records${left}, ${Math.ceil(units)} units, ${estimate(part, elapsedMs)}`;
}

function estimate(part: number, elapsedMs: number): string {
  if (part >= 1) return `done in ${duration(elapsedMs)}`;
  return part === 0 ? 'no estimate yet' : `about ${duration((elapsedMs / part) * (1 - part))} to go`;
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
