/**
 * `npm run repair`: lists what an audit finds, with an id for each finding; `--finding` stores the exact writes that mend one as
 * a proposal, and `--approve` makes them, with the token of another admin.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createTokenVerifier } from '../auth/token.ts';
import type { Viewer } from '../auth/viewer.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { findingId } from '../ledger/audit/finding-kind.ts';
import { nodeParts } from '../ledger/items/node-ids.ts';
import { auditTable } from '../ledger/usecases/audit/audit-ledger.ts';
import { approveRepair } from '../ledger/usecases/repair/approve-repair.ts';
import { auditAccount } from '../ledger/usecases/repair/examine.ts';
import { proposeRepair } from '../ledger/usecases/repair/propose-repair.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { type Composition, composeLedger } from '../main/compose-ledger.ts';
import { unmovedRecords } from '../migrations/toolkit.ts';
import {
  EXIT,
  type ExitCode,
  UsageError,
  readWords,
  reachableTable,
  runCommandLine,
} from './command-line.ts';
import { printedApproval, printedFindings, printedProposal } from './repair-output.ts';

const HELP = `Usage: npm run repair -- [--finding ID --token TOKEN --reason TEXT | --approve PROPOSAL --token TOKEN]

Mends what the audit finds, by two admins: one proposes the exact writes, another one approves them.

  (nothing)            lists the findings with their ids, and how each is mended
  --finding ID         stores the writes that mend this finding as a proposal, and prints them
  --reason TEXT        why, for the record; with --finding
  --approve PROPOSAL   makes the writes, if the table is still as it was; then audits the account again
  --token TOKEN        an admin's token of the finding's tenant; of another subject to approve

Examples:
  npm run repair
  npm run repair -- --finding F-0123456789ab --token eyJ… --reason "lost in the outage"
  npm run repair -- --approve UHJvcG9zYWw… --token eyJ…

Exit codes: 0 nothing is off, or it was done, 1 something is off, or it was refused, 2 asked wrongly, 3 the table could not be read`;
const SEGMENTS = 16;

async function run(args: readonly string[]): Promise<ExitCode> {
  const { valueOf } = readWords(args, { options: ['finding', 'reason', 'approve', 'token'] });
  const [finding, approved, token, reason] = [
    valueOf('finding'),
    valueOf('approve'),
    valueOf('token'),
    valueOf('reason'),
  ];
  if (finding !== undefined && approved !== undefined)
    throw new UsageError('--finding and --approve exclude each other.');
  if ((finding ?? approved) !== undefined && token === undefined)
    throw new UsageError('--token must say who asks.');
  if (finding !== undefined && reason === undefined) throw new UsageError('--reason must say why.');
  const config = loadConfig();
  reachableTable(config);
  const composition = composeLedger(config, { readsOnly: (finding ?? approved) === undefined });
  const { ledger, close } = composition;
  const work = async (): Promise<ExitCode> => {
    if (finding !== undefined) return propose(config, composition, { finding, token, reason });
    return approved === undefined ? list(ledger) : approve(config, composition, { approved, token });
  };
  return work().finally(close);
}

async function findings(ledger: Ledger) {
  const unmoved = await unmovedRecords(ledger.store);
  if (unmoved !== undefined)
    throw new Error('A migration is under way: finish it, or take it back, before anything is repaired.');
  return auditTable(ledger.store, { segments: SEGMENTS, wait: (ms) => delay(ms) });
}

async function list(ledger: Ledger): Promise<ExitCode> {
  const { problems, unsettled } = await findings(ledger);
  console.log(printedFindings(problems));
  if (problems.length > 0) return EXIT.found;
  return unsettled.length > 0 ? EXIT.unreachable : EXIT.done;
}

/** The token is checked as the gateway checks it. Undefined, and said why, where it is none of an admin. */
async function adminOf(
  config: Config,
  { ledger, metrics, logger }: Composition,
  token = '',
): Promise<Viewer | undefined> {
  const { clock, tenants } = ledger;
  const verifier = createTokenVerifier(config, tenants, { clock, metrics, logger });
  const verdict = await verifier.verify(token, clock.nowMs());
  if (verdict.kind === 'UNAVAILABLE')
    throw new Error('The keys of the tokens could not be fetched: try again.');
  if (verdict.kind === 'VIEWER' && verdict.viewer.role === 'ADMIN') return verdict.viewer;
  process.stderr.write(
    verdict.kind === 'REFUSED' ? `The token is refused: ${verdict.reason}.\n` : "The token is no admin's.\n",
  );
  return undefined;
}

interface Asked {
  readonly finding: string;
  readonly token: string | undefined;
  readonly reason: string | undefined;
}

async function propose(config: Config, composition: Composition, asked: Asked): Promise<ExitCode> {
  const viewer = await adminOf(config, composition, asked.token);
  if (viewer === undefined) return EXIT.found;
  const { ledger } = composition;
  const { problems } = await findings(ledger);
  const problem = problems.find((one) => findingId(one) === asked.finding && one.tenant === viewer.tenant);
  const outcome =
    problem === undefined
      ? ({ kind: 'GONE' } as const)
      : await proposeRepair(ledger, viewer, problem, asked.reason ?? '');
  console.log(printedProposal(outcome));
  return outcome.kind === 'PROPOSED' ? EXIT.done : EXIT.found;
}

async function approve(
  config: Config,
  composition: Composition,
  { approved, token }: { readonly approved: string; readonly token: string | undefined },
): Promise<ExitCode> {
  const viewer = await adminOf(config, composition, token);
  if (viewer === undefined) return EXIT.found;
  const [accountId, proposalId] = nodeParts('Proposal', viewer.tenant, approved) ?? [];
  if (accountId === undefined || proposalId === undefined) {
    console.log(printedApproval({ kind: 'NOT_FOUND' }, undefined));
    return EXIT.found;
  }
  const { ledger } = composition;
  const outcome = await approveRepair(ledger, viewer, { tenant: viewer.tenant, accountId, proposalId });
  if (outcome.kind !== 'APPROVED') {
    console.log(printedApproval(outcome, undefined));
    return EXIT.found;
  }
  const left = await auditAccount(ledger.store, outcome.proposal);
  console.log(printedApproval(outcome, left));
  return left?.length === 0 ? EXIT.done : EXIT.found;
}

await runCommandLine(HELP, run);
