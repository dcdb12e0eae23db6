import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { type Sample, fillSample, setNumber } from './audit-sample.ts';

let harness: Harness;
afterEach(() => {
  harness.close();
});

async function sampleLedger(): Promise<Sample> {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  return await fillSample(harness);
}

describe('npm run audit', () => {
  const ROOT = join(import.meta.dirname, '..', '..', '..');

  async function runCommand(
    ...args: readonly string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = {
      DYNAMODB_ENDPOINT: inject('engineEndpoint'),
      AWS_REGION: 'local',
      TABLE_NAME: harness.tableName,
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    };
    try {
      const command = ['--import', 'tsx', 'src/cli/audit.ts', ...args];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, env });
      return { code: 0, stdout, stderr };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && 'stdout' in error && 'stderr' in error)) throw error;
      return { code: Number(error.code), stdout: String(error.stdout), stderr: String(error.stderr) };
    }
  }

  it('prints a table and exits 0 where everything balances', async () => {
    await sampleLedger();
    const { code, stdout, stderr } = await runCommand();
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/));
    expect(rows[0]).toEqual(
      'tenant asset accounts balances merchant stripe cash receivable surplus issuer difference'.split(' '),
    );
    expect(rows).toContainEqual('demo ECOPAY 1 1140 360 0 -500 0 0 -1000 0'.split(' '));
    expect(stdout).toContain('2 accounts, 5 entries, 3 orders: everything balances.');
  });

  it('names what is off and exits 1, as JSON too', async () => {
    await sampleLedger();
    await setNumber(harness, 'BALANCE#ECOPAY', 'balance', '1130');
    const [plain, json] = await Promise.all([runCommand('--segments', '2'), runCommand('--json')]);
    expect(plain.code).toBe(1);
    expect(plain.stdout).toContain(
      'I2  demo#alice  BALANCE#ECOPAY  balance: expected 1140, found 1130, off by -10',
    );
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      accounts: 2,
      problems: [{ accountId: 'alice', item: 'BALANCE#ECOPAY', offBy: '-10' }],
      unsettled: [],
    });
  });

  it('refuses arguments that make no sense', async () => {
    await sampleLedger();
    const { code, stderr } = await runCommand('--segments', '0');
    expect(code).toBe(2);
    expect(stderr).toContain('--segments takes a whole number from 1 to 1000, not "0".');
    expect(stderr).toContain('Usage: npm run audit');
  });
});
