import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startDevelopment } from '../../dev/development.ts';
import { isRunning, markOf, processesWith } from '../../dev/engine/processes.ts';
import { readRecord } from '../../dev/engine/running.ts';
import { describeStartFailure } from '../../dev/start-failure.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startServer } from '../../src/main/listen.ts';
import { startFailure } from '../../src/config/config-error.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Loading everything through tsx takes seconds on a busy machine. */
const READY = { timeout: 60_000, interval: 50 };

interface Start {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

const folders: string[] = [];
const starts: Start[] = [];

afterEach(async () => {
  for (const { child, ended } of starts.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hitotsu-start-'));
  folders.push(folder);
  return folder;
}

const ON_FREE_PORTS = { PORT: '0', STRIPE_SIMULATOR_PORT: '0', LOG_LEVEL: 'silent' };

/** What `npm start` runs, in one process, on free ports. */
function start(environment: Readonly<Record<string, string>>): Start {
  return run(['--import', 'tsx', 'dev/start.ts'], { ...ON_FREE_PORTS, ...environment });
}

/** A program of Node, ended with the test. */
function run(args: readonly string[], env: Readonly<Record<string, string>>): Start {
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
  }
  const ended = once(child, 'close').then(() => child.exitCode);
  const started: Start = { child, pid: child.pid ?? 0, output: () => text, ended };
  starts.push(started);
  return started;
}

async function startReady(
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Start> {
  const started = start({ DATA_DIR: dataDir, ...environment });
  await expect.poll(started.output, READY).toContain('Hitotsu is ready.');
  return started;
}

function recordOf(dataDir: string) {
  const record = readRecord(join(dataDir, 'running.json'));
  if (record === undefined) throw new Error('Nothing is noted to run.');
  return record;
}

function enginesOn(dataDir: string): readonly number[] {
  return processesWith('--db-path', join(dataDir, 'dynoxide.sqlite'));
}

describe('npm start', () => {
  it('has its data to itself: a second one ends with one sentence, and the first goes on', async () => {
    const dataDir = freshFolder();
    // With the log as it is where nobody says otherwise: the screen is for people.
    const first = await startReady(dataDir, { LOG_LEVEL: '' });
    const { gatewayUrl = '' } = recordOf(dataDir);
    expect(first.output().trimStart()).toMatch(/^Hitotsu is ready\.\n[^{]*Ctrl-C stops everything\./);
    const second = start({ DATA_DIR: dataDir });
    expect(await second.ended).toBe(1);
    expect(second.output()).toBe(
      `Hitotsu is already running on this DATA_DIR, as process ${String(first.pid)}, at ${gatewayUrl}: ` +
        'stop it, or set DATA_DIR to another.\n',
    );
    expect(enginesOn(dataDir)).toHaveLength(1);
    expect(recordOf(dataDir)).toMatchObject({ pid: first.pid, gatewayUrl });
    expect((await fetch(`${gatewayUrl}/readyz`)).status).toBe(200);
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(enginesOn(dataDir)).toEqual([]);
    expect(readRecord(join(dataDir, 'running.json'))).toBeUndefined();
  }, 120_000);

  it.each<[string, (folder: string) => Readonly<Record<string, string>>, string]>([
    [
      'a DynamoDB that is not there',
      () => ({ DYNAMODB_ENDPOINT: 'http://127.0.0.1:1' }),
      'DYNAMODB_ENDPOINT names an address where no DynamoDB answers (ECONNREFUSED).',
    ],
    [
      'tenants without the one that is seeded',
      (folder) => {
        const file = join(folder, 'tenants.json');
        const shop = { name: 'Shop', currency: 'JPY', assets: {}, paymentMethods: ['card'] };
        writeFileSync(file, JSON.stringify({ shop: { ...shop, returnUrls: [], merchants: {} } }));
        return { TENANTS_FILE: file };
      },
      'TENANTS_FILE must have a tenant demo with a merchant cafe: they are what npm start fills with life.',
    ],
  ])(
    'names the variable and leaves nothing running: %s',
    async (_, environment, sentence) => {
      const dataDir = freshFolder();
      const started = startDevelopment({ ...ON_FREE_PORTS, DATA_DIR: dataDir, ...environment(dataDir) });
      expect(describeStartFailure(await started.catch((error: unknown) => error))).toBe(sentence);
      expect(enginesOn(dataDir)).toEqual([]);
    },
    60_000,
  );

  it('that is killed takes its engine along, and the next one takes its place; one whose engine is killed ends with one sentence', async () => {
    const dataDir = freshFolder();
    const first = await startReady(dataDir);
    first.child.kill('SIGKILL');
    await first.ended;
    await expect.poll(() => enginesOn(dataDir), READY).toEqual([]);
    const second = await startReady(dataDir);
    const { pid, engine } = recordOf(dataDir);
    expect(pid).toBe(second.pid);
    expect(enginesOn(dataDir)).toEqual([engine?.pid]);
    process.kill(engine?.pid ?? 0, 'SIGKILL');
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(
      /The embedded engine has ended by itself, or was killed: everything stops\.\n$/,
    );
    expect(readRecord(join(dataDir, 'running.json'))).toBeUndefined();
  }, 120_000);
});

describe('what the other commands find', () => {
  it('is what runs on their own DATA_DIR', async () => {
    const dataDir = freshFolder();
    const record = {
      ...markOf(process.pid),
      gatewayUrl: 'http://127.0.0.1:1',
      dynamodbEndpoint: 'http://127.0.0.1:2',
    };
    writeFileSync(join(dataDir, 'running.json'), JSON.stringify(record));
    expect(await endpointFor({ DATA_DIR: dataDir })).toBe('http://127.0.0.1:2');
    expect(await endpointFor({ DATA_DIR: freshFolder() })).toBe('none');
    expect(await endpointFor({ DATA_DIR: dataDir, NODE_ENV: 'production' })).toBe('none');
    // Another process has the number of one that has ended, as after a restart of the machine.
    writeFileSync(join(dataDir, 'running.json'), JSON.stringify({ ...record, startedAt: '1' }));
    expect(await endpointFor({ DATA_DIR: dataDir })).toBe('none');
  }, 60_000);
});

describe('the gateway by itself', () => {
  it('names HOST where that is no address of this machine', async () => {
    const config = loadConfig({
      ...ON_FREE_PORTS,
      HOST: '192.0.2.1',
      DYNAMODB_ENDPOINT: 'http://127.0.0.1:1',
      // Where others may reach it, a gateway needs secrets of its own.
      AUTH_JWT_SECRET: 'an-operators-own-secret-of-length-38-x',
      PAYMENT_CODE_SECRET: 'another-secret-of-the-operator-length-40',
      METADATA_SECRETS: 'a-third-secret-of-the-operator-length-40',
      STRIPE_WEBHOOK_SECRETS: 'whsec_first-secret-of-the-endpoint-1',
    });
    const failure: unknown = await startServer(config).catch((error: unknown) => error);
    expect(startFailure(failure, 'PORT')).toBe(
      'HOST must name an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them.',
    );
  });

  it('on a laptop asks for its table in one sentence, and ends', async () => {
    const server = run(['--import', 'tsx', 'src/server.ts'], { PORT: '0' });
    expect([await server.ended, server.output()]).toEqual([
      1,
      'DYNAMODB_ENDPOINT must be given unless NODE_ENV is production: only npm start brings an engine along.\n',
    ]);
  }, 60_000);

  it('takes no development secret where it is run for production, whoever forgot to say so', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    expect(scripts['start:production']).toBe('NODE_ENV=production exec node dist/server.js');
  });
});

describe('npm run worker', () => {
  it('takes a free port where none is given, beside a gateway that has the usual one, and says which', async () => {
    const environment = {
      DATA_DIR: freshFolder(),
      DYNAMODB_ENDPOINT: 'http://127.0.0.1:9',
      LOG_LEVEL: 'info',
    };
    const command = ['--import', 'tsx', 'dev/with-running.ts', 'src/worker.ts'];
    const worker = run(command, environment);
    await expect.poll(worker.output, READY).toContain('"message":"health and metrics are served"');
    const port = /"port":(\d+)/.exec(worker.output())?.[1] ?? '';
    expect(port).not.toBe('4000');
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    const given = run(command, { ...environment, PORT: port });
    await expect.poll(given.output, READY).toContain('health and metrics are not served');
  }, 120_000);
});

async function endpointFor(environment: Readonly<Record<string, string>>): Promise<string> {
  const program = join(freshFolder(), 'print-endpoint.mjs');
  writeFileSync(program, 'process.stdout.write(process.env.DYNAMODB_ENDPOINT ?? "none")');
  const printed = run(['--import', 'tsx', 'dev/with-running.ts', program], environment);
  await printed.ended;
  return printed.output();
}

describe('a process', () => {
  it('is told from another that has its number by when it started', () => {
    expect(isRunning(markOf(process.pid))).toBe(true);
    expect(isRunning({ pid: process.pid, startedAt: '1' })).toBe(false);
    const ticks = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ')[19];
    expect(markOf(process.pid)).toEqual({ pid: process.pid, startedAt: ticks });
  });
});
