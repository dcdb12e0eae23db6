/**
 * `npm run test:planted`: plants one small bug after another into a copy of the source, runs the tests that should
 * notice, and prints which did. Exits 1 if a bug survives, or if its text isn't in the source any more. Arguments name
 * the bugs to plant, by a part of their names; without any, all of them.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { PlantedBug } from './planted-bug.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';

const ROOT = join(import.meta.dirname, '..');
const COPIED = [
  'src',
  'test',
  'dev',
  'infra',
  'scripts',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];
/** One copy of the source each. */
const COPIES = 2;
const RUN_TIMEOUT_MS = 300_000;

interface TestRun {
  readonly tests: readonly string[];
  readonly only?: string | undefined;
}

type Result =
  | { readonly kind: 'PASSED' }
  | { readonly kind: 'FAILED'; readonly test: string }
  /** No test failed, and yet the run did: it says nothing. */
  | { readonly kind: 'BROKEN'; readonly why: string };

const reportSchema = z.object({
  success: z.boolean(),
  numPassedTests: z.number(),
  testResults: z.array(
    z.object({
      message: z.string().optional(),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })),
    }),
  ),
});

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const bugs = PLANTED_BUGS.filter(
    ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
  );
  const scratch = await mkdtemp(join(tmpdir(), 'hitotsu-planted-'));
  try {
    const copies = await Promise.all(Array.from({ length: COPIES }, (_, index) => copyTo(scratch, index)));
    await expectGreen(copies, bugs);
    const survivors = await plantAll(copies, bugs);
    console.log(`\n${String(bugs.length - survivors)} of ${String(bugs.length)} planted bugs were noticed.`);
    if (survivors > 0) process.exitCode = 1;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function copyTo(scratch: string, index: number): Promise<string> {
  const copy = join(scratch, String(index));
  for (const name of COPIED) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** A test that fails anyway notices nothing. */
async function expectGreen(copies: readonly string[], bugs: readonly PlantedBug[]): Promise<void> {
  const whole = bugs.filter(({ only }) => only === undefined);
  const parts = bugs.filter(({ only }) => only !== undefined);
  const filesOf = (some: readonly PlantedBug[]): readonly string[] => [
    ...new Set(some.flatMap(({ tests }) => tests)),
  ];
  const runs: readonly TestRun[] = [
    { tests: filesOf(whole) },
    { tests: filesOf(parts), only: parts.map(({ only }) => only ?? '').join('|') },
  ].filter(({ tests }) => tests.length > 0);
  const results = await Promise.all(runs.map((run, index) => runTests(copies[index] ?? '', run)));
  for (const result of results) {
    if (result.kind === 'FAILED') throw new Error(`Fails without any planted bug: ${result.test}`);
    if (result.kind === 'BROKEN') throw new Error(`Doesn't run without any planted bug: ${result.why}`);
  }
}

/** Plants every bug, one at a time in each copy; gives how many nobody noticed. */
async function plantAll(copies: readonly string[], bugs: readonly PlantedBug[]): Promise<number> {
  const waiting = [...bugs];
  let survivors = 0;
  const work = async (copy: string): Promise<void> => {
    for (let bug = waiting.shift(); bug !== undefined; bug = waiting.shift()) {
      const startMs = performance.now();
      const result = await plant(copy, bug);
      if (result.kind !== 'FAILED') survivors += 1;
      console.log(row(bug, result, performance.now() - startMs));
    }
  };
  await Promise.all(copies.map(work));
  return survivors;
}

function row({ name }: PlantedBug, result: Result, tookMs: number): string {
  const verdict =
    result.kind === 'FAILED'
      ? `killed by: ${result.test}`
      : result.kind === 'PASSED'
        ? 'SURVIVED'
        : `BROKEN: ${result.why}`;
  return `${name.padEnd(62)} ${(tookMs / 1_000).toFixed(1).padStart(6)} s  ${verdict}`;
}

async function plant(copy: string, bug: PlantedBug): Promise<Result> {
  const path = join(copy, bug.file);
  const source = await readFile(path, 'utf8');
  const found = source.split(bug.from).length - 1;
  if (found !== 1) return { kind: 'BROKEN', why: `its text is in ${bug.file} ${String(found)} times` };
  await writeFile(
    path,
    source.replace(bug.from, () => bug.to),
  );
  try {
    return await runTests(copy, bug);
  } finally {
    await writeFile(path, source);
  }
}

async function runTests(copy: string, { tests, only }: TestRun): Promise<Result> {
  const reportFile = join(copy, 'report.json');
  await rm(reportFile, { force: true });
  const output = await vitest(copy, [
    'run',
    '--bail=1',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
    ...(only === undefined ? [] : ['-t', only]),
    ...tests,
  ]);
  const report = await readFile(reportFile, 'utf8').catch(() => undefined);
  if (report === undefined) return { kind: 'BROKEN', why: output.slice(-2_000) };
  const { success, numPassedTests, testResults } = reportSchema.parse(JSON.parse(report));
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed');
  if (failed !== undefined) return { kind: 'FAILED', test: failed.fullName };
  if (success && numPassedTests > 0) return { kind: 'PASSED' };
  const messages = testResults.map(({ message }) => message ?? '').filter((message) => message !== '');
  return { kind: 'BROKEN', why: success ? 'no test ran' : (messages[0] ?? output.slice(-2_000)) };
}

/** Runs vitest in a copy; what it wrote, whether it succeeded or not. */
function vitest(copy: string, args: readonly string[]): Promise<string> {
  const program = join(copy, 'node_modules', 'vitest', 'vitest.mjs');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...args],
      { cwd: copy, timeout: RUN_TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout, stderr) => {
        resolve(`${stdout}${stderr}`);
      },
    );
  });
}

await main();
