import type { PlantedBug } from './planted-bug.ts';

const AUDIT_DISPUTES = 'test/integration/ledger/audit-disputes.test.ts';
const AUDIT_POSTINGS = 'test/integration/ledger/audit-postings.test.ts';

/** The audit, which must not miss what is off. */
export const AUDIT: readonly PlantedBug[] = [
  {
    name: 'the audit asks of no refund by itself',
    file: 'src/ledger/audit/audit-order.ts',
    from: '...judgeRefunds(order, entries, refunds),',
    to: '...judgeRefunds(order, entries, refunds).slice(9),',
    tests: ['test/integration/webhooks/audit-refunds.test.ts'],
    only: 'planted damage',
  },
  {
    name: 'the audit reads refunds after it has seen that nothing moved',
    file: 'src/ledger/usecases/audit/audit-account.ts',
    from: '  const refunds = await readAll(store, ref, PREFIX.refund);\n  const after = await readMoving(store, ref, unmoved);',
    to: '  const after = await readMoving(store, ref, unmoved);\n  const refunds = await readAll(store, ref, PREFIX.refund);',
    tests: ['test/integration/webhooks/audit-refunds.test.ts'],
    only: 'while the audit reads',
  },
  {
    name: 'the audit does not count the refunds of an order',
    file: 'src/ledger/audit/audit-refunds.ts',
    from: "...countsOff(order, 'refunds', order, own),",
    to: '',
    tests: ['test/unit/ledger/audit/audit-refunds.test.ts'],
  },
  {
    name: 'the audit asks of no dispute by itself',
    file: 'src/ledger/audit/audit-order.ts',
    from: '...judgeDisputes(order, entries),',
    to: '...judgeDisputes(order, entries).slice(9),',
    tests: [AUDIT_DISPUTES],
  },
  {
    name: 'the audit expects a loss that was won back',
    file: 'src/ledger/audit/audit-disputes.ts',
    from: 'recorded: recorded ? amount : ZERO',
    to: 'recorded: recorded || amount.gt(ZERO) ? amount : ZERO',
    tests: [AUDIT_DISPUTES],
  },
  {
    name: 'the audit asks of no surplus payment',
    file: 'src/ledger/audit/audit-order.ts',
    from: '...judgeOverpayments(order, entries),',
    to: '...judgeOverpayments(order, entries).slice(9),',
    tests: [AUDIT_DISPUTES],
  },
  {
    name: 'the audit takes any account for where money comes from',
    file: 'src/ledger/audit/audit-entry.ts',
    from: '!isAllowed(debit, credit)',
    to: 'debit === credit && !isAllowed(debit, credit)',
    tests: [AUDIT_POSTINGS],
  },
  {
    name: 'the audit does not ask what a charge earned',
    file: 'src/ledger/audit/audit-order.ts',
    from: '...judgeRewards(order, succeeded, entries),',
    to: '...judgeRewards(order, succeeded, entries).slice(9),',
    tests: [AUDIT_POSTINGS],
  },
  {
    name: 'the audit takes any payment for the one that paid',
    file: 'src/ledger/audit/audit-order.ts',
    from: 'payments.map(({ operation, providerId }) => named(operation, providerId))',
    to: 'payments.map(({ operation }) => named(operation, order.payment?.paymentId))',
    tests: [AUDIT_POSTINGS],
  },
  {
    name: 'the audit passes over money that is in no account',
    file: 'src/ledger/usecases/audit/audit-ledger.ts',
    from: 'strays.push(...page.strays);',
    to: '',
    tests: ['test/integration/ledger/audit-strays.test.ts'],
  },
  {
    name: 'the audit judges what the end of a page cut off',
    file: 'src/ledger/usecases/audit/audit-ledger.ts',
    from: '[...byOwner].filter(([owner]) => owner !== last)',
    to: '[...byOwner].filter(([owner]) => owner !== undefined)',
    tests: ['test/integration/ledger/audit-large.test.ts'],
  },
];
