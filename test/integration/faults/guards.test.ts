import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type StoredItem, readInteger, readString } from '../../../src/ledger/kernel/attributes.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import { issuePaymentCode } from '../../../src/ledger/usecases/commands/issue-payment-code.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { topics } from '../../../src/realtime/bus/bus.ts';
import { customer, merchant, terminal } from '../../support/harness.ts';
import { type FaultyWorld, makeFaultyWorld } from './faulty-world.ts';

/** Races that only the database can decide: every request has read before any of them writes. */

let world: FaultyWorld;
beforeAll(async () => {
  world = await makeFaultyWorld();
});
afterEach(async () => {
  world.proxy.calm();
  await world.proxy.release();
});
afterAll(async () => {
  await world.stop();
});

/** Runs requests whose transactions reach the engine together, after all of them have read. */
async function together<Outcome>(
  ...requests: readonly (() => Promise<Outcome>)[]
): Promise<readonly Outcome[]> {
  world.proxy.next({ operation: 'TransactWriteItems', times: requests.length, fault: { kind: 'HOLD' } });
  const answers = requests.map((request) => request());
  await world.proxy.whenHeld(requests.length);
  await world.proxy.release();
  return await Promise.all(answers);
}

function kinds(outcomes: readonly { readonly kind: string }[]): readonly string[] {
  return outcomes.map(({ kind }) => kind).sort();
}

describe('two requests that have both read before either writes', () => {
  it('pay an order once, and the other is told that it is paid, though the money is gone too', async () => {
    const accountId = world.account();
    await world.fund('t_1', accountId, '20.00');
    const { id } = await world.openOrder('t_1', accountId, '20.00');
    const pay = () => charge(world.ledger, customer(accountId), world.key(), { orderId: id });
    expect(kinds(await together(pay, pay))).toEqual(['ChargeSuccess', 'OrderNotPayable']);
    expect(await world.picture(accountId)).toMatchObject({ balances: { ECOPAY: '0' } });
  });

  it('refund 60 of 100 once', async () => {
    const accountId = world.account();
    await world.fund('t_1', accountId, '100.00');
    const { id } = await world.openOrder('t_1', accountId, '100.00');
    await charge(world.ledger, customer(accountId), world.key(), { orderId: id });
    const creditReceivableThenWallet = () =>
      refund(world.ledger, merchant(), world.key(), { orderId: id, amount: '60.00' });
    expect(kinds(await together(creditReceivableThenWallet, creditReceivableThenWallet))).toEqual([
      'RefundExceedsRefundable',
      'RefundSuccess',
    ]);
    expect(await world.picture(accountId)).toMatchObject({ balances: { ECOPAY: '60' } });
  });

  it('never take a wallet past its cap', async () => {
    const accountId = world.account();
    const input = { accountId, amount: '600.00', method: 'CASH' as const, asset: 'JCREDIT' };
    const takeCash = () => topUp(world.ledger, terminal(), world.key(), input);
    expect(kinds(await together(takeCash, takeCash))).toEqual(['CapExceeded', 'TopUpSuccess']);
    expect(await world.picture(accountId)).toMatchObject({ balances: { JCREDIT: '600' } });
  });

  it('open one order with one payment code', async () => {
    const accountId = world.account();
    const { code } = await issuePaymentCode(world.ledger, customer(accountId));
    const input = { merchantId: 'm_1', paymentCode: code, amount: '12.00', description: 'lunch' };
    const scan = () => createOrder(world.ledger, terminal(), world.key(), input);
    expect(kinds(await together(scan, scan))).toEqual(['CreateOrderSuccess', 'InvalidInput']);
    expect((await world.picture(accountId)).orders).toHaveLength(1);
  });
});

describe('a key whose marker has expired but is still in the table (C18)', () => {
  it('is new again, and its order is still paid once', async () => {
    const accountId = world.account();
    await world.fund('t_1', accountId, '50.00');
    const [first, second] = [
      await world.openOrder('t_1', accountId, '20.00'),
      await world.openOrder('t_1', accountId, '20.00'),
    ];
    const key = world.key();
    const pay = (id: string) => charge(world.ledger, customer(accountId), key, { orderId: id });
    expect(await pay(first.id)).toMatchObject({ kind: 'ChargeSuccess' });
    expect((await pay(second.id)).kind).toBe('IdempotencyKeyReused');
    world.clock.advance(90 * 86_400_000 + 1_000);
    expect(await pay(first.id)).toMatchObject({ kind: 'OrderNotPayable', replayed: false });
    world.clock.advance(90 * 86_400_000 + 1_000);
    expect(await pay(second.id)).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
    expect((await world.picture(accountId)).balances).toEqual({ ECOPAY: '10' });
  });
});

