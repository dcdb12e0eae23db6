/**
 * `npm run reconcile -- --since 24h`: lists the provider's payments, refunds and disputes since then and compares them
 * with the ledger. `--both-ways` also looks up at the provider what the ledger has booked since then, which reads the whole
 * table. `--fix` applies what the ledger lacks, by the same decisions as webhooks; `--json` prints for machines.
 */
import { composeLedger } from '../main/compose-ledger.ts';
import { loadConfig } from '../config/config.ts';
import { reconcile } from '../ledger/usecases/reconcile/reconcile.ts';
import {
  type ExitCode,
  UsageError,
  reachableTable,
  readWords,
  runCommandLine,
  showProgress,
} from './command-line.ts';
import {
  reconcileExitCode,
  parseSince,
  printedReconciliation,
  reconcileProgressLine,
  reconciliationAsData,
} from './reconcile-output.ts';

const HELP = `Usage: npm run reconcile -- [--since 90m|24h|7d] [--both-ways] [--fix] [--json]

Compares Stripe's payments, refunds and disputes with the ledger, each once it is two minutes old.

  --since TIME   how far back: minutes, hours or days; 24h unless given
  --both-ways    also looks up at Stripe what the ledger has booked since; reads the whole table
  --fix          applies what the ledger lacks, by the same decisions as webhooks
  --json         prints the report as data

Examples:
  npm run reconcile -- --since 7d --both-ways
  npm run reconcile -- --since 24h --fix

Exit codes: 0 both agree (or it was fixed), 1 they differ, 2 asked wrongly, 3 not everything could be compared`;

async function run(args: readonly string[]): Promise<ExitCode> {
  const { has, valueOf } = readWords(args, { flags: ['both-ways', 'fix', 'json'], options: ['since'] });
  const since = valueOf('since') ?? '24h';
  const sinceMs = parseSince(since);
  if (sinceMs === undefined)
    throw new UsageError(`--since takes a time such as 90m, 24h or 7d, not "${since}".`);
  const config = loadConfig();
  reachableTable(config);
  const { ledger, close } = composeLedger(config, { readsOnly: !has('fix') });
  const report = await reconcile(ledger, {
    sinceMs,
    fix: has('fix'),
    bothWays: has('both-ways'),
    onProgress: (progress) => {
      showProgress(reconcileProgressLine(progress));
    },
  }).finally(close);
  showProgress();
  console.log(
    has('json') ? JSON.stringify(reconciliationAsData(report), undefined, 2) : printedReconciliation(report),
  );
  return reconcileExitCode(report);
}

await runCommandLine(HELP, run);
