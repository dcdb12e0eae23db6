import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * A process, so that it is told from a later one with the same number: by when it started, in the kernel's ticks, where that
 * can be known (Linux).
 */
export interface ProcessMark {
  readonly pid: number;
  readonly startedAt?: string | undefined;
}

export function markOf(pid: number): ProcessMark {
  const startedAt = startOf(pid);
  return startedAt === undefined ? { pid } : { pid, startedAt };
}

/** Whether that very process still runs; where nobody can know, whether any does under its number. */
export function isRunning({ pid, startedAt }: ProcessMark): boolean {
  return isAlive(pid) && (startedAt === undefined || startOf(pid) === startedAt);
}

/** Whether that very process still runs, and that is proven. */
export function isProven({ pid, startedAt }: ProcessMark): boolean {
  return startedAt !== undefined && startOf(pid) === startedAt;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is alive as well.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** The start in ticks since boot, from what Linux tells of a process; a dead one that nobody has buried has no start. */
function startOf(pid: number): string | undefined {
  const text = readOrUndefined(() => readFileSync(`/proc/${String(pid)}/stat`, 'utf8'));
  // The name stands in brackets and may hold blanks and brackets. After it come the state, and 19 fields later the start.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  return fields[0] === 'Z' ? undefined : fields[19];
}

/** The processes of this machine that were started with this option naming this file. Empty where /proc doesn't tell. */
export function processesWith(option: string, file: string): readonly number[] {
  const pids = (readOrUndefined(() => readdirSync('/proc')) ?? []).filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => namesFile(pid, option, file)).map((pid) => Number.parseInt(pid, 10));
}

function namesFile(pid: string, option: string, file: string): boolean {
  const given = readOrUndefined(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')) ?? [];
  const at = given.indexOf(option);
  const name = at < 0 ? undefined : given[at + 1];
  if (name === undefined) return false;
  const folder = readOrUndefined(() => readlinkSync(`/proc/${pid}/cwd`)) ?? '/';
  return resolve(folder, name) === resolve(file);
}

/** What a file of a process says; undefined once the process has gone, or where it can't be asked. */
function readOrUndefined<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
