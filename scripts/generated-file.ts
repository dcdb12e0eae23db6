import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
export const SCHEMA_FILE = join(ROOT, 'schema.graphql');

/** The committed schema. Throws an Error that says how to make it. */
export async function committedSchema(): Promise<string> {
  return await readFile(SCHEMA_FILE, 'utf8').catch(() => {
    throw new Error('schema.graphql is missing: run "npm run generate".');
  });
}

/**
 * Writes a generated file; or, to check, only compares it with what is committed.
 * Returns false, having said how to mend it on stderr, when a check finds a difference.
 */
export async function writeOrCheck(file: string, contents: string, check: boolean): Promise<boolean> {
  if (!check) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
    return true;
  }
  const committed = await readFile(file, 'utf8').catch(() => undefined);
  if (committed === contents) return true;
  const state = committed === undefined ? 'is missing' : 'is not what its sources give';
  console.error(`${relative(process.cwd(), file)} ${state}: run "npm run generate" and commit it.`);
  return false;
}

/**
 * Runs `main` if this module is the program that was started, and not imported by one: exit status 1 when it returns false,
 * or throws, which says why on stderr in one line.
 */
export async function runAsProgram(module: ImportMeta, main: () => Promise<boolean>): Promise<void> {
  if (process.argv[1] !== module.filename) return;
  try {
    if (!(await main())) process.exitCode = 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
