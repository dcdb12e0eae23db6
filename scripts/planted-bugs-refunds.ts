import type { PlantedBug } from './planted-bug.ts';

const RELEASED = 'test/integration/provider/released-refund.test.ts';

const STORED = 'test/integration/provider/stored-failure.test.ts';
const ASK = 'src/ledger/usecases/provider-calls/ask-for-refund.ts';

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
  {
    name: 'a stored 500 blocks a refund for a day',
    file: ASK,
    from: 'const LOOKS_APART_MS = 15 * 60_000;',
    to: 'const LOOKS_APART_MS = 1_500 * 60_000;',
    tests: [STORED],
    only: 'within half an hour',
  },
  {
    name: 'a new key for a refund goes out after one look',
    file: ASK,
    from: 'startMs - lookedAtMs < LOOKS_APART_MS',
    to: 'startMs < lookedAtMs',
    tests: [STORED],
    only: 'within half an hour',
  },
  {
    name: "a new key for a refund goes out whatever Stripe's refunded amount is",
    file: ASK,
    from: 'const isUnmade = await booksAgree(ledger, held);',
    to: 'const isUnmade = (await booksAgree(ledger, held)) || startMs > 0;',
    tests: [STORED],
    only: 'nobody has told of',
  },
  {
    name: 'a new key for a refund is sent before it is written',
    file: ASK,
    from: 'return isUnmade ? changed : undefined;',
    to: 'return isUnmade ? { ...(changed ?? refund), tries: Math.floor(startMs / 7) } : undefined;',
    tests: [STORED],
    only: 'another takes over',
  },
  {
    name: 'any 500 counts as a spent key',
    file: 'src/provider/stripe/calls.ts',
    from: "headers?.['idempotent-replayed'] === 'true'",
    to: "headers?.['idempotent-replayed'] !== ''",
    tests: ['test/unit/provider/stripe/outcomes.test.ts'],
  },
];
