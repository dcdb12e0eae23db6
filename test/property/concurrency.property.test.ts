import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../dev/engine/engine.ts';
import { judgeAccount } from '../../src/ledger/audit/audit.ts';
import { PREFIX, balanceKey } from '../../src/ledger/kernel/keys.ts';
import { type Decimal, ZERO, add, decimal, plainDecimal, subtract } from '../../src/ledger/kernel/money.ts';
import { charge } from '../../src/ledger/usecases/commands/charge.ts';
import { adjustBalance } from '../../src/ledger/usecases/commands/adjust-balance.ts';
import { balanceOf } from '../../src/ledger/items/balance-item.ts';
import { refund } from '../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../src/ledger/usecases/commands/top-up.ts';
import { readEntry } from '../../src/ledger/model/entries/entry.ts';
import { startEngine } from '../support/engine.ts';
import {
  type Harness,
  type OpenedOrder,
  admin,
  customer,
  makeHarness,
  merchant,
  terminal,
} from '../support/harness.ts';
import { readItems } from '../support/model-run.ts';
import { propertySettings } from '../support/property-settings.ts';

const { runs, seed } = propertySettings();
/** A batch is a dozen requests at once, each of them several times: a tenth of the sequences is plenty. */
const BATCHES = Math.ceil(runs / 10);

const amount = fc.integer({ min: 1, max: 90 });
const order = fc.nat({ max: 2 });
const task = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('charge' as const), order }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('refund' as const), order, amount }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cash' as const), amount }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('adjust' as const), amount: amount.map((size) => -size) }),
  },
);
type Task = typeof task extends fc.Arbitrary<infer Value> ? Value : never;

const batch = fc.record({
  funds: fc.integer({ min: 0, max: 150 }),
  prices: fc.array(amount, { minLength: 3, maxLength: 3 }),
  /** How often each is sent at the same time, under one key. */
  tasks: fc.array(fc.tuple(task, fc.integer({ min: 1, max: 3 })), {
    minLength: 4,
    maxLength: 10,
    size: 'max',
  }),
});

type Answer = Readonly<Record<string, unknown>> & { readonly kind: string };

let engine: Engine;
let harness: Harness;
beforeAll(async () => {
  engine = await startEngine();
  harness = await makeHarness({ endpoint: engine.endpoint, requestTimeoutMs: 20_000 });
}, 60_000);
afterAll(async () => {
  harness.close();
  await engine.stop();
});

async function send(name: string, orders: readonly OpenedOrder[], one: Task, key: string): Promise<Answer> {
  const { ledger } = harness;
  const orderId = 'order' in one ? (orders[one.order]?.id ?? '') : '';
  switch (one.kind) {
    case 'charge':
      return { ...(await charge(ledger, customer(name), key, { orderId })) };
    case 'refund':
      return { ...(await refund(ledger, merchant(), key, { orderId, amount: String(one.amount) })) };
    case 'cash': {
      const input = { accountId: name, amount: String(one.amount), method: 'CASH' as const };
      return { ...(await topUp(ledger, terminal(), key, input)) };
    }
    case 'adjust': {
      const input = { accountId: name, asset: 'ECOPAY', amount: String(one.amount), reason: 'r' };
      return { ...(await adjustBalance(ledger, admin(), key, input)) };
    }
  }
}

/** What each may answer while others run; a lost race that ran out of tries may be repeated under its key. */
const POSSIBLE: Readonly<Record<Task['kind'], readonly string[]>> = {
  charge: ['ChargeSuccess', 'InsufficientBalance', 'OrderNotPayable', 'TransactionConflict'],
  refund: ['RefundSuccess', 'RefundExceedsRefundable', 'OrderNotRefundable', 'TransactionConflict'],
  cash: ['TopUpSuccess'],
  adjust: ['AdjustBalanceSuccess', 'InsufficientBalance'],
};

function withoutReplay(answer: Answer): unknown {
  return { ...answer, replayed: undefined };
}

/** What the first answers say happened to the wallet. */
function effect(one: Task, answer: Answer, prices: readonly number[]): number {
  if (!answer.kind.endsWith('Success')) return 0;
  switch (one.kind) {
    case 'charge':
      return -(prices[one.order] ?? 0);
    case 'refund':
    case 'cash':
    case 'adjust':
      return one.amount;
  }
}

