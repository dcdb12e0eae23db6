/**
 * Runs a command with the addresses of what `npm start` runs, where the environment doesn't give others: so that
 * `npm run audit` and its kind find the embedded engine, which takes any free port. Plain Node: it runs before tsx.
 */
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The files that running.ts tells of, for the same DATA_DIR. */
function runningFiles(dataDir) {
  if (dataDir !== 'memory') return [join(dataDir, 'running.json')];
  const folder = join('.data', 'memory');
  return readdirSync(folder).map((name) => join(folder, name));
}

/** What runs now; nothing if nothing does, or if what wrote the file has ended without a word. */
function findRunning() {
  try {
    return (
      runningFiles(process.env.DATA_DIR || '.data')
        .map(readIfAlive)
        .find(isReady) ?? {}
    );
  } catch {
    return {};
  }
}

function readIfAlive(file) {
  try {
    const running = JSON.parse(readFileSync(file, 'utf8'));
    process.kill(running.pid, 0);
    return running;
  } catch {
    return {};
  }
}

function isReady({ gatewayUrl }) {
  return gatewayUrl !== undefined;
}

const production = process.env.NODE_ENV === 'production';
const { dynamodbEndpoint, simulatorUrl } = production ? {} : findRunning();
const environment = {
  // The gateway has the usual one.
  ...(production ? {} : { PORT: '0' }),
  ...(dynamodbEndpoint === undefined ? {} : { DYNAMODB_ENDPOINT: dynamodbEndpoint }),
  ...(simulatorUrl === undefined ? {} : { STRIPE_API_BASE: simulatorUrl }),
  ...process.env,
};
const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: 'inherit', env: environment });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
