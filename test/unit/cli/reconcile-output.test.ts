import { expect, it } from 'vitest';
import { exitCode, parseSince, printedReport } from '../../../src/cli/reconcile-output.ts';
import type { Finding, ReconcileReport } from '../../../src/ledger/operations/reconcile.ts';

const finding: Finding = {
  kind: 'REFUND',
  providerId: 're_1',
  order: { tenant: 'demo', accountId: 'alice', orderId: '01J0000000000000000000000A' },
  provider: 'succeeded 480 JPY',
  ledger: 'pending 480',
  fixed: false,
};

const agreeing: ReconcileReport = {
  payments: 3,
  refunds: 1,
  disputes: 0,
  foreign: 2,
  findings: [],
  complete: true,
};

it.each([
  ['90m', 5_400_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
])('reads %s as so far back', (text, ms) => {
  expect(parseSince(text)).toBe(ms);
});

it.each(['', '24', 'h', '0h', '-1h', '1.5h', '24 h', '1w', '1e3h', 'yesterday'])('refuses "%s"', (text) => {
  expect(parseSince(text)).toBeUndefined();
});

it('prints every difference with both sides, and the verdict', () => {
  expect(printedReport({ ...agreeing, findings: [finding, { ...finding, fixed: true }] })).toBe(
    [
      'DIFFERS  REFUND re_1  demo#alice order 01J0000000000000000000000A: provider succeeded 480 JPY, ledger pending 480',
      'fixed  REFUND re_1  demo#alice order 01J0000000000000000000000A: provider succeeded 480 JPY, ledger pending 480',
      '3 payments, 1 refunds, 0 disputes, 2 of others: 1 differences, 1 fixed.',
    ].join('\n'),
  );
});

it('tells how many bookings were looked up, where that was asked for', () => {
  expect(printedReport({ ...agreeing, bookings: 4 })).toBe(
    '3 payments, 1 refunds, 0 disputes, 2 of others, 4 bookings looked up: the ledger agrees with the provider.',
  );
});

it('exits 0 only if everything was compared and agrees', () => {
  expect(exitCode(agreeing)).toBe(0);
  expect(exitCode({ ...agreeing, findings: [{ ...finding, fixed: true }] })).toBe(0);
  expect(exitCode({ ...agreeing, complete: false })).toBe(2);
  expect(exitCode({ ...agreeing, complete: false, findings: [finding] })).toBe(1);
});
