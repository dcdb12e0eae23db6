/**
 * `npm run show -- <anything>`: an order, a payment, a session, an event or an account, with everything in the table that is
 * about it. Changes nothing. `--json` prints for machines.
 */
import { composeLedger } from '../compose-ledger.ts';
import { loadConfig } from '../config.ts';
import type { AccountRef, OrderRef } from '../ledger/keys.ts';
import { findEvent, findOrderOf } from '../ledger/operations/find-order.ts';
import type { Ledger } from '../ledger/operations/ledger.ts';
import { readWholeAccount, readWholeOrder } from '../ledger/operations/read-account.ts';
import { EXIT, type ExitCode, reachableTable, readWords, runCommandLine } from './command-line.ts';
import { type Shown, foundEvent, wholeAccountData, wholeOrderData } from './show-data.ts';
import { printedShown } from './show-output.ts';
import { type Subject, readSubject } from './show-subject.ts';

const HELP = `Usage: npm run show -- <anything> [--json]

Shows an order with its attempts, refunds, disputes, steps, timeline, entries and balances; changes nothing. <anything> is

  an order          its id as logs, reports and clients have it, or its account and ULID: demo#alice 01M8…
  a payment         pi_…, booked or not
  a session         cs_…: Stripe says whose it is
  an event          evt_…: what came of it, and its order
  an account        demo#alice: balances, latest orders and entries

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
  const { ledger, close } = composeLedger(config);
  const shown = await look(ledger, subject).finally(close);
  if (typeof shown === 'string') {
    process.stderr.write(`${shown}\n`);
    return EXIT.found;
  }
  console.log(has('json') ? JSON.stringify(shown, undefined, 2) : printedShown(shown));
  return EXIT.done;
}

/** What there is, or a sentence that says what there isn't. */
async function look(ledger: Ledger, subject: Subject): Promise<Shown | string> {
  switch (subject.kind) {
    case 'ORDER':
      return lookAtOrder(ledger, subject.ref);
    case 'ACCOUNT':
      return lookAtAccount(ledger, subject.ref);
    case 'EVENT':
      return lookAtEvent(ledger, subject.id);
    case 'PROVIDER': {
      const found = await findOrderOf(ledger, subject.id);
      if (found.kind === 'UNKNOWN') throw new Error('Stripe could not be asked whose it is: try again.');
      if (found.kind === 'NONE') return `${subject.id} is of no order of ours.`;
      return lookAtOrder(ledger, found.ref);
    }
  }
}

async function lookAtOrder(ledger: Ledger, ref: OrderRef): Promise<Shown | string> {
  const { tenant, accountId, orderId } = ref;
  if (!ledger.tenants.has(tenant)) return noTenant(tenant);
  const whole = await readWholeOrder(ledger, ref);
  return whole === undefined ? `${tenant}#${accountId} has no order ${orderId}.` : wholeOrderData(whole);
}

async function lookAtAccount(ledger: Ledger, ref: AccountRef): Promise<Shown | string> {
  if (!ledger.tenants.has(ref.tenant)) return noTenant(ref.tenant);
  return wholeAccountData(ref, await readWholeAccount(ledger, ref));
}

async function lookAtEvent(ledger: Ledger, eventId: string): Promise<Shown | string> {
  const event = await findEvent(ledger, eventId);
  if (event === undefined) return `No event ${eventId} came here, or its thirty days are over.`;
  const about = event.order === undefined ? {} : await lookAtOrder(ledger, event.order);
  return { ...foundEvent(event), ...(typeof about === 'string' ? {} : about) };
}

function noTenant(tenant: string): string {
  return `TENANTS_FILE has no tenant ${tenant}.`;
}

await runCommandLine(HELP, run);
