import { linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../../src/config/config-error.ts';
import { DATABASE_FILE, DATABASE_OPTION } from './engine.ts';
import { type ProcessMark, isProven, isRunning, markOf, processesWith } from './processes.ts';
import { type RunningRecord, readRecord, runningFile } from './running.ts';

/** A DATA_DIR that belongs to this process until `release`. */
export interface DataDirClaim {
  /** Notes the engine that runs on it, so that whoever comes after a crash can end it. */
  readonly engineStarted: (pid: number) => void;
  /** Tells the other commands where everything is. */
  readonly announce: (addresses: Omit<RunningRecord, keyof ProcessMark | 'engine'>) => void;
  /** Gives it back; what another process wrote meanwhile stays. Again is the same as once. */
  readonly release: () => void;
}

/** Enough for every process that comes at the same moment to have had its turn. */
const CLAIM_ATTEMPTS = 10;
const ORPHAN_TIMEOUT_MS = 5_000;
const POLL_INTERVAL_MS = 10;

/**
 * Makes DATA_DIR and takes it for this process: two engines on one file would corrupt it. What a process that has gone left is
 * taken over, and the engine that it left running is ended. Throws an Error in one sentence: DATA_DIR can't be written to,
 * or who has it.
 */
export async function claimDataDir(dataDir: string): Promise<DataDirClaim> {
  const file = runningFile(dataDir, process.pid);
  let record: RunningRecord = markOf(process.pid);
  const left = orConfigError(() => {
    makeFolder(dirname(file));
    return take(file, record);
  });
  const release = (): void => {
    if (readRecord(file)?.pid === process.pid) rmSync(file, { force: true });
  };
  try {
    if (dataDir !== 'memory') await endOrphans(join(dataDir, DATABASE_FILE), left?.engine);
  } catch (error) {
    release();
    throw error;
  }
  const write = (more: Partial<RunningRecord>): void => {
    record = { ...record, ...more };
    renameSync(writeDraft(file, record), file);
  };
  return {
    engineStarted: (pid) => {
      write({ engine: markOf(pid) });
    },
    announce: write,
    release,
  };
}

/** Makes a folder and those that it is in. Node's own recursive one never returns for a path beneath /proc. */
function makeFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  if (dirname(resolve(folder)) !== resolve(folder)) makeFolder(dirname(resolve(folder)));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it in between.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/** Puts the record where none is, and gives what a process that has gone had left there. */
function take(file: string, record: RunningRecord): RunningRecord | undefined {
  const draft = writeDraft(file, record);
  let left: RunningRecord | undefined;
  try {
    for (let attempt = 1; attempt <= CLAIM_ATTEMPTS; attempt += 1) {
      // A link appears with all that it holds, and never in another's place.
      if (linkIfAbsent(draft, file)) return left;
      left = readRecord(file);
      if (left !== undefined && isRunning(left)) throw new AlreadyRunningError(left);
      removeLeft(file, left);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  throw new Error('DATA_DIR is being taken by several processes at once: try again.');
}

/** Removes what was read there. If another process has put its own in that place since, that is put back. */
function removeLeft(file: string, left: RunningRecord | undefined): void {
  const overflow = `${file}.${String(process.pid)}.left`;
  try {
    renameSync(file, overflow);
  } catch {
    return;
  }
  const moved = readRecord(overflow);
  if (moved !== undefined && moved.pid !== left?.pid && isRunning(moved)) linkIfAbsent(overflow, file);
  rmSync(overflow, { force: true });
}

function linkIfAbsent(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function writeDraft(file: string, record: RunningRecord): string {
  const draft = `${file}.${String(process.pid)}.draft`;
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`);
  return draft;
}

/** Ends the engine that was left on the database, if it is proven to be that one. Throws an Error that names any other. */
async function endOrphans(database: string, left: ProcessMark | undefined): Promise<void> {
  const found = new Set(processesWith(DATABASE_OPTION, database));
  // Where nobody can list them, the one that was noted is all there is to ask about.
  if (left !== undefined && left.startedAt === undefined && isRunning(left)) found.add(left.pid);
  for (const pid of found) {
    if (left?.pid !== pid || !isProven(left)) {
      throw new Error(`DATA_DIR's database is still open in process ${String(pid)}: end that one first.`);
    }
    process.kill(pid, 'SIGKILL');
    const deadline = performance.now() + ORPHAN_TIMEOUT_MS;
    while (isProven(left) && performance.now() < deadline) await delay(POLL_INTERVAL_MS);
  }
}

class AlreadyRunningError extends Error {
  constructor({ pid, gatewayUrl }: RunningRecord) {
    const where = gatewayUrl === undefined ? 'which is still starting' : `at ${gatewayUrl}`;
    super(
      `Hitotsu is already running on this DATA_DIR, as process ${String(pid)}, ${where}: stop it, or set DATA_DIR to another.`,
    );
  }
}

/** Runs what touches the folder; what the system refuses there is DATA_DIR's fault. */
function orConfigError<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    throw new ConfigError([
      `DATA_DIR must name a folder that can be made and written to, or be memory (${String(error.code)}).`,
    ]);
  }
}
