import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findRunning } from './engine/running.ts';

/*
 * Runs a program of src/ with the addresses of what `npm start` runs, where the environment doesn't give others: so that
 * `npm run audit` and its kind find the embedded engine, which takes any free port.
 */

const { env } = process;

function giveUnlessGiven(name: string, value: string | undefined): void {
  if ((env[name] ?? '') === '' && value !== undefined) env[name] = value;
}

if (env['NODE_ENV'] !== 'production') {
  const dataDir = env['DATA_DIR'] ?? '';
  const running = findRunning(dataDir === '' ? '.data' : dataDir);
  giveUnlessGiven('DYNAMODB_ENDPOINT', running?.dynamodbEndpoint);
  giveUnlessGiven('STRIPE_API_BASE', running?.simulatorUrl);
  // The gateway has the usual one.
  giveUnlessGiven('PORT', '0');
}

// What is left are the program's own words.
const [program = ''] = process.argv.splice(2, 1);
await import(pathToFileURL(resolve(program)).href);
