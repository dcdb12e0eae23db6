/**
 * `npm run migrate -- list | status | advance <id> | back <id> | backfill <id> | verify <id>` (docs/MIGRATIONS.md).
 * `--dry-run` says what would be done, `--json` is for machines, `--segments N` cuts the table into N parts,
 * `--units-per-second N` bounds what a backfill consumes. Exits 0 if it was done, 1 if it was refused or found
 * differences, 2 if it was asked wrongly, 3 if it could not be done.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { loadConfig } from '../config.ts';
import { systemClock } from '../ledger/clock.ts';
import { createDynamoDbClient } from '../ledger/dynamodb.ts';
import { randomIds } from '../ledger/ids.ts';
import { createStore } from '../ledger/store.ts';
import { approximateItemCount } from '../ledger/table.ts';
import { createTransactor } from '../ledger/transact.ts';
import { createCapacityLimiter } from '../migrations/capacity.ts';
import { MIGRATIONS, migrationOf } from '../migrations/registry.ts';
import { type Answer, COMMANDS, type Command, isCommand, perform } from './migrate-commands.ts';
import { printedAnswer } from './migrate-output.ts';

const USAGE = `Usage: npm run migrate -- ${COMMANDS.join(' | ')} [<id>] [--dry-run] [--json] [--segments 1…1000] [--units-per-second N]
Migrations: ${MIGRATIONS.map(({ id }) => id).join(', ')}`;
/** A page of a scan is a megabyte, which a far table may take its time for. */
const REQUEST_TIMEOUT_MS = 30_000;

class UsageError extends Error {}

interface Options {
  readonly command: Command;
  readonly id: string | undefined;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly segments: number;
  readonly unitsPerS: number;
}

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      segments: { type: 'string', default: '8' },
      'units-per-second': { type: 'string', default: '200' },
    },
  });
  const [command, id, ...more] = positionals;
  if (command === undefined || !isCommand(command) || more.length > 0) throw new UsageError(USAGE);
  const takesNone = command === 'list' || command === 'status';
  if (takesNone !== (id === undefined) || (id !== undefined && migrationOf(id) === undefined)) {
    throw new UsageError(USAGE);
  }
  return {
    command,
    id,
    dryRun: values['dry-run'],
    json: values.json,
    segments: wholeNumber(values.segments, 1_000),
    unitsPerS: wholeNumber(values['units-per-second'], 1_000_000),
  };
}

function wholeNumber(text: string, most: number): number {
  const value = /^\d{1,7}$/.test(text) ? Number.parseInt(text, 10) : 0;
  if (value < 1 || value > most) throw new UsageError(USAGE);
  return value;
}

async function run(options: Options): Promise<Answer> {
  const config = loadConfig();
  const { name: tableName, region, endpoint } = config.table;
  if (endpoint === undefined && !config.production) {
    throw new Error('DYNAMODB_ENDPOINT must say where the engine is that holds the table.');
  }
  const client = createDynamoDbClient({ region, endpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  const ids = randomIds();
  const wait = (ms: number): Promise<void> => delay(ms);
  const limiter = createCapacityLimiter({ unitsPerS: options.unitsPerS, clock: systemClock, wait });
  const shared = { client, tableName, ids, wait, onConsumed: limiter.spend };
  try {
    return await perform(
      {
        table: {
          store: createStore(shared),
          transactor: createTransactor({ ...shared, events: { onConflict: () => undefined } }),
        },
        clock: systemClock,
        ids,
        operator: userInfo().username,
        wait,
      },
      {
        ...options,
        limiter,
        expectedItems: () => approximateItemCount(client, tableName),
        // Draws over one line of the terminal; nothing where nobody watches.
        showProgress: (line) => {
          if (process.stderr.isTTY) process.stderr.write(`\r${line}\x1b[K`);
        },
      },
    );
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    client.destroy();
  }
}

try {
  const options = readOptions();
  const answer = await run(options);
  console.log(options.json ? JSON.stringify(answer, undefined, 2) : printedAnswer(answer));
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  const asked = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
  process.exitCode = asked ? 2 : 3;
}
