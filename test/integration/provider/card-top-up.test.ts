import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { admin, customer } from '../../support/harness.ts';
import { type ProviderHarness, URLS, applyEvents, makeProviderHarness, sessionOf } from './support.ts';

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const alice = customer('u_1');
const byCard = (amount: string, asset = 'ECOPAY') => ({
  amount,
  asset,
  method: 'CHECKOUT' as const,
  ...URLS,
});

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

  it('whose page expired is bound by the cap again when it is checked out anew', async () => {
    const viewer = customer('u_8');
    const opened = await topUp(harness.ledger, viewer, harness.key(), byCard('600.00', 'JCREDIT'));
    if (opened.kind !== 'TopUpSuccess') throw new Error(opened.kind);
    await harness.advance(25 * 3_600_000);
    await applyEvents(harness);
    expect((await harness.order('t_1', 'u_8', opened.orderId)).state).toBe('EXPIRED');
    await harness.fund('t_1', 'u_8', '400.01', 'JCREDIT');
    const orderId = encodeNodeId('Order', 't_1', 'u_8', opened.orderId);
    const again = () => checkout(harness.ledger, viewer, harness.key(), { orderId, ...URLS });
    const before = harness.calls.length;
    expect(await again()).toMatchObject({ kind: 'OrderNotPayable', state: 'EXPIRED' });
    expect(harness.calls.slice(before)).toEqual([]);
    const less = { accountId: 'u_8', asset: 'JCREDIT', amount: '-0.01', reason: 'test' };
    await adjustBalance(harness.ledger, admin(), harness.key(), less);
    expect(await again()).toMatchObject({ kind: 'CheckoutSuccess' });
    const { state, attempts } = await harness.order('t_1', 'u_8', opened.orderId);
    expect([state, attempts.length]).toEqual(['SESSION_CREATED', 2]);
  });

  it('checked out anew while its wallet fills up is not claimed: the table looks once more', async () => {
    const viewer = customer('u_7');
    const opened = await topUp(harness.ledger, viewer, harness.key(), byCard('600.00', 'JCREDIT'));
    if (opened.kind !== 'TopUpSuccess') throw new Error(opened.kind);
    await harness.advance(25 * 3_600_000);
    await applyEvents(harness);
    const { ledger } = harness;
    let filled = false;
    const filling: Ledger = {
      ...ledger,
      transactor: {
        commit: async (transaction) => {
          if (!filled) {
            filled = true;
            await harness.fund('t_1', 'u_7', '400.01', 'JCREDIT');
          }
          return ledger.transactor.commit(transaction);
        },
      },
    };
    const orderId = encodeNodeId('Order', 't_1', 'u_7', opened.orderId);
    const before = harness.calls.length;
    expect(await checkout(filling, viewer, harness.key(), { orderId, ...URLS })).toMatchObject({
      kind: 'OrderNotPayable',
    });
    expect(harness.calls.slice(before)).toEqual([]);
    expect((await harness.order('t_1', 'u_7', opened.orderId)).attempts).toHaveLength(1);
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
