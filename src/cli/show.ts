/**
 * `npm run show -- <anything>`: an order, a payment, a session, a refund, a dispute, an event or an account, with everything in
 * the table that is about it. Changes nothing. `--json` prints for machines.
 */
import { composeLedger } from '../main/compose-ledger.ts';
import { loadConfig } from '../config/config.ts';
import { EXIT, type ExitCode, reachableTable, readWords, runCommandLine } from './command-line.ts';
import { look, readSubject } from './show-look.ts';
import { printedShown } from './show-output.ts';

const HELP = `Usage: npm run show -- <anything> [--json]

Shows an order with its attempts, refunds, disputes, steps, timeline, entries and balances; changes nothing. <anything> is

  an order          its id as logs, reports and clients have it, or its account and ULID: demo#alice 01M8…
  a payment         pi_…, booked or not
  a session         cs_…: Stripe says whose it is
  a refund          re_…: Stripe says of which payment
  a dispute         dp_… or du_…: likewise
  an event          evt_…: what came of it, and its order
  a proposal        its id: what it is about, who decided, and the writes of a repair
  an account        demo#alice: balances, latest orders, entries and movements

  --json            prints it as data

Examples:
  npm run show -- demo#alice
  npm run show -- pi_3PqY2eLkdIwHu7ix --json

Exit codes: 0 shown, 1 there is no such thing, 2 asked wrongly, 3 the table or Stripe could not be asked`;

async function run(args: readonly string[]): Promise<ExitCode> {
  const { has, words } = readWords(args, { flags: ['json'], maxWords: 2 });
  const subject = readSubject(words);
  const config = loadConfig();
  reachableTable(config);
  const { ledger, close } = composeLedger(config, { readsOnly: true });
  const shown = await look(ledger, subject).finally(close);
  if (typeof shown === 'string') {
    process.stderr.write(`${shown}\n`);
    return EXIT.found;
  }
  console.log(has('json') ? JSON.stringify(shown, undefined, 2) : printedShown(shown));
  return EXIT.done;
}

await runCommandLine(HELP, run);
