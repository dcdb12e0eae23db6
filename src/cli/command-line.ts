import { parseArgs } from 'node:util';
import type { Config } from '../config/config.ts';
import type { Logger } from '../observability/logger.ts';

/*
 * What all command lines share: how words are read and refused, `--help`, and what exit codes mean.
 */

/** What a command's exit code says, the same for each of them. */
export const EXIT = {
  done: 0,
  /** It was done, and found something wrong; or it was refused. */
  found: 1,
  /** It was asked wrongly: nothing was done. */
  usage: 2,
  /** Something that it needs could not be reached, or not to the end. */
  unreachable: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A command was asked wrongly. The message names the word that is wrong, in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What a command takes: flags (`--json`), options with a value (`--since 24h`), and so many words beside them. */
export interface Grammar<Flag extends string, Option extends string> {
  readonly flags?: readonly Flag[];
  readonly options?: readonly Option[];
  readonly maxWords?: number;
}

export interface Words<Flag extends string, Option extends string> {
  readonly has: (flag: Flag) => boolean;
  /** Of an option that was given twice the last one; undefined if it wasn't given. */
  readonly valueOf: (option: Option) => string | undefined;
  readonly words: readonly string[];
}

/** Reads what stands after the command. Throws UsageError for a word that it doesn't know, or one too many. */
export function readWords<Flag extends string = never, Option extends string = never>(
  args: readonly string[],
  { flags = [], options = [], maxWords = 0 }: Grammar<Flag, Option>,
): Words<Flag, Option> {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries<{ readonly type: 'boolean' | 'string' }>([
      ...flags.map((name) => [name, { type: 'boolean' }] as const),
      ...options.map((name) => [name, { type: 'string' }] as const),
    ]),
    // Its own refusals explain the parser; ours name the word.
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const given = new Set<string>();
  const values = new Map<string, string>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    if (flags.some((flag) => flag === name)) {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value.`);
      given.add(name);
    } else if (options.some((option) => option === name)) {
      if (value === undefined || value === '' || value.startsWith('--'))
        throw new UsageError(`${rawName} takes a value.`);
      values.set(name, value);
    } else throw new UsageError(`There is no option ${rawName} here.`);
  }
  const tooMany = words[maxWords];
  if (tooMany !== undefined) throw new UsageError(`"${tooMany}" is a word too many.`);
  return { has: (flag) => given.has(flag), valueOf: (option) => values.get(option), words };
}

/** A whole number from 1 on. Throws UsageError that names the option and what was given. */
export function readCount(option: string, text: string, most: number): number {
  const value = /^\d{1,7}$/.test(text) ? Number.parseInt(text, 10) : 0;
  if (value >= 1 && value <= most) return value;
  throw new UsageError(`${option} takes a whole number from 1 to ${String(most)}, not "${text}".`);
}

/**
 * Where the table is. Throws an Error if no endpoint is given outside production: a command on a laptop would ask AWS for a table
 * that isn't there.
 */
export function reachableTable({ table, production }: Pick<Config, 'table' | 'production'>): Config['table'] {
  if (table.endpoint !== undefined || production) return table;
  throw new Error('Nothing is running here: npm start first, or set DYNAMODB_ENDPOINT.');
}

/** Draws over one line of the terminal; nothing where nobody watches. The last call, without a line, clears it. */
export function showProgress(line = ''): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${line}\x1b[K`);
}

/** `1 payment`, `2 payments`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : several}`;
}

/**
 * Runs a command: prints `help` where it is asked for, else does it and exits by what it gives. Wrong usage is one line
 * that names what is wrong, then the help; what could not be reached is one line. Never a stack.
 */
export async function runCommandLine(
  help: string,
  run: (args: readonly string[]) => ExitCode | Promise<ExitCode>,
  describe: (error: unknown) => string = messageOf,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${help}\n`);
    return;
  }
  try {
    process.exitCode = await run(args);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(isUsage ? `${error.message}\n\n${help}\n` : `${describe(error)}\n`);
    process.exitCode = isUsage ? EXIT.usage : EXIT.unreachable;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** On SIGTERM or Ctrl-C runs `stop`, which finishes or gives back what runs, and then ends the process. */
export function stopOnSignal(logger: Pick<Logger, 'info'>, stop: () => Promise<void>): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      logger.info('stopping', { signal });
      void stop().then(() => process.exit(0));
    });
  }
}
