/**
 * `npm run reconcile -- --since 24h`: lists the provider's payments, refunds and disputes since then and compares them
 * with the ledger. `--both-ways` also looks up at the provider what the ledger has booked since then, which reads the whole
 * table. `--fix` applies what the ledger lacks, by the same decisions as webhooks; `--json` prints for machines.
 * Exits 1 if anything differs, 2 if not everything could be compared.
 */
import { parseArgs } from 'node:util';
import { composeLedger } from '../compose-ledger.ts';
import { loadConfig } from '../config.ts';
import { type ReconcileProgress, reconcile } from '../ledger/operations/reconcile.ts';
import { exitCode, parseSince, printedReport, progressLine } from './reconcile-output.ts';

const USAGE = 'Usage: npm run reconcile -- [--since 90m|24h|7d] [--both-ways] [--fix] [--json]';

interface Options {
  readonly sinceMs: number;
  readonly fix: boolean;
  readonly bothWays: boolean;
  readonly json: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      since: { type: 'string', default: '24h' },
      fix: { type: 'boolean', default: false },
      'both-ways': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const sinceMs = parseSince(values.since);
  if (sinceMs === undefined) throw new Error(USAGE);
  return { sinceMs, fix: values.fix, bothWays: values['both-ways'], json: values.json };
}

/** Draws over one line of the terminal; nothing where nobody watches. */
function showProgress(progress: ReconcileProgress): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${progressLine(progress)}`);
}

async function run({ json, ...options }: Options): Promise<void> {
  const config = loadConfig();
  if (config.table.endpoint === undefined && !config.production) {
    throw new Error('DYNAMODB_ENDPOINT must say where the engine is that holds the table.');
  }
  const { ledger, close } = composeLedger(config);
  const report = await reconcile(ledger, { ...options, onProgress: showProgress });
  if (process.stderr.isTTY) process.stderr.write('\n');
  console.log(json ? JSON.stringify(report, undefined, 2) : printedReport(report));
  process.exitCode = exitCode(report);
  await close();
}

try {
  await run(readOptions());
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 3;
}
