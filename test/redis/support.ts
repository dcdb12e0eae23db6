import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { type ChildServer, answersHttp, startChildServer } from '../../dev/engine/child-server.ts';
import { freePort } from '../../dev/engine/free-port.ts';
import { signToken } from '../../dev/sign-token.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { Role } from '../../src/auth/viewer.ts';

type Environment = Readonly<Record<string, string>>;

/** What every process of one deployment has in common: a table and a Redis. */
export function deployment(endpoint: string, redisUrl: string, tableName = `t${randomUUID()}`): Environment {
  return {
    NODE_ENV: 'test',
    LOG_LEVEL: 'warn',
    WORKER: 'off',
    TENANTS_FILE: 'dev/demo-tenants.json',
    DYNAMODB_ENDPOINT: endpoint,
    TABLE_NAME: tableName,
    REDIS_URL: redisUrl,
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
}

/** A gateway as a process of its own. */
export async function startGatewayProcess(environment: Environment): Promise<ChildServer> {
  return await startChildServer({
    name: 'a gateway',
    command: 'env',
    args: (port) => [
      ...assignments({ ...environment, PORT: String(port) }),
      process.execPath,
      '--import',
      'tsx',
      'src/server.ts',
    ],
    answers: answersHttp,
    startTimeoutMs: 30_000,
  });
}

/** A program of this repository as a child process. */
export function startProgram(
  script: string,
  args: readonly string[],
  environment: Environment = {},
): ChildProcess {
  return spawn('env', [...assignments(environment), process.execPath, '--import', 'tsx', script, ...args], {
    stdio: 'inherit',
  });
}

function assignments(environment: Environment): readonly string[] {
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`);
}

/** The signal or the code with which a program ended. */
export async function ending(child: ChildProcess): Promise<unknown> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return signal ?? code;
}

export function token(subject: string, role: Role, merchantId?: string): Promise<string> {
  const request = {
    subject,
    role,
    tenant: 'demo',
    ttlS: 600,
    ...(merchantId === undefined ? {} : { merchantId }),
  };
  return signToken(loadConfig({}).auth, request, Date.now());
}

/** Runs a document over HTTP; throws where it has errors. */
export async function run<Data>(
  port: number,
  bearer: string,
  query: string,
  variables: object,
): Promise<Data> {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
    body: JSON.stringify({ query, variables }),
  });
  // The answer has the shape of the document.
  const { data, errors } = (await response.json()) as { data?: Data; errors?: unknown };
  if (errors !== undefined || data === undefined) throw new Error(JSON.stringify(errors));
  return data;
}

/** A Redis that a test may kill and start again on the same port. */
export async function ownRedis(): Promise<{
  readonly url: string;
  readonly start: () => Promise<ChildServer>;
}> {
  const port = await freePort();
  return {
    url: `redis://127.0.0.1:${port}`,
    start: () =>
      startChildServer({
        name: 'redis-server',
        command: 'redis-server',
        args: () => ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'],
        port,
        answers: answersTcp,
        startTimeoutMs: 10_000,
      }),
  };
}

function answersTcp(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', reject);
  });
}
