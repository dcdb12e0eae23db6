import type { PlantedBug } from './planted-bug.ts';

const RELEASED = 'test/integration/provider/released-refund.test.ts';

/** Refunds that never happened, happened although nobody knew, or can't be made in full. */
export const REFUNDS: readonly PlantedBug[] = [
  {
    name: 'a refund that never happened pays a debt',
    file: 'src/ledger/model/orders/postings.ts',
    from: "const most = source === 'REQUESTED' ? shortfall : amount;",
    to: "const most = source === 'REQUESTED' && shortfall.gt(amount) ? shortfall : amount;",
    tests: [RELEASED],
    only: 'too busy',
  },
  {
    name: 'the audit passes a refund that paid a debt and never happened',
    file: 'src/ledger/audit/audit-refunds.ts',
    from: 'finding === undefined || paid.isNegative() ? [] : [finding]',
    to: 'finding === undefined || !paid.isZero() ? [] : [finding]',
    tests: ['test/unit/ledger/audit/audit-refunds.test.ts'],
  },
  {
    name: 'what a refund took before a loss of what is owed goes to the wallet when it fails',
    file: 'src/ledger/model/provider/provider-recordings.ts',
    from: 'missing, shortfallOf(order, entriesOf(what, entries))',
    to: 'missing, ZERO',
    tests: ['test/unit/ledger/model/provider/refunds.test.ts'],
  },
];
