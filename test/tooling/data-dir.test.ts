import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimDataDir } from '../../dev/engine/data-dir.ts';
import { markOf, processesWith } from '../../dev/engine/processes.ts';
import { findRunning, readRecord } from '../../dev/engine/running.ts';
import { describeStartFailure } from '../../dev/start-failure.ts';

let dataDir: string;
let children: ChildProcess[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hitotsu-data-'));
  children = [];
});

afterEach(async () => {
  for (const child of children.filter(
    ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
  )) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(dataDir, { recursive: true, force: true });
});

/** A process that does nothing, started as if it were an engine on the data. */
async function bystander(...args: readonly string[]): Promise<{ child: ChildProcess; pid: number }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)', '--', ...args], {
    stdio: 'ignore',
  });
  children.push(child);
  await once(child, 'spawn');
  return { child, pid: child.pid ?? 0 };
}

const database = () => join(dataDir, 'dynoxide.sqlite');
const file = () => join(dataDir, 'running.json');

function leave(record: object): void {
  writeFileSync(file(), JSON.stringify(record));
}

/** A mark that no process has: its number is taken, but by one that started at another time. */
const GONE = { pid: process.ppid, startedAt: '1' };

describe('HOST', () => {
  it.each([['192.0.2.1'], ['no.such.name.invalid']])(
    'that is no address here, as %s, is named',
    async (host) => {
      const server = createServer();
      server.listen(0, host);
      // Node rejects and emits Errors alone.
      const [error] = (await once(server, 'error')) as [Error];
      expect(describeStartFailure(error)).toBe(
        'HOST must name an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them.',
      );
    },
  );
});

describe('DATA_DIR', () => {
  it('is taken, announced, given back, and leaves no file', async () => {
    const claim = await claimDataDir(dataDir);
    expect(findRunning(dataDir)).toBeUndefined();
    claim.engineStarted(process.pid);
    claim.announce({ gatewayUrl: 'http://127.0.0.1:4000' });
    expect(findRunning(dataDir)).toEqual({
      ...markOf(process.pid),
      engine: markOf(process.pid),
      gatewayUrl: 'http://127.0.0.1:4000',
    });
    claim.release();
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('is made where it is not there yet', async () => {
    const claim = await claimDataDir(join(dataDir, 'a', 'b'));
    expect(readdirSync(join(dataDir, 'a', 'b'))).toEqual(['running.json']);
    claim.release();
  });

  it.each([['/proc/nope/deeper'], [import.meta.filename]])(
    'that can not be made, as %s, is named',
    async (folder) => {
      await expect(claimDataDir(folder)).rejects.toThrow(
        /^DATA_DIR must name a folder that can be made and written to, or be memory \((ENOENT|EEXIST)\)\.$/,
      );
    },
  );

  it('of one that keeps nothing is found by the commands that keep nothing either', async () => {
    const claim = await claimDataDir('memory');
    claim.announce({ gatewayUrl: 'http://127.0.0.1:4001' });
    const found = readRecord(join('.data', 'memory', `${String(process.pid)}.json`));
    expect(found).toEqual({ ...markOf(process.pid), gatewayUrl: 'http://127.0.0.1:4001' });
    expect(findRunning('memory')?.gatewayUrl).toMatch(/^http/);
    claim.release();
    expect(readRecord(join('.data', 'memory', `${String(process.pid)}.json`))).toBeUndefined();
  });

  it('of a process that is still starting is refused by its number', async () => {
    const { pid } = await bystander();
    leave(markOf(pid));
    await expect(claimDataDir(dataDir)).rejects.toThrow(`as process ${String(pid)}, which is still starting`);
    expect(readRecord(file())).toEqual(markOf(pid));
    expect(readdirSync(dataDir)).toEqual(['running.json']);
  });

  it.each([['{"pid":'], ['{}'], [JSON.stringify(GONE)]])('with %s left in it is taken over', async (text) => {
    writeFileSync(file(), text);
    const claim = await claimDataDir(dataDir);
    expect(readRecord(file())).toEqual(markOf(process.pid));
    claim.release();
  });

  it('is taken by one alone of those that come at the same moment after a crash', async () => {
    leave(GONE);
    const claims = await Promise.allSettled([1, 2, 3].map(() => claimDataDir(dataDir)));
    expect(claims.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  });

  it('is given back by nobody but its owner', async () => {
    const claim = await claimDataDir(dataDir);
    leave({ ...GONE, gatewayUrl: 'http://127.0.0.1:1' });
    claim.release();
    expect(readRecord(file())?.pid).toBe(GONE.pid);
  });

  it('is freed of the engine that a crash left on it', async () => {
    const { child, pid } = await bystander('--db-path', database());
    leave({ ...GONE, engine: markOf(pid) });
    const ended = once(child, 'exit');
    const claim = await claimDataDir(dataDir);
    expect(await ended).toEqual([null, 'SIGKILL']);
    claim.release();
  });

  it.each([
    ['that nobody noted', () => ({})],
    ['that has the number of the one that was noted', (pid: number) => ({ engine: { pid, startedAt: '1' } })],
  ])('with an engine on it %s is refused, and the engine is let live', async (_, noted) => {
    const { child, pid } = await bystander('--db-path', database());
    await expect.poll(() => processesWith('--db-path', database())).toEqual([pid]);
    leave({ ...GONE, ...noted(pid) });
    await expect(claimDataDir(dataDir)).rejects.toThrow(
      `DATA_DIR's database is still open in process ${String(pid)}: end that one first.`,
    );
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('lets what was noted live if it is no engine on this data', async () => {
    const { child, pid } = await bystander('--db-path', join(dataDir, 'another.sqlite'));
    leave({ ...GONE, engine: markOf(pid) });
    const claim = await claimDataDir(dataDir);
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    claim.release();
  });
});
