import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { type Harness, customer, makeHarness } from '../../support/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
});
afterAll(() => {
  harness.close();
});

describe('charge', () => {
  it('debits the wallet once, marks the order PAID and answers a retry with the same entry', async () => {
    const { ledger } = harness;
    await harness.fund('t_1', 'u_1', '50.00');
    const order = await harness.openOrder('t_1', 'u_1', '20.00');
    const key = harness.key();
    const first = await charge(ledger, customer('u_1'), key, { orderId: order.id });
    const second = await charge(ledger, customer('u_1'), key, { orderId: order.id });
    expect(first).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
    expect(second).toEqual({ ...first, replayed: true });
    expect(await harness.balance('t_1', 'u_1')).toBe('30');
    const stored = await harness.order('t_1', 'u_1', order.orderId);
    expect(stored.state).toBe('PAID');
    expect(stored.version).toBe(2);
    const entries = await harness.entries('t_1', 'u_1');
    expect(entries.map((entry) => entry.operation)).toEqual(['ADJUSTMENT', 'CHARGE']);
  });

  it('answers fifty parallel identical charges with one entry and one debit', async () => {
    const { ledger } = harness;
    await harness.fund('t_1', 'u_2', '50.00');
    const order = await harness.openOrder('t_1', 'u_2', '1.00');
    const key = harness.key();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => charge(ledger, customer('u_2'), key, { orderId: order.id })),
    );
    const entryIds = new Set(
      outcomes.map((outcome) => (outcome.kind === 'ChargeSuccess' ? outcome.entryId : outcome.kind)),
    );
    expect(entryIds.size).toBe(1);
    expect(outcomes.filter((outcome) => outcome.kind === 'ChargeSuccess' && !outcome.replayed)).toHaveLength(
      1,
    );
    expect(await harness.balance('t_1', 'u_2')).toBe('49');
    expect(await harness.entries('t_1', 'u_2')).toHaveLength(2);
  });

  it('lets exactly ten of fifty parallel charges of 100 spend a balance of 1,000', async () => {
    const { ledger } = harness;
    await harness.fund('t_1', 'u_3', '1000.00');
    const orders = await Promise.all(
      Array.from({ length: 50 }, () => harness.openOrder('t_1', 'u_3', '100.00')),
    );
    const outcomes = await Promise.all(
      orders.map(({ id }) => charge(ledger, customer('u_3'), harness.key(), { orderId: id })),
    );
    const kinds = outcomes.map((outcome) => outcome.kind);
    expect(kinds.filter((kind) => kind === 'ChargeSuccess')).toHaveLength(10);
    expect(kinds.filter((kind) => kind === 'InsufficientBalance')).toHaveLength(40);
    expect(await harness.balance('t_1', 'u_3')).toBe('0');
  });
});
