/**
 * `npm run audit`: proves over the whole table that every entry balances, every balance is the sum of its postings, and
 * no order was refunded past what was paid. `--json` for machines, `--segments N` for larger tables. Exits 1 if
 * anything is off, 2 if some accounts never held still long enough to tell.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadConfig } from '../config.ts';
import { defined } from '../ledger/defined.ts';
import { createDynamoDbClient } from '../ledger/dynamodb.ts';
import { randomIds } from '../ledger/ids.ts';
import { type AuditProgress, auditTable } from '../ledger/operations/audit-ledger.ts';
import { createStore } from '../ledger/store.ts';
import { unmovedRecords } from '../migrations/unmoved-records.ts';
import { exitCode, printedReport, progressLine } from './audit-output.ts';

const USAGE = 'Usage: npm run audit -- [--json] [--segments 1…1000]';
const MAX_SEGMENTS = 1_000;
/** A page of a scan is a megabyte, which a far table may take its time for. */
const REQUEST_TIMEOUT_MS = 30_000;

interface Options {
  readonly json: boolean;
  readonly segments: number;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, segments: { type: 'string', default: '16' } },
  });
  const segments = /^\d{1,4}$/.test(values.segments) ? Number.parseInt(values.segments, 10) : 0;
  if (segments < 1 || segments > MAX_SEGMENTS) throw new Error(USAGE);
  return { json: values.json, segments };
}

/** Draws over one line of the terminal; nothing where nobody watches. */
function showProgress(progress: AuditProgress): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${progressLine(progress)}`);
}

async function run({ json, segments }: Options): Promise<void> {
  const config = loadConfig();
  const { name: tableName, region, endpoint } = config.table;
  if (endpoint === undefined && !config.production) {
    throw new Error('DYNAMODB_ENDPOINT must say where the engine is that holds the table.');
  }
  const client = createDynamoDbClient({ region, endpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  const wait = (ms: number): Promise<void> => delay(ms);
  const store = createStore({ client, tableName, ids: randomIds(), wait });
  const unmoved = await unmovedRecords(store);
  const report = await auditTable(store, {
    segments,
    wait,
    ...defined({ unmoved }),
    onProgress: showProgress,
  });
  if (process.stderr.isTTY) process.stderr.write('\n');
  console.log(json ? JSON.stringify(report, undefined, 2) : printedReport(report));
  process.exitCode = exitCode(report);
  client.destroy();
}

try {
  await run(readOptions());
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 3;
}
