import { expect, it } from 'vitest';
import { auditExitCode, printedAudit, auditAsData } from '../../../src/cli/audit-output.ts';
import type { AuditReport } from '../../../src/ledger/usecases/audit/audit-ledger.ts';

/** What `order(id:)` takes for it. */
const ID = 'T3JkZXIjZGVtbyNhbGljZSMwMUowMDAwMDAwMDAwMDAwMDAwMDAwMDAwQQ';

const report: AuditReport = {
  items: 5,
  accounts: 1,
  entries: 1,
  orders: 2,
  totals: [],
  problems: [
    {
      promise: 'I4',
      tenant: 'demo',
      accountId: 'alice',
      item: 'ORDER#01J0000000000000000000000A',
      what: 'refunded',
      expected: '120',
      found: '100',
      offBy: '-20',
    },
  ],
  unsettled: [],
};

it('names the order that is off by its public id too, for people and for machines, and counts in words', () => {
  const lines = printedAudit(report).split('\n');
  expect(lines).toContain(
    `I4  demo#alice  ORDER#01J0000000000000000000000A  refunded: expected 120, found 100, off by -20  (order ${ID})`,
  );
  expect(lines.at(-1)).toBe('1 account, 1 entry, 2 orders: 1 problem.');
  expect(auditAsData(report)).toMatchObject({ accounts: 1, problems: [{ promise: 'I4', order: ID }] });
});

it('names no order where a balance is off', () => {
  const [problem] = report.problems;
  if (problem === undefined) throw new Error('no problem');
  const problems = [{ ...problem, item: 'BALANCE#ECOPAY' }];
  expect(printedAudit({ ...report, problems })).not.toContain('(order');
  expect(auditAsData({ ...report, problems })).toEqual({ ...report, problems });
});

it('exits 1 for what is off, and 3 where an account never held still', () => {
  const unsettled = [{ tenant: 'demo', accountId: 'bob' }];
  expect(auditExitCode(report)).toBe(1);
  expect(auditExitCode({ ...report, problems: [], unsettled })).toBe(3);
  expect(auditExitCode({ ...report, unsettled })).toBe(1);
  expect(auditExitCode({ ...report, problems: [] })).toBe(0);
});

it('does not call it balanced where a sum does not come out, whoever is to blame', () => {
  const outside = { merchant: '0', stripe: '0', cash: '0', receivable: '0', surplus: '0', issuer: '-5' };
  const total = { tenant: 'demo', asset: 'ECOPAY', accounts: 1, balances: '6', outside, difference: '1' };
  const unbalanced = { ...report, problems: [], totals: [{ ...total, difference: '0' }, total] };
  expect(auditExitCode(unbalanced)).toBe(1);
  expect(printedAudit(unbalanced).split('\n').at(-1)).toBe(
    '1 account, 1 entry, 2 orders: 1 sum does not come to nothing.',
  );
});
