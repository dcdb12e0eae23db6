import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readDecimal } from '../../../src/ledger/kernel/attributes.ts';
import { plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import {
  type Harness,
  type OpenedOrder,
  admin,
  customer,
  makeHarness,
  merchant,
  terminal,
} from '../../support/harness.ts';

let harness: Harness;
let ledger: Ledger;
beforeAll(async () => {
  harness = await makeHarness({
    endpoint: inject('engineEndpoint'),
    // Two hundred at once may take their time on a busy machine; that is no outage.
    requestTimeoutMs: 20_000,
  });
  ({ ledger } = harness);
});
afterAll(async () => {
  // Whatever these tests did, the promises hold.
  const report = await auditTable(ledger.store, { segments: 2, wait: () => Promise.resolve() });
  expect(report.problems).toEqual([]);
  harness.close();
});

let accounts = 0;
async function paid(
  tenant: string,
  amount: string,
  funds: string,
): Promise<{ readonly name: string; readonly order: OpenedOrder }> {
  const name = `w_${String((accounts += 1))}`;
  await harness.fund(tenant, name, funds);
  const order = await harness.openOrder(tenant, name, amount);
  const outcome = await charge(ledger, customer(name, tenant), harness.key(), { orderId: order.id });
  expect(outcome.kind).toBe('ChargeSuccess');
  return { name, order };
}

function refundBy(
  viewer: ReturnType<typeof admin>,
  orderId: string,
  amount?: string,
  key = harness.key(),
): ReturnType<typeof refund> {
  return refund(ledger, viewer, key, amount === undefined ? { orderId } : { orderId, amount });
}

async function amountsOf(tenant: string, name: string, { orderId }: OpenedOrder): Promise<readonly string[]> {
  const order = await harness.order(tenant, name, orderId);
  return [order.state, plainDecimal(order.refunded), plainDecimal(order.refundable)];
}

async function points(name: string): Promise<string> {
  return harness.balance('demo', name, 'POINT');
}

async function metrics(name: string): Promise<readonly string[]> {
  const [item] = await ledger.store.get([{ uuid: `demo#${name}`, type: 'METRICS' }]);
  // Engines may keep zeros behind; what counts is the number.
  return ['charged_total', 'co2_reduction_kg'].map((attribute) =>
    plainDecimal(readDecimal(item ?? {}, attribute)),
  );
}

describe('parallel charges', () => {
  it('spend what is there and no more, and no read sees less than nothing', async () => {
    await harness.fund('t_1', 'w_spender', '50.00');
    const orders = await Promise.all(
      Array.from({ length: 6 }, () => harness.openOrder('t_1', 'w_spender', '10.00')),
    );
    const state = { spending: true };
    const seen: string[] = [];
    const watching = (async () => {
      while (state.spending) seen.push(await harness.balance('t_1', 'w_spender'));
    })();
    const outcomes = await Promise.all(
      orders.map(({ id }) => charge(ledger, customer('w_spender'), harness.key(), { orderId: id })),
    );
    state.spending = false;
    await watching;
    const kinds = outcomes.map((outcome) => outcome.kind);
    expect(kinds.filter((kind) => kind === 'ChargeSuccess')).toHaveLength(5);
    expect(kinds.filter((kind) => kind === 'InsufficientBalance')).toHaveLength(1);
    expect(await harness.balance('t_1', 'w_spender')).toBe('0');
    expect(seen.every((balance) => ['50', '40', '30', '20', '10', '0'].includes(balance))).toBe(true);
  });

  it('from 200 wallets to one merchant all succeed, and the merchant’s sum is exact', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `crowd_${String(index)}`);
    const orders = await Promise.all(
      names.map(async (name) => {
        await harness.fund('t_1', name, '1.00');
        return { name, order: await harness.openOrder('t_1', name, '1.00', 'm_2') };
      }),
    );
    const outcomes = await Promise.all(
      orders.map(({ name, order }) => charge(ledger, customer(name), harness.key(), { orderId: order.id })),
    );
    expect(new Set(outcomes.map((outcome) => outcome.kind))).toEqual(new Set(['ChargeSuccess']));
    const credits = (await Promise.all(names.map((name) => harness.entries('t_1', name))))
      .flat()
      .flatMap((entry) => entry.postings)
      .filter((posting) => posting.credit === 'merchant:m_2');
    expect(credits).toHaveLength(200);
    expect(
      credits.reduce((sum, { amount }) => sum.plus(amount), credits[0]?.amount.times(0) ?? raise()).toFixed(),
    ).toBe('200');
  }, 180_000);
});

function raise(): never {
  throw new Error('no credit at all');
}