describe(`parallel batches (PROPERTY_SEED=${seed} PROPERTY_RUNS=${runs})`, () => {
  let played = 0;

  it('answer what some order of the requests explains, and lose or make no money', async () => {
    const property = fc.asyncProperty(batch, async ({ funds, prices, tasks }) => {
      const name = `c${(played += 1)}`;
      if (funds > 0) await harness.fund('t_1', name, String(funds));
      const orders: OpenedOrder[] = [];
      for (const price of prices) orders.push(await harness.openOrder('t_1', name, String(price)));
      const answers = await Promise.all(
        tasks.map(async ([one, times], index) => ({
          one,
          key: `k${index}`,
          sent: await Promise.all(
            Array.from({ length: times }, () => send(name, orders, one, `${name}-k${index}`)),
          ),
        })),
      );

      let wallet = funds;
      for (const { one, key, sent } of answers) {
        for (const { kind } of sent) expect(POSSIBLE[one.kind]).toContain(kind);
        const settled = sent.filter(({ kind }) => kind !== 'TransactionConflict');
        // One key, one answer, given first exactly once.
        for (const answer of settled)
          expect(withoutReplay(answer)).toEqual(withoutReplay(settled[0] ?? answer));
        expect(settled.filter((answer) => answer['replayed'] === false).length).toBe(
          settled.length === 0 ? 0 : 1,
        );
        const [first] = settled;
        if (first !== undefined) {
          wallet += effect(one, first, prices);
          const again = await send(name, orders, one, `${name}-${key}`);
          expect(again).toEqual({ ...first, replayed: true });
        }
      }

      const account = await readItems(harness.ledger, 't_1', name);
      expect(judgeAccount(account)).toEqual([]);
      expect(plainDecimal(account.balances.get('ECOPAY') ?? ZERO)).toBe(String(wallet));
      for (const [index, { orderId }] of orders.entries()) {
        const stored = account.orders.find((candidate) => candidate.orderId === orderId);
        const charges = answers.filter(({ one }) => one.kind === 'charge' && one.order === index);
        const paid = charges.filter(({ sent }) => sent.some(({ kind }) => kind === 'ChargeSuccess'));
        expect(paid.length).toBe(stored?.payment === undefined ? 0 : 1);
      }
    });
    await fc.assert(property, { seed, numRuns: BATCHES });
  }, 1_800_000);
});

describe('reads during transfers', () => {
  /** What an account and the merchant hold together: undefined if the account moved while it was read. */
  async function totalAtRest(name: string): Promise<Decimal | undefined> {
    const { store } = harness.ledger;
    const key = balanceKey({ tenant: 't_1', accountId: name, asset: 'ECOPAY' });
    const [before] = await store.get([key]);
    const items = await store.query({
      uuid: key.uuid,
      prefix: PREFIX.entry,
      limit: 10_000,
      newestFirst: false,
    });
    const [after] = await store.get([key]);
    if (before?.['writes']?.N !== after?.['writes']?.N) return undefined;
    const merchantSum = items
      .flatMap((item) => readEntry(item).postings)
      .reduce((sum, { debit, credit, amount: moved }) => {
        const credited = credit === 'merchant:m_1' ? moved : ZERO;
        return subtract(add(sum, credited), debit === 'merchant:m_1' ? moved : ZERO);
      }, ZERO);
    return add(balanceOf(after), merchantSum);
  }

  it('always sum to the same total', async () => {
    const { ledger } = harness;
    const names = ['mover_1', 'mover_2', 'mover_3'];
    for (const name of names) await harness.fund('t_1', name, '1000');
    const state = { moving: true };
    const totals: string[] = [];
    const readers = names.map(async (name) => {
      while (state.moving) {
        const total = await totalAtRest(name);
        if (total !== undefined) totals.push(plainDecimal(total));
      }
    });
    await Promise.all(
      names.map(async (name) => {
        for (let round = 1; round <= 20; round += 1) {
          const opened = await harness.openOrder('t_1', name, String(round));
          await charge(ledger, customer(name), harness.key(), { orderId: opened.id });
          await refund(ledger, merchant(), harness.key(), { orderId: opened.id, amount: '1' });
        }
      }),
    );
    state.moving = false;
    await Promise.all(readers);
    expect(totals.length).toBeGreaterThan(20);
    expect(new Set(totals)).toEqual(new Set([plainDecimal(decimal('1000'))]));
    // 1 + … + 20 went out, and 1 of each came back.
    for (const name of names) expect(await harness.balance('t_1', name)).toBe(String(1000 - 210 + 20));
  }, 60_000);
});
