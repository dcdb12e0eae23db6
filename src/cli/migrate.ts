/**
 * `npm run migrate -- list | status | advance <id> | back <id> | backfill <id> | verify <id>` (docs/MIGRATIONS.md).
 * `--dry-run` says what would be done, `--json` is for machines, `--segments N` cuts the table into N parts,
 * `--units-per-second N` bounds what a backfill consumes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { userInfo } from 'node:os';
import { loadConfig } from '../config/config.ts';
import { systemClock } from '../ledger/kernel/clock.ts';
import { createDynamoDbClient } from '../ledger/table/dynamodb.ts';
import { createTableClock } from '../ledger/table/table-clock.ts';
import { randomIds } from '../ledger/kernel/ids.ts';
import { createStore } from '../ledger/table/store.ts';
import { approximateItemCount } from '../ledger/table/table.ts';
import { createTransactor } from '../ledger/table/transact.ts';
import { type MigrateAnswer, HELP, type MigrateOptions, perform, readOptions } from './migrate-commands.ts';
import { printedAnswer, migrationProgressLine } from './migrate-output.ts';
import { createCapacityLimiter } from '../migrations/scan.ts';
import { EXIT, type ExitCode, reachableTable, runCommandLine, showProgress } from './command-line.ts';

/** A page of a scan is a megabyte, which a far table may take its time for. */
const REQUEST_TIMEOUT_MS = 30_000;

async function answer(options: MigrateOptions): Promise<MigrateAnswer> {
  const { name: tableName, region, endpoint } = reachableTable(loadConfig());
  const clock = createTableClock();
  const client = createDynamoDbClient({ region, endpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS, clock });
  const ids = randomIds();
  const wait = (ms: number): Promise<void> => delay(ms);
  const limiter = createCapacityLimiter(options.unitsPerS, systemClock, wait);
  const shared = { client, tableName, ids, wait, onConsumed: limiter.spend };
  const table = { store: createStore(shared), transactor: createTransactor(shared) };
  const toolkit = { table, clock, ids, operator: userInfo().username, wait };
  const startedMs = systemClock.nowMs();
  try {
    const expectedItems = options.command === 'backfill' ? await approximateItemCount(client, tableName) : 0;
    return await perform(toolkit, options, {
      limiter,
      onProgress: (progress) => {
        const elapsedMs = systemClock.nowMs() - startedMs;
        showProgress(
          migrationProgressLine({ ...progress, expectedItems, elapsedMs, units: limiter.spentUnits() }),
        );
      },
    });
  } finally {
    showProgress();
    client.destroy();
  }
}

async function run(args: readonly string[]): Promise<ExitCode> {
  const options = readOptions(args);
  const result = await answer(options);
  console.log(options.json ? JSON.stringify(result, undefined, 2) : printedAnswer(result));
  return result.ok ? EXIT.done : EXIT.found;
}

await runCommandLine(HELP, run);