describe('refunds', () => {
  it('in parallel never exceed what was paid: of two of 60.00 on 100.00 exactly one', async () => {
    const { name, order } = await paid('t_1', '100.00', '100.00');
    const outcomes = await Promise.all([1, 2].map(() => refundBy(merchant(), order.id, '60.00')));
    expect(outcomes.map((outcome) => outcome.kind).sort()).toEqual([
      'RefundExceedsRefundable',
      'RefundSuccess',
    ]);
    expect(outcomes.find((outcome) => outcome.kind === 'RefundExceedsRefundable')).toMatchObject({
      refundable: '40.00',
    });
    expect(await amountsOf('t_1', name, order)).toEqual(['PAID', '60', '40']);
    expect(await harness.balance('t_1', name)).toBe('60');
  });

  it('of the same amount are two when two were wanted, and one when one was retried', async () => {
    const { name, order } = await paid('t_1', '20.00', '20.00');
    const key = harness.key();
    const first = await refundBy(merchant(), order.id, '5.00');
    const second = await refundBy(merchant(), order.id, '5.00', key);
    const retried = await refundBy(merchant(), order.id, '5.00', key);
    expect(first).toMatchObject({ kind: 'RefundSuccess', replayed: false });
    expect(second).toMatchObject({ kind: 'RefundSuccess', replayed: false });
    expect(retried).toEqual({ ...second, replayed: true });
    expect(await amountsOf('t_1', name, order)).toEqual(['PAID', '10', '10']);
    expect(await harness.balance('t_1', name)).toBe('10');
  });

  it('without an amount give back what remains, once', async () => {
    const { name, order } = await paid('t_1', '20.00', '20.00');
    await refundBy(merchant(), order.id, '7.50');
    const [one, other] = await Promise.all([refundBy(merchant(), order.id), refundBy(admin(), order.id)]);
    expect([one.kind, other.kind].sort()).toEqual(['OrderNotRefundable', 'RefundSuccess']);
    expect(await amountsOf('t_1', name, order)).toEqual(['REFUNDED', '20', '0']);
    expect(await harness.balance('t_1', name)).toBe('20');
  });

  it('are not another merchant’s, a customer’s, or of an order that nobody paid', async () => {
    const { name, order } = await paid('t_1', '20.00', '20.00');
    const notFound = { kind: 'NotFound' };
    expect(await refundBy(merchant('m_2'), order.id, '1.00')).toEqual(notFound);
    expect(await refundBy(merchant('cafe', 'demo'), order.id, '1.00')).toEqual(notFound);
    expect(await refundBy(customer(name), order.id, '1.00')).toEqual(notFound);
    expect(await refundBy(terminal(), order.id, '1.00')).toEqual(notFound);
    const unpaid = await harness.openOrder('t_1', name, '5.00');
    expect(await refundBy(merchant(), unpaid.id)).toMatchObject({
      kind: 'OrderNotRefundable',
      state: 'CREATED',
    });
  });

  it('reach a wallet past its cap: money that was taken is never stranded', async () => {
    const { name, order } = await paid('demo', '40000', '40000');
    await harness.fund('demo', name, '50000');
    expect((await refundBy(merchant('cafe', 'demo'), order.id)).kind).toBe('RefundSuccess');
    expect(await harness.balance('demo', name)).toBe('90000');
    const more = { accountId: name, amount: '1', method: 'CASH' as const };
    expect(await topUp(ledger, terminal('cafe', 'demo'), harness.key(), more)).toMatchObject({
      kind: 'CapExceeded',
      room: '0',
    });
  });

  it('of a cash top-up take the value out of the wallet, if it is still there, at the terminal that took it', async () => {
    const till = terminal('m_1', 't_1', 'till-7');
    const cash = { accountId: 'w_cash', amount: '30.00', method: 'CASH' as const };
    const added = await topUp(ledger, till, harness.key(), cash);
    if (added.kind !== 'TopUpSuccess') throw new Error(added.kind);
    const orderId = encodeNodeId('Order', 't_1', 'w_cash', added.orderId);
    expect(await refundBy(terminal('m_1', 't_1', 'till-8'), orderId, '10.00')).toEqual({ kind: 'NotFound' });
    expect(await refundBy(merchant(), orderId, '10.00')).toEqual({ kind: 'NotFound' });
    expect((await refundBy(till, orderId, '10.00')).kind).toBe('RefundSuccess');
    const purchase = await harness.openOrder('t_1', 'w_cash', '15.00');
    await charge(ledger, customer('w_cash'), harness.key(), { orderId: purchase.id });
    expect(await refundBy(till, orderId)).toMatchObject({
      kind: 'InsufficientBalance',
      required: '20.00',
      available: '5.00',
    });
    expect((await refundBy(admin(), orderId, '5.00')).kind).toBe('RefundSuccess');
    expect(await harness.balance('t_1', 'w_cash')).toBe('0');
  });
});

