import { accessSync, constants, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { answersHttp, startChildServer } from './child-server.ts';

/** A running DynamoDB engine. `stop` ends it and waits until it has ended. */
export interface Engine {
  readonly endpoint: string;
  readonly pid: number;
  /** Resolves when it has ended without having been told to. */
  readonly lost: Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface DynoxideOptions {
  /** A folder that keeps the data between runs, made if it isn't there. Without it the data lives in memory. */
  readonly dataDir?: string;
  /** A fixed port; without it any free one. */
  readonly port?: number;
}

const START_TIMEOUT_MS = 10_000;
/** The engine's file in its folder, and the option that names it. */
export const DATABASE_FILE = 'dynoxide.sqlite';
export const DATABASE_OPTION = '--db-path';

/**
 * Runs the embedded engine (docs/DESIGN.md §13) as a child process on 127.0.0.1, and resolves once it answers.
 * Throws an Error in one sentence where there is no engine for this system, or where it doesn't start.
 */
export async function startDynoxide(options: DynoxideOptions = {}): Promise<Engine> {
  const command = findDynoxide(process.env['PATH'] ?? '');
  if (command === undefined) {
    throw new Error(
      `There is no DynamoDB engine for ${process.platform}-${process.arch}: put a "dynoxide" on the PATH, ` +
        'or set DYNAMODB_ENDPOINT to a DynamoDB that is already running.',
    );
  }
  const { dataDir } = options;
  if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true });
  const storage = dataDir === undefined ? [] : [DATABASE_OPTION, join(dataDir, DATABASE_FILE)];
  const server = await startChildServer({
    name: 'Dynoxide',
    command,
    args: (port) => ['serve', '--host', '127.0.0.1', '--port', String(port), ...storage],
    answers: answersHttp,
    startTimeoutMs: START_TIMEOUT_MS,
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  const { pid, lost, stop } = server;
  return { endpoint: `http://127.0.0.1:${server.port}`, pid, lost, stop };
}

/** The engine that npm installed for this system, else the first one on `path`, else undefined. */
export function findDynoxide(path: string): string | undefined {
  const program = process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide';
  const onPath = path.split(delimiter).filter((folder) => folder !== '');
  const installed = installedFolder();
  const folders = installed === undefined ? onPath : [installed, ...onPath];
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function installedFolder(): string | undefined {
  try {
    const manifest = `@dynoxide/${process.platform}-${process.arch}/package.json`;
    return dirname(createRequire(import.meta.url).resolve(manifest));
  } catch {
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