describe('what the table forgets by itself (C18)', () => {
  /** What each item is that has an end to come, and in how many seconds. */
  async function lives(): Promise<readonly (readonly [string, number])[]> {
    const nowS = Math.floor(world.clock.nowMs() / 1000);
    const { Items = [] } = await world.client.send(
      new ScanCommand({
        TableName: world.tableName,
        FilterExpression: 'attribute_exists(#ttl)',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
      }),
    );
    const found = Items.map((item) => [kindOf(item), readInteger(item, 'ttl') - nowS] as const);
    return found.filter(([, leftS]) => leftS > 0).sort(([one], [other]) => one.localeCompare(other));
  }

  /** The operation of an idempotency record, the sort key's first word of anything else. */
  function kindOf(item: StoredItem): string {
    const [word = '', operation = ''] = readString(item, 'type').split('#');
    return word === 'card_op_idem' ? operation : word;
  }

  it('has its end in seconds, and money has none', async () => {
    const accountId = world.account();
    const { clock, key, ledger } = world;
    clock.advance(400 * 86_400_000);
    expect(await lives()).toEqual([]);
    await world.fund('t_1', accountId, '50.00');
    const { code } = await issuePaymentCode(ledger, customer(accountId));
    const input = { merchantId: 'm_1', paymentCode: code, amount: '12.00', description: 'lunch' };
    expect((await createOrder(ledger, terminal(), key(), input)).kind).toBe('CreateOrderSuccess');
    const { id } = await world.openOrder('t_1', accountId, '20.00');
    const urls = { successUrl: 'https://shop.example', cancelUrl: 'https://shop.example' };
    const page = await checkout(ledger, customer(accountId), key(), { orderId: id, ...urls });
    expect(page.kind).toBe('CheckoutSuccess');
    // A claim whose process dies while it asks leaves its idempotency record as it was claimed.
    const other = await world.openOrder('t_1', accountId, '20.00');
    const createSession = () => Promise.reject(new Error('killed'));
    const dying = { ...ledger, provider: { ...ledger.provider, createSession } };
    const claim = checkout(dying, customer(accountId), key(), { orderId: other.id, ...urls });
    await expect(claim).rejects.toThrow('killed');
    const { attempts } = await world.order('t_1', accountId, other.orderId);
    expect(attempts[0]?.lease?.recordTtlS).toBe(Math.floor(clock.nowMs() / 1000) + 7_776_000);
    const event = { eventId: `evt_${key()}`, type: 'customer.created', livemode: false } as const;
    const createdS = Math.floor(clock.nowMs() / 1000);
    await applyEvent(ledger, { ...event, createdS, object: { kind: 'other' } });
    expect(await lives()).toEqual([
      ['adjustBalance', 7_776_000],
      ['checkout', 7_776_000],
      ['checkout', 7_776_000],
      ['CODE', 86_700],
      ['createOrder', 7_776_000],
      ['createOrder', 7_776_000],
      ['createOrder', 7_776_000],
      ['EVENT', 2_592_000],
    ]);
  });
});

describe('what is published', () => {
  it('was committed before anybody heard of it, and what was refused is never told', async () => {
    const accountId = world.account();
    await world.fund('t_1', accountId, '20.00');
    const { id, orderId } = await world.openOrder('t_1', accountId, '20.00');
    const heard: string[] = [];
    const stop = await world.ledger.bus.subscribe(
      topics.order({ tenant: 't_1', accountId, orderId }),
      (notice) => {
        if (notice.kind === 'transition') heard.push(notice.transition.to);
      },
    );
    const pay = () => charge(world.ledger, customer(accountId), world.key(), { orderId: id });
    world.proxy.next({ operation: 'TransactWriteItems', times: 3, fault: { kind: 'DROP_BEFORE' } });
    expect(await pay()).toMatchObject({ kind: 'Throttled' });
    expect(heard).toEqual([]);
    world.proxy.next({ operation: 'TransactWriteItems', fault: { kind: 'HOLD' } });
    const paying = pay();
    await world.proxy.whenHeld(1);
    expect(heard).toEqual([]);
    await world.proxy.release();
    expect(await paying).toMatchObject({ kind: 'ChargeSuccess' });
    expect(await pay()).toMatchObject({ kind: 'OrderNotPayable' });
    expect(heard).toEqual(['PAID']);
    stop();
  });
});
