import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { topUp } from '../../../src/ledger/operations/top-up.ts';
import { customer } from '../../support/harness.ts';
import { type ProviderHarness, URLS, applyEvents, makeProviderHarness, sessionOf } from './support.ts';

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const alice = customer('u_1');
const byCard = (amount: string, asset = 'ECOPAY') => ({ amount, asset, method: 'CHECKOUT', ...URLS });

describe('a card top-up', () => {
  it('opens a page; the wallet is credited once, when Stripe says that the money is there', async () => {
    const key = harness.key();
    const opened = await topUp(harness.ledger, alice, key, byCard('10.00'));
    if (opened.kind !== 'TopUpSuccess') throw new Error(opened.kind);
    expect(opened).toMatchObject({ asset: 'ECOPAY', replayed: false });
    expect(await harness.balance('t_1', 'u_1')).toBe('0');
    expect(await topUp(harness.ledger, alice, key, byCard('10.0'))).toEqual({ ...opened, replayed: true });

    await harness.simulator.payByCard({ session: await sessionOf(harness, opened.orderId) });
    await applyEvents(harness);
    await applyEvents(harness);
    expect(await harness.balance('t_1', 'u_1')).toBe('10');
    expect((await harness.order('t_1', 'u_1', opened.orderId)).state).toBe('PAID');
  });

  it('under another key is another top-up', async () => {
    const first = await topUp(harness.ledger, alice, harness.key(), byCard('10.00'));
    const second = await topUp(harness.ledger, alice, harness.key(), byCard('10.00'));
    if (first.kind !== 'TopUpSuccess' || second.kind !== 'TopUpSuccess') throw new Error('not opened');
    expect(second.orderId).not.toBe(first.orderId);
  });

  it('that would pass the cap is refused before Stripe is asked', async () => {
    await harness.fund('t_1', 'u_1', '995.00', 'JCREDIT');
    const before = harness.calls.length;
    expect(await topUp(harness.ledger, alice, harness.key(), byCard('5.01', 'JCREDIT'))).toEqual({
      kind: 'CapExceeded',
      asset: 'JCREDIT',
      cap: '1000.00',
      room: '5.00',
      replayed: false,
    });
    expect(harness.calls.slice(before)).toEqual([]);
  });

  it('that fitted when it was claimed is credited although the wallet has filled up meanwhile', async () => {
    const opened = await topUp(harness.ledger, customer('u_9'), harness.key(), byCard('600.00', 'JCREDIT'));
    if (opened.kind !== 'TopUpSuccess') throw new Error(opened.kind);
    await harness.fund('t_1', 'u_9', '1000.00', 'JCREDIT');
    const order = await harness.order('t_1', 'u_9', opened.orderId);
    await harness.simulator.payByCard({ session: order.attempts[0]?.sessionId ?? '' });
    await applyEvents(harness);
    expect(await harness.balance('t_1', 'u_9', 'JCREDIT')).toBe('1600');
  });

  it('of 500.50 JPY is refused as an amount that nobody can pay', async () => {
    const yen = customer('yen', 'demo');
    expect(await topUp(harness.ledger, yen, harness.key(), byCard('500.50'))).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ path: ['amount'], code: 'bad_scale' }],
    });
  });

  it("to somebody else's wallet looks like a wallet that isn't there", async () => {
    const input = { ...byCard('10.00'), accountId: 'u_2' };
    expect(await topUp(harness.ledger, alice, harness.key(), input)).toEqual({ kind: 'NotFound' });
  });

  it('that Stripe refuses leaves an order nobody has paid, and the no sticks', async () => {
    const key = harness.key();
    await harness.simulator.failNextRequests({
      method: 'POST',
      path: '/v1/checkout/sessions',
      count: 1,
      status: 400,
      type: 'invalid_request_error',
      code: 'amount_too_small',
    });
    const refused = { kind: 'ProviderRefused', code: 'amount_too_small' };
    expect(await topUp(harness.ledger, alice, key, byCard('0.10'))).toEqual({ ...refused, replayed: false });
    expect(await topUp(harness.ledger, alice, key, byCard('0.10'))).toEqual({ ...refused, replayed: true });
  });
});
