import type { AuditProblem } from '../ledger/audit/audit.ts';
import { findingId } from '../ledger/audit/finding-kind.ts';
import { encodeNodeId } from '../ledger/items/node-ids.ts';
import type { Proposal } from '../ledger/model/proposal.ts';
import type { RepairApproved } from '../ledger/usecases/repair/approve-repair.ts';
import { type RepairProposed, findingText } from '../ledger/usecases/repair/propose-repair.ts';
import { counted } from './command-line.ts';

/** The findings of an audit, each with the id by which it is mended. */
export function printedFindings(problems: readonly AuditProblem[]): string {
  if (problems.length === 0) return 'Nothing is off.';
  const lines = problems.map((problem) => `${findingId(problem)}  ${findingText(problem)}`);
  return [...lines, `${counted(problems.length, 'finding')}: mend one with --finding ID.`].join('\n');
}

export function printedProposal(outcome: RepairProposed): string {
  switch (outcome.kind) {
    case 'PROPOSED':
      return [
        `proposal ${proposalNodeId(outcome.proposal)}`,
        ...writeLines(outcome.proposal),
        'Nothing has changed yet: another admin makes these writes with --approve.',
      ].join('\n');
    case 'BY_HAND':
      return `This can't be mended by a rule. ${outcome.instead}`;
    case 'NOT_ALLOWED':
      return "The token is not of an admin of the finding's tenant.";
    case 'GONE':
      return "Nothing of this id is off in the token's tenant: list the findings again.";
    case 'MOVING':
      return 'The account kept moving: try again.';
    case 'UNKNOWN':
      return 'Nobody knows whether it was stored: try again. A second proposal does no harm.';
  }
}

/** @param left what is still off in the account; undefined where it kept moving */
export function printedApproval(outcome: RepairApproved, left: readonly AuditProblem[] | undefined): string {
  switch (outcome.kind) {
    case 'APPROVED':
      return [
        `proposal ${proposalNodeId(outcome.proposal)}: done`,
        ...writeLines(outcome.proposal),
        rest(left),
      ].join('\n');
    case 'NOT_OPEN':
      return `It can't be approved: it is ${outcome.state}.`;
    case 'NOT_FOUND':
      return "There is no such repair in the token's tenant.";
    case 'OWN':
      return 'Another admin than the one who proposed it has to approve.';
    case 'CHANGED':
      return 'Nothing was written: the table is not what it was when this was proposed. Propose it anew.';
    case 'MOVING':
      return 'Nothing was written: the account kept moving. Try again.';
    case 'UNKNOWN':
      return 'Nobody knows whether it was written: try again with the same proposal.';
  }
}

function rest(left: readonly AuditProblem[] | undefined): string {
  if (left === undefined) return 'The account kept moving: audit it again.';
  if (left.length === 0) return 'The account was audited again: nothing is off.';
  return `The account was audited again. ${printedFindings(left)}`;
}

function proposalNodeId({ tenant, accountId, proposalId }: Proposal): string {
  return encodeNodeId('Proposal', tenant, accountId, proposalId);
}

function writeLines({ repair }: Proposal): readonly string[] {
  return [
    `  ${repair?.finding ?? ''}`,
    ...(repair?.writes ?? []).flatMap(({ uuid, type, before, after }) => [
      `  ${uuid} ${type}`,
      `    before ${before}`,
      `    after  ${after}`,
    ]),
  ];
}
