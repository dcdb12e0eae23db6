import { expect, it } from 'vitest';
import {
  reconcileExitCode,
  parseSince,
  printedReconciliation,
  reconciliationAsData,
} from '../../../src/cli/reconcile-output.ts';
import type { ReconcileReport } from '../../../src/ledger/usecases/reconcile/reconcile.ts';
import type { ReconcileFinding } from '../../../src/ledger/usecases/reconcile/apply-difference.ts';

const finding: ReconcileFinding = {
  kind: 'REFUND',
  providerId: 're_1',
  order: { tenant: 'demo', accountId: 'alice', orderId: '01J0000000000000000000000A' },
  provider: 'succeeded 480 JPY',
  ledger: 'pending 480',
  fixed: false,
  next: 'FIX',
};
/** What `order(id:)` takes for it. */
const ID = 'T3JkZXIjZGVtbyNhbGljZSMwMUowMDAwMDAwMDAwMDAwMDAwMDAwMDAwQQ';
const FIXED: ReconcileFinding = {
  kind: 'REFUND',
  providerId: 're_1',
  order: { tenant: 'demo', accountId: 'alice', orderId: '01J0000000000000000000000A' },
  provider: 'succeeded 480 JPY',
  ledger: 'pending 480',
  fixed: true,
};

const agreeing: ReconcileReport = {
  payments: 3,
  refunds: 1,
  disputes: 0,
  young: 0,
  foreign: 2,
  findings: [],
  unreadable: [],
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

it('prints every difference with both sides, the order by its public id, and the verdict', () => {
  expect(printedReconciliation({ ...agreeing, findings: [finding, FIXED] })).toBe(
    [
      `DIFFERS  REFUND re_1  demo#alice order ${ID}: provider succeeded 480 JPY, ledger pending 480`,
      '         Next: --fix applies it by the same decisions as its webhook.',
      `fixed  REFUND re_1  demo#alice order ${ID}: provider succeeded 480 JPY, ledger pending 480`,
      '3 payments, 1 refund, 0 disputes compared, 2 of others: 1 difference, 1 fixed.',
    ].join('\n'),
  );
});

it('names what cannot be read, and that is no agreement', () => {
  const unreadable = [{ item: 'demo#alice ORDER#01J', problem: 'malformed item: attribute state' }];
  expect(printedReconciliation({ ...agreeing, unreadable })).toBe(
    [
      'UNREADABLE  demo#alice ORDER#01J: malformed item: attribute state',
      '         Next: nothing in it was compared. npm run audit names it too; mend the item, then run this again.',
      '3 payments, 1 refund, 0 disputes compared, 2 of others: 0 differences, 1 item not read.',
    ].join('\n'),
  );
  expect(reconcileExitCode({ ...agreeing, unreadable })).toBe(1);
});

it('gives machines the public id beside the parts that it is made of', () => {
  expect(reconciliationAsData({ ...agreeing, findings: [finding] })).toMatchObject({
    payments: 3,
    young: 0,
    findings: [{ providerId: 're_1', next: 'FIX', order: { id: ID, tenant: 'demo', accountId: 'alice' } }],
  });
});

it.each([
  ['PAYMENT', 'BY_HAND', "nothing was booked. Give the money back in Stripe's dashboard"],
  ['REFUND', 'BY_HAND', 'nothing was booked. Settle its payment first'],
  ['DISPUTE', 'BY_HAND', "answer it in Stripe's dashboard"],
  ['PAYMENT', 'RUN_AGAIN', 'run it again'],
  ['PAYMENT', 'CHECK', 'is STRIPE_SECRET_KEY that of the account which took the money?'],
] as const)(
  'says in one line what a person does about a %s that is to be settled %s',
  (kind, next, advice) => {
    const lines = printedReconciliation({
      ...agreeing,
      findings: [{ ...finding, kind, next, ledger: 'not booked' }],
    }).split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain(`Next: ${advice}`);
  },
);

it('claims no agreement where everything was too young', () => {
  expect(printedReconciliation({ ...agreeing, payments: 0, refunds: 0, foreign: 0, young: 5 })).toBe(
    '0 payments, 0 refunds, 0 disputes compared, 0 of others, 5 younger than 2 minutes left for the next run: nothing is known yet.',
  );
});

it('claims of nothing that stands in the ledger that it was not booked', () => {
  const text = printedReconciliation({ ...agreeing, findings: [{ ...finding, next: 'BY_HAND' }] });
  expect(text).toContain('Next: it is booked otherwise than Stripe has it.');
  expect(text).not.toContain('nothing was booked');
});

it('tells what was too young to be compared', () => {
  expect(printedReconciliation({ ...agreeing, payments: 4, refunds: 2, disputes: 1, young: 1 })).toBe(
    '4 payments, 2 refunds, 1 dispute compared, 2 of others, 1 younger than 2 minutes left for the next run: the ledger agrees with the provider.',
  );
});

it('tells how many bookings were looked up, where that was asked for', () => {
  expect(printedReconciliation({ ...agreeing, recordings: 4 })).toBe(
    '3 payments, 1 refund, 0 disputes compared, 2 of others, 4 bookings looked up: the ledger agrees with the provider.',
  );
});

it('exits 0 only if everything that is old enough was compared and agrees', () => {
  expect(reconcileExitCode(agreeing)).toBe(0);
  expect(reconcileExitCode({ ...agreeing, young: 3 })).toBe(0);
  expect(reconcileExitCode({ ...agreeing, findings: [FIXED] })).toBe(0);
  expect(reconcileExitCode({ ...agreeing, complete: false })).toBe(3);
  expect(reconcileExitCode({ ...agreeing, complete: false, findings: [finding] })).toBe(1);
});
