import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** The command lines as processes of their own, with nothing running and nothing in the environment. */

const ROOT = join(import.meta.dirname, '..', '..');
const COMMANDS = {
  audit: 'src/cli/audit.ts',
  demo: 'dev/demo.ts',
  migrate: 'src/cli/migrate.ts',
  prove: 'dev/prove.ts',
  reconcile: 'src/cli/reconcile.ts',
  relay: 'src/relay.ts',
  repair: 'src/cli/repair.ts',
  show: 'src/cli/show.ts',
  token: 'dev/token.ts',
  worker: 'src/worker.ts',
} as const;
type Command = keyof typeof COMMANDS;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hitotsu-words-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

function run(line: string, environment: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const [command = '', ...words] = line.split(' ');
  const isCommand = (text: string): text is Command => text in COMMANDS;
  if (!isCommand(command)) throw new Error(`no command ${command}`);
  const args = ['--import', 'tsx', COMMANDS[command], ...words];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd: ROOT, env: { DATA_DIR: 'memory', ...environment }, timeout: 30_000 },
      (error, out, err) => {
        resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out, err });
      },
    );
  });
}

function helpOf(name: string): RegExp {
  return new RegExp(
    `^Usage: npm run ${name}[^]*\\nExamples:\\n {2}\\S[^]*\\nExit codes: 0 .+ 2 asked wrongly, 3 `,
  );
}

describe('every command', { timeout: 60_000 }, () => {
  it.each([
    ['audit', 'extra', '"extra" is a word too many.'],
    ['demo', '--tunel', 'There is no option --tunel here.'],
    ['migrate', 'advance bogus', 'There is no migration "bogus", only god-record, metrics-split.'],
    [
      'prove',
      '--only money',
      '--only takes double-charges, balances, tampering, webhooks, failures, audits, not "money".',
    ],
    ['reconcile', '--since yesterday', '--since takes a time such as 90m, 24h or 7d, not "yesterday".'],
    ['relay', '-x', 'There is no option -x here.'],
    ['repair', '--finding F-1', '--token must say who asks.'],
    ['show', 'what?', '"what?" is no order, payment, session, refund, dispute, event, proposal or account.'],
    ['token', '--role customer', '--sub must say who the token is for.'],
    ['worker', 'now', '"now" is a word too many.'],
  ])('%s names a wrong word, prints its help behind it and exits 2', async (name, words, message) => {
    const { code, out, err } = await run(`${name} ${words}`);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.slice(0, message.length + 2)).toBe(`${message}\n\n`);
    expect(err.slice(message.length + 2)).toMatch(helpOf(name));
  });

  // Without the words these would start something.
  it.each(['demo', 'prove', 'worker'])('%s prints its help and does nothing', async (name) => {
    const help = await run(`${name} --help`);
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toMatch(helpOf(name));
  });
});

it(
  'what needs a table says with nothing running what to start, and exits 3',
  { timeout: 60_000 },
  async () => {
    const lines = ['audit', 'migrate status', 'show demo#alice', 'worker'];
    expect(await Promise.all(lines.map((line) => run(line)))).toEqual(
      lines.map(() => ({
        code: 3,
        out: '',
        err: 'Nothing is running here: npm start first, or set DYNAMODB_ENDPOINT.\n',
      })),
    );
  },
);

it('token knows the tenants and merchants of TENANTS_FILE, and its tokens name them', async () => {
  const file = join(folder, 'tenants.json');
  const shop = {
    name: 'Shop',
    currency: 'USD',
    assets: {},
    paymentMethods: ['card'],
    returnUrls: [],
    merchants: { main: { name: 'Main Street' } },
  };
  await writeFile(file, JSON.stringify({ shop }));
  const line = 'token --sub office --role merchant --tenant shop';
  const [given, ...refused] = await Promise.all([
    run(`${line} --merchant main`, { TENANTS_FILE: file }),
    run(line, { TENANTS_FILE: file }),
    run('token --sub alice --role customer --tenant nope', { TENANTS_FILE: file }),
  ]);
  expect(given).toMatchObject({ code: 0, err: '' });
  const claims: unknown = JSON.parse(Buffer.from(given.out.split('.')[1] ?? '', 'base64url').toString());
  expect(claims).toMatchObject({ sub: 'office', role: 'merchant', tenant: 'shop', merchant_id: 'main' });
  expect(refused.map(({ code, out, err }) => [code, out, err.split('\n')[0]])).toEqual([
    [2, '', '--merchant: tenant shop has no merchant "cafe", only main.'],
    [2, '', '--tenant: TENANTS_FILE has no tenant "nope", only shop.'],
  ]);
}, 60_000);
