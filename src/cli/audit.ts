/**
 * `npm run audit`: proves over the whole table that every entry balances, every balance is the sum of its postings, and
 * no order was refunded past what was paid. `--json` for machines, `--segments N` for larger tables.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../config/config.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { createDynamoDbClient } from '../ledger/table/dynamodb.ts';
import { randomIds } from '../ledger/kernel/ids.ts';
import { auditTable } from '../ledger/usecases/audit/audit-ledger.ts';
import { createStore } from '../ledger/table/store.ts';
import { unmovedRecords } from '../migrations/toolkit.ts';
import { auditExitCode, printedAudit, auditProgressLine, auditAsData } from './audit-output.ts';
import {
  type ExitCode,
  readCount,
  readWords,
  reachableTable,
  runCommandLine,
  showProgress,
} from './command-line.ts';

const HELP = `Usage: npm run audit -- [--json] [--segments 1…1000]

Proves from the whole table that no money was made or lost, beside live traffic.

  --json         prints the report as data
  --segments N   reads the table in N parts; 16 unless given

Examples:
  npm run audit
  npm run audit -- --json --segments 200

Exit codes: 0 everything balances, 1 something is off, 2 asked wrongly, 3 the table or an account could not be read`;
const MAX_SEGMENTS = 1_000;
/** A page of a scan is a megabyte, which a far table may take its time for. */
const REQUEST_TIMEOUT_MS = 30_000;

async function run(args: readonly string[]): Promise<ExitCode> {
  const { has, valueOf } = readWords(args, { flags: ['json'], options: ['segments'] });
  const segments = readCount('--segments', valueOf('segments') ?? '16', MAX_SEGMENTS);
  const { name: tableName, region, endpoint } = reachableTable(loadConfig());
  const client = createDynamoDbClient({ region, endpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  const wait = (ms: number): Promise<void> => delay(ms);
  const store = createStore({ client, tableName, ids: randomIds(), wait });
  const unmoved = await unmovedRecords(store);
  const report = await auditTable(store, {
    segments,
    wait,
    ...defined({ unmoved }),
    onProgress: (progress) => {
      showProgress(auditProgressLine(progress));
    },
  });
  showProgress();
  console.log(has('json') ? JSON.stringify(auditAsData(report), undefined, 2) : printedAudit(report));
  client.destroy();
  return auditExitCode(report);
}

await runCommandLine(HELP, run);