describe('rewards', () => {
  it('come with the charge, as postings of its entry, and go back in proportion', async () => {
    const { name, order } = await paid('demo', '480', '1000');
    expect([await points(name), await metrics(name)]).toEqual(['4', ['480', '4.8']]);
    await refundBy(admin('demo'), order.id, '119');
    expect([await points(name), await metrics(name)]).toEqual(['4', ['361', '3.61']]);
    await refundBy(admin('demo'), order.id, '1');
    expect([await points(name), await metrics(name)]).toEqual(['3', ['360', '3.6']]);
    await refundBy(admin('demo'), order.id);
    expect([await points(name), await metrics(name)]).toEqual(['0', ['0', '0']]);
    const operations = (await harness.entries('demo', name)).map((entry) => [
      entry.operation,
      entry.postings.length,
    ]);
    expect(operations).toEqual([
      ['ADJUSTMENT', 1],
      ['CHARGE', 4],
      ['REFUND', 3],
      ['REFUND', 4],
      ['REFUND', 4],
    ]);
  });

  it('that are spent never stop a refund: what is missing is the account’s debt', async () => {
    const { name, order } = await paid('demo', '480', '480');
    const spend = { accountId: name, asset: 'POINT', amount: '-3', reason: 'spent' };
    expect((await adjustBalance(ledger, admin('demo'), harness.key(), spend)).kind).toBe(
      'AdjustBalanceSuccess',
    );
    expect((await refundBy(admin('demo'), order.id)).kind).toBe('RefundSuccess');
    expect(await harness.balance('demo', name)).toBe('480');
    expect(await points(name)).toBe('0');
    const back = (await harness.entries('demo', name)).at(-1)?.postings ?? [];
    expect(
      back
        .filter((posting) => posting.asset === 'POINT')
        .map(({ debit, credit, amount }) => [debit, credit, amount.toFixed()]),
    ).toEqual([
      [`wallet:${name}`, 'issuer', '1'],
      [`receivable:${name}`, 'issuer', '3'],
    ]);
  });

  it('that arrive at the very instant of a refund are taken before anything is owed', async () => {
    const { name, order } = await paid('demo', '480', '480');
    const move = async (amount: string): Promise<void> => {
      const input = { accountId: name, asset: 'POINT', amount, reason: 'moved' };
      const moved = await adjustBalance(ledger, admin('demo'), harness.key(), input);
      expect(moved.kind).toBe('AdjustBalanceSuccess');
    };
    await move('-4');
    let hasCome = false;
    const get: Ledger['store']['get'] = async (keys) => {
      const items = await ledger.store.get(keys);
      if (keys.some(({ type }) => type === 'BALANCE#POINT') && !hasCome) {
        hasCome = true;
        await move('3');
      }
      return items;
    };
    const raced = { ...ledger, store: { ...ledger.store, get } };
    const outcome = await refund(raced, admin('demo'), harness.key(), { orderId: order.id });
    expect(outcome.kind).toBe('RefundSuccess');
    expect([await points(name), await harness.balance('demo', name)]).toEqual(['0', '480']);
    const back = (await harness.entries('demo', name)).at(-1)?.postings ?? [];
    expect(
      back
        .filter((posting) => posting.asset === 'POINT')
        .map(({ debit, amount }) => [debit, amount.toFixed()]),
    ).toEqual([
      [`wallet:${name}`, '3'],
      [`receivable:${name}`, '1'],
    ]);
  });

  it('are not given where the tenant’s file gives none', async () => {
    const { name } = await paid('t_1', '480.00', '480.00');
    expect(await harness.balance('t_1', name, 'POINT')).toBe('0');
    expect((await harness.entries('t_1', name)).at(-1)?.postings).toHaveLength(1);
  });
});

describe('what an asset pays for', () => {
  it('is what its tenant’s file says, one to one', async () => {
    await harness.fund('demo', 'w_assets', '100', 'REGIONAL/kyoto');
    await harness.fund('demo', 'w_assets', '100', 'POINT');
    const order = await harness.openOrder('demo', 'w_assets', '100');
    const pay = (asset: string): ReturnType<typeof charge> =>
      charge(ledger, customer('w_assets', 'demo'), harness.key(), { orderId: order.id, asset });
    expect(await pay('POINT')).toMatchObject({ kind: 'InvalidInput', issues: [{ code: 'wrong_asset' }] });
    expect(await pay('JCREDIT')).toMatchObject({ kind: 'InvalidInput', issues: [{ code: 'wrong_asset' }] });
    expect(await pay('REGIONAL/osaka')).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ code: 'unknown_asset' }],
    });
    expect(await pay('GOLD')).toMatchObject({ kind: 'InvalidInput' });
    expect((await pay('REGIONAL/kyoto')).kind).toBe('ChargeSuccess');
    expect(await harness.balance('demo', 'w_assets', 'REGIONAL/kyoto')).toBe('0');
  });
});
