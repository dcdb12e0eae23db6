/**
 * `npm run reconcile -- --since 24h`: lists the provider's payments, refunds and disputes since then and compares them
 * with the ledger. `--both-ways` also looks up at the provider what the ledger has booked since then, which reads the whole
 * table. `--fix` applies what the ledger lacks, by the same decisions as webhooks; `--json` prints for machines.
 */
import { composeLedger } from '../main/compose-ledger.ts';
import { loadConfig } from '../config/config.ts';
import { systemClock } from '../ledger/kernel/clock.ts';
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
  parseLostSince,
  parseSince,
  printedReconciliation,
  reconcileProgressLine,
  reconciliationAsData,
} from './reconcile-output.ts';

const HELP = `Usage: npm run reconcile -- [--since 90m|24h|7d] [--both-ways] [--fix] [--json]
       npm run reconcile -- --rebuild --lost-since TIME [--json]

Compares Stripe's payments, refunds and disputes with the ledger, each once it is two minutes old.

  --since TIME   how far back: minutes, hours or days; 24h unless given
  --both-ways    also looks up at Stripe what the ledger has booked since; reads the whole table
  --fix          applies what the ledger lacks, by the same decisions as webhooks
  --rebuild      after a restore: makes lost orders again of what Stripe keeps of them, applies all that Stripe has,
                 and brings entries and balances up to it; reads the whole table
  --lost-since T the moment to which the table was restored: 2026-12-03T10:15:00Z, or 90m, 24h, 7d ago
  --json         prints the report as data

Examples:
  npm run reconcile -- --since 7d --both-ways
  npm run reconcile -- --since 24h --fix
  npm run reconcile -- --rebuild --lost-since 2026-12-03T10:15:00Z

Exit codes: 0 both agree (or it was fixed), 1 they differ, 2 asked wrongly, 3 not everything could be compared`;

async function run(args: readonly string[]): Promise<ExitCode> {
  const { has, valueOf } = readWords(args, {
    flags: ['both-ways', 'fix', 'json', 'rebuild'],
    options: ['since', 'lost-since'],
  });
  const sinceMs = readReach(has('rebuild'), valueOf('since'), valueOf('lost-since'));
  const config = loadConfig();
  reachableTable(config);
  const { ledger, close } = composeLedger(config, { readsOnly: !has('fix') && !has('rebuild') });
  const report = await reconcile(ledger, {
    sinceMs,
    fix: has('fix'),
    rebuild: has('rebuild'),
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

/** How far back to compare, in milliseconds. Throws UsageError. */
function readReach(rebuilds: boolean, since: string | undefined, lostSince: string | undefined): number {
  if (rebuilds !== (lostSince !== undefined))
    throw new UsageError(
      '--rebuild and --lost-since go together: the moment to which the table was restored.',
    );
  if (lostSince === undefined) {
    const sinceMs = parseSince(since ?? '24h');
    if (sinceMs !== undefined) return sinceMs;
    throw new UsageError(`--since takes a time such as 90m, 24h or 7d, not "${since ?? ''}".`);
  }
  if (since !== undefined) throw new UsageError('--rebuild takes --lost-since in the place of --since.');
  const reachMs = parseLostSince(lostSince, systemClock.nowMs());
  if (reachMs !== undefined) return reachMs;
  throw new UsageError(`--lost-since takes 2026-12-03T10:15:00Z, or 90m, 24h, 7d, not "${lostSince}".`);
}

await runCommandLine(HELP, run);
