import type { PlantedBug } from './planted-bug.ts';

const BEHIND = 'test/integration/restore/behind.test.ts';
const REBUILD = 'test/integration/restore/rebuild.test.ts';

/** After damage or a restore: whichever copy is behind is brought up, once. */
export const RESTORE: readonly PlantedBug[] = [
  {
    name: 'reconcile takes the payment item for the whole booking',
    file: 'src/ledger/usecases/reconcile/compare-with-provider.ts',
    from: 'return missing === undefined ? SAME : different(difference, missing);',
    to: 'return missing === undefined || recorded !== undefined ? SAME : different(difference, missing);',
    tests: [BEHIND],
    only: 'older than its entry',
  },
  {
    name: 'a mender books without the condition of the order',
    file: 'src/ledger/usecases/provider-updates/commit-update.ts',
    from: '    updateOrder(before, after, ledger.settings),',
    to: '    ...(books === undefined ? [updateOrder(before, after, ledger.settings)] : []),',
    tests: [BEHIND],
    only: 'two menders',
  },
  {
    name: 'a mended entry credits a wallet that has it already',
    file: 'src/ledger/items/entry-writes.ts',
    from: 'add(wallet.posted, ',
    to: 'add(wallet.read, ',
    tests: [BEHIND],
    only: 'whose entry alone is absent credits',
  },
  {
    name: 'a mender books what an entry has booked already',
    file: 'src/ledger/model/provider/provider-recordings.ts',
    from: 'return subtract(what.expected, cameIn);',
    to: 'return cameIn.isNegative() ? cameIn : what.expected;',
    tests: [BEHIND],
    only: 'is not booked again',
  },
  {
    name: 'a rebuild believes metadata without its seal',
    file: 'src/ledger/usecases/reconcile/rebuild-orders.ts',
    from: 'if (!ledger.metadataSeal.isSealed(written)) return',
    to: "if (written['h_mac'] === undefined) return",
    tests: [REBUILD],
    only: 'metadata that is not as we wrote it',
  },
  {
    name: 'a rebuild does not compare the amount of the session',
    file: 'src/ledger/usecases/reconcile/rebuild-orders.ts',
    from: '|| session.amountMinor !== dueMinor',
    to: '|| session.amountMinor === -dueMinor',
    tests: [REBUILD],
    only: 'over another amount',
  },
  {
    name: 'a rebuild takes what was given back for what was kept',
    file: 'src/ledger/usecases/provider-updates/was-given-back.ts',
    from: 'if (isPaid(order.state)) return false;',
    to: "if (isPaid(order.state) || order.state !== 'CREATED') return false;",
    tests: [REBUILD],
    only: 'came second',
  },
  {
    name: 'a session that nobody paid stays open after a rebuild',
    file: 'src/ledger/usecases/reconcile/rebuild-orders.ts',
    from: "if (session.status === 'open') {",
    to: "if (session.status === 'other') {",
    tests: [REBUILD],
    only: 'expires a session',
  },
  {
    name: 'reconcile makes lost orders again without being asked to',
    file: 'src/ledger/usecases/reconcile/reconcile.ts',
    from: 'const lost = options.rebuild === true ?',
    to: 'const lost = options.fix ?',
    tests: [REBUILD],
    only: 'never runs from a webhook',
  },
];
