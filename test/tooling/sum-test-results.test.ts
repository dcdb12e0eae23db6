import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '..', '..', 'scripts', 'sum-test-results.mjs');

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'results-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function writeResult(name: string, passed: number, failed: number, unloadedFiles = 0): Promise<void> {
  const unloaded = Array.from({ length: unloadedFiles }, () => ({ status: 'failed', assertionResults: [] }));
  const testResults = [{ status: 'passed', assertionResults: [{}] }, ...unloaded];
  const result = { numPassedTests: passed, numFailedTests: failed, testResults };
  await writeFile(join(folder, `${name}.json`), JSON.stringify(result));
}

function sum(...failedSteps: string[]): {
  readonly status: number | null;
  readonly lastLine: string | undefined;
} {
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, folder, ...failedSteps], {
    encoding: 'utf8',
  });
  return { status, lastLine: stdout.trim().split('\n').at(-1) };
}

describe('the sum of a CI run', () => {
  it('adds the results of every step', async () => {
    await writeResult('test', 40, 0);
    await writeResult('test-redis', 2, 0);
    expect(sum()).toEqual({ status: 0, lastLine: '42 passed, 0 failed' });
  });

  it('fails with the tests that failed, counted once though their step failed too', async () => {
    await writeResult('test', 40, 2);
    expect(sum('test')).toEqual({ status: 1, lastLine: '40 passed, 2 failed' });
  });

  it('counts a test file that could not be loaded', async () => {
    await writeResult('test', 40, 0, 1);
    expect(sum('test')).toEqual({ status: 1, lastLine: '40 passed, 1 failed' });
  });

  it('counts a step that failed before any test ran', async () => {
    await writeResult('test-redis', 2, 0);
    expect(sum('test')).toEqual({ status: 1, lastLine: '2 passed, 1 failed' });
  });

  it('fails when nothing ran', () => {
    expect(sum()).toEqual({ status: 1, lastLine: '0 passed, 0 failed' });
  });
});
