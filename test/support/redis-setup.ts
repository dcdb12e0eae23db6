import { createConnection } from 'node:net';
import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startChildServer } from '../../dev/engine/child-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a real Redis that the project's test files share. */
    readonly redisUrl: string;
  }
}

/** Starts the `redis-server` on the PATH, keeping nothing on disk. Throws an Error in one sentence where there is none. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startChildServer({
    name: 'redis-server (from the PATH; install Redis to run these tests)',
    command: 'redis-server',
    args: (port) => ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'],
    answers: answersPing,
    startTimeoutMs: 10_000,
  });
  project.provide('redisUrl', `redis://127.0.0.1:${server.port}`);
  return server.stop;
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => socket.write('PING\r\n'));
    socket.setTimeout(1_000, () => socket.destroy(new Error('Redis is silent.')));
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().startsWith('+PONG'));
    });
  });
}
