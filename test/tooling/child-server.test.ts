import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  answersHttp,
  startChildServer,
  type ChildServer,
  type ChildServerSpec,
} from '../../dev/engine/child-server.ts';
import { findDynoxide } from '../../dev/engine/engine.ts';

const started: { stop: () => Promise<void> }[] = [];

afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
});

/** A child that runs one line of JavaScript; `port` is in scope. */
function spec(script: string, more: Partial<ChildServerSpec> = {}): ChildServerSpec {
  return {
    name: 'The child',
    command: process.execPath,
    args: (port) => ['-e', `const port = ${port}; ${script}`],
    answers: answersHttp,
    startTimeoutMs: 10_000,
    ...more,
  };
}

const SERVE = `require('http').createServer((_, response) => response.end()).listen(port, '127.0.0.1');`;

async function start(script: string, more?: Partial<ChildServerSpec>): Promise<ChildServer> {
  const server = await startChildServer(spec(script, more));
  started.push(server);
  return server;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a child server', () => {
  it('is handed over once it answers, however slow it is to listen', async () => {
    const server = await start(`setTimeout(() => { ${SERVE} }, 100);`);
    expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(200);
  });

  it('is gone when stop returns, and stop may be called again', async () => {
    const server = await start(SERVE);
    expect(isAlive(server.pid)).toBe(true);
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    await server.stop();
  });

  it('that ends later is told of once, unless it was told to end', async () => {
    const killed = await start(SERVE);
    process.kill(killed.pid, 'SIGKILL');
    await killed.lost;
    const stopped = await start(SERVE);
    await stopped.stop();
    const first = await Promise.race([stopped.lost.then(() => 'lost'), Promise.resolve('not lost')]);
    expect(first).toBe('not lost');
  });

  it('does not outlive who started it, even one that is killed', async () => {
    const module = new URL('../../dev/engine/child-server.ts', import.meta.url).href;
    const program = `import { answersHttp, startChildServer } from '${module}';
      const { pid } = await startChildServer({ name: 'it', command: process.execPath, answers: answersHttp,
        args: (port) => ['-e', 'const port = ' + port + '; ' + ${JSON.stringify(SERVE)}], startTimeoutMs: 10000 });
      console.log(pid);`;
    const starter = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(starter.stdout.setEncoding('utf8'), 'data')) as [string];
    const pid = Number.parseInt(line, 10);
    expect(isAlive(pid)).toBe(true);
    starter.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  }, 30_000);

  it('that ends by itself is reported with what it wrote last', async () => {
    const failing = startChildServer(spec(`console.error('no such folder'); process.exit(3);`));
    await expect(failing).rejects.toThrow(/^The child on port \d+ ended at once\. no such folder$/);
  });

  it('that stays silent is stopped and reported', async () => {
    const silent = startChildServer(spec('setInterval(() => {}, 1_000);', { startTimeoutMs: 200, port: 1 }));
    await expect(silent).rejects.toThrow('The child on port 1 did not answer within 200 ms.');
  });

  it('that does not exist is reported by name', async () => {
    const missing = startChildServer(spec('', { command: 'no-such-program' }));
    await expect(missing).rejects.toThrow(/The child .* ENOENT/);
  });

  it('is not started on a port where a stranger already answers', async () => {
    const stranger = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    started.push({
      stop: async () =>
        new Promise((resolve) =>
          stranger.close(() => {
            resolve();
          }),
        ),
    });
    // A TCP server always has an address with a port.
    const { port } = stranger.address() as AddressInfo;
    await expect(startChildServer(spec(SERVE, { port }))).rejects.toThrow(
      `Port ${port} is taken, so The child can't start on it.`,
    );
  });
});

describe('the embedded engine', () => {
  it('is found where npm installed it, without a PATH', () => {
    expect(findDynoxide('')).toMatch(/@dynoxide[/\\][a-z0-9]+-[a-z0-9]+[/\\]dynoxide(\.exe)?$/);
  });
});
