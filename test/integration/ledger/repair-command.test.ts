import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { signToken } from '../../../dev/sign-token.ts';
import type { Role } from '../../../src/auth/viewer.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { systemClock } from '../../../src/ledger/kernel/clock.ts';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { fillSample, setNumber } from './audit-sample.ts';

/** `npm run repair` as a process of its own, from the finding to the account that is in order again. */

const ROOT = join(import.meta.dirname, '..', '..', '..');

let harness: Harness;
beforeEach(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  await fillSample(harness);
  await setNumber(harness, 'BALANCE#ECOPAY', 'balance', '1130');
});
afterEach(() => {
  harness.close();
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function repair(...args: readonly string[]): Promise<Ran> {
  const env = {
    DYNAMODB_ENDPOINT: inject('engineEndpoint'),
    AWS_REGION: 'local',
    TABLE_NAME: harness.tableName,
    LOG_LEVEL: 'silent',
  };
  try {
    const command = ['--import', 'tsx', 'src/cli/repair.ts', ...args];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, env });
    return { code: 0, stdout, stderr };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'stdout' in error && 'stderr' in error)) throw error;
    return { code: Number(error.code), stdout: String(error.stdout), stderr: String(error.stderr) };
  }
}

function token(subject: string, role: Role = 'ADMIN', ttlS = 3_600): Promise<string> {
  const { auth } = loadConfig({});
  return signToken(auth, { subject, role, tenant: 'demo', ttlS }, systemClock.nowMs());
}

it('lists, proposes, and with another admin mends; then nothing is off', { timeout: 120_000 }, async () => {
  const listed = await repair();
  expect(listed).toMatchObject({ code: 1, stderr: '' });
  const [, id = ''] =
    /^(F-[0-9a-f]{12}) {2}demo#alice BALANCE#ECOPAY balance: expected 1140, found 1130\n1 finding/.exec(
      listed.stdout,
    ) ?? [];
  expect(id).not.toBe('');

  const [ada, ben] = [await token('ada'), await token('ben')];
  const asked = ['--finding', id, '--reason', 'an outage', '--token'];
  expect(await repair(...asked, await token('ada', 'CUSTOMER'))).toMatchObject({
    code: 1,
    stdout: '',
    stderr: "The token is no admin's.\n",
  });
  expect(await repair(...asked, `${ada}x`)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'The token is refused: NOT_AUTHENTIC.\n',
  });
  const proposed = await repair(...asked, ada);
  expect(proposed).toMatchObject({ code: 0, stderr: '' });
  expect(proposed.stdout).toContain('    before {"balance":{"N":"1130"},"writes":{"N":"4"}}\n');
  expect(proposed.stdout).toContain('    after  {"balance":{"N":"1140"},"writes":{"N":"5"}}\n');
  const [, proposal = ''] = /^proposal (\S+)\n/.exec(proposed.stdout) ?? [];
  expect(await harness.balance('demo', 'alice')).toBe('1130');

  expect(await repair('--approve', proposal, '--token', ada)).toMatchObject({
    code: 1,
    stdout: 'Another admin than the one who proposed it has to approve.\n',
  });
  const approved = await repair('--approve', proposal, '--token', ben);
  expect(approved).toMatchObject({ code: 0, stderr: '' });
  expect(approved.stdout).toContain('The account was audited again: nothing is off.');
  expect(await harness.balance('demo', 'alice')).toBe('1140');
  expect(await repair()).toMatchObject({ code: 0, stdout: 'Nothing is off.\n' });
  expect(await repair('--approve', proposal, '--token', ben)).toMatchObject({
    code: 1,
    stdout: "It can't be approved: it is APPROVED.\n",
  });
});
