import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { idempotencyRecordKey } from '../../../src/ledger/kernel/keys.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { type Harness, admin, customer, makeHarness, merchant, terminal } from '../../support/harness.ts';

let harness: Harness;
let ledger: Ledger;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  ({ ledger } = harness);
});
afterAll(() => {
  harness.close();
});

let accounts = 0;
function newAccount(): string {
  return `w_${String((accounts += 1))}`;
}

/** An account with 50.00 and an order of the given amount. */
async function accountWithOrder(
  amount = '20.00',
): Promise<{ readonly name: string; readonly orderId: string }> {
  const name = newAccount();
  await harness.fund('t_1', name, '50.00');
  return { name, orderId: (await harness.openOrder('t_1', name, amount)).id };
}

describe('a retry under a new key', () => {
  it('charges a paid order no second time', async () => {
    const { name, orderId } = await accountWithOrder();
    expect((await charge(ledger, customer(name), harness.key(), { orderId })).kind).toBe('ChargeSuccess');
    const again = await charge(ledger, customer(name), harness.key(), { orderId });
    expect(again).toMatchObject({ kind: 'OrderNotPayable', state: 'PAID', replayed: false });
    expect(await harness.balance('t_1', name)).toBe('30');
  });

  it('really is a second cash top-up', async () => {
    const name = newAccount();
    const input = { accountId: name, amount: '10.00', method: 'CASH' as const };
    for (const key of [harness.key(), harness.key()]) {
      expect((await topUp(ledger, terminal(), key, input)).kind).toBe('TopUpSuccess');
    }
    expect(await harness.balance('t_1', name)).toBe('20');
  });
});

describe('a client that sends the same charge again and again', () => {
  it('gets one debit and one entry id, overlapping or not', async () => {
    const { name, orderId } = await accountWithOrder();
    const key = harness.key();
    const send = (): ReturnType<typeof charge> => charge(ledger, customer(name), key, { orderId });
    const answers = [...(await Promise.all([send(), send()])), await send(), await send(), await send()];
    const ids = answers.map((answer) => (answer.kind === 'ChargeSuccess' ? answer.entryId : answer.kind));
    expect(new Set(ids).size).toBe(1);
    expect(answers.filter((answer) => answer.kind === 'ChargeSuccess' && !answer.replayed)).toHaveLength(1);
    expect(await harness.balance('t_1', name)).toBe('30');
  });
});

describe('the same key with another request', () => {
  it('is refused on every operation, debits nothing and tells nothing of the first answer', async () => {
    const { name, orderId } = await accountWithOrder('10.00');
    const other = await harness.openOrder('t_1', name, '15.00');
    const key = harness.key();
    await charge(ledger, customer(name), key, { orderId });
    const reused = { kind: 'IdempotencyKeyReused' };
    expect(await charge(ledger, customer(name), key, { orderId: other.id })).toEqual(reused);
    expect(await charge(ledger, customer(name), key, { orderId, asset: 'JCREDIT' })).toEqual(reused);

    const cash = (amount: string, accountId = name): ReturnType<typeof topUp> =>
      topUp(ledger, terminal(), key, { accountId, amount, method: 'CASH' });
    expect((await cash('1.00')).kind).toBe('TopUpSuccess');
    expect(await cash('2.00')).toEqual(reused);
    expect(await cash('1.00', newAccount())).toEqual(reused);

    const open = (merchantId: string): ReturnType<typeof createOrder> =>
      createOrder(ledger, admin(), key, { merchantId, accountId: name, amount: '1.00', description: 'd' });
    expect((await open('m_1')).kind).toBe('CreateOrderSuccess');
    expect(await open('m_2')).toEqual(reused);

    const back = (amount?: string): ReturnType<typeof refund> =>
      refund(ledger, merchant(), key, { orderId, ...(amount === undefined ? {} : { amount }) });
    expect((await back('3.00')).kind).toBe('RefundSuccess');
    expect(await back('4.00')).toEqual(reused);
    expect(await back()).toEqual(reused);

    const adjust = (amount: string): ReturnType<typeof adjustBalance> =>
      adjustBalance(ledger, admin(), key, { accountId: name, asset: 'ECOPAY', amount, reason: 'r' });
    expect((await adjust('1.00')).kind).toBe('AdjustBalanceSuccess');
    expect(await adjust('-1.00')).toEqual(reused);
    // 50.00 − 10.00 + 1.00 + 3.00 + 1.00
    expect(await harness.balance('t_1', name)).toBe('45');
  });

  it('is the same request where only the writing differs', async () => {
    const name = newAccount();
    const key = harness.key();
    const first = await topUp(ledger, terminal(), key, { accountId: name, amount: '10.0', method: 'CASH' });
    const again = await topUp(ledger, terminal(), key, { method: 'CASH', amount: '10.00', accountId: name });
    expect(again).toEqual({ ...first, replayed: true });
    expect(await harness.balance('t_1', name)).toBe('10');
  });
});

describe('what operators count', () => {
  it('is each replay, and each key that came with another request, and nothing else', async () => {
    const { name, orderId } = await accountWithOrder('5.00');
    const other = await harness.openOrder('t_1', name, '6.00');
    const key = harness.key();
    const counts = (): readonly number[] =>
      (['IdempotencyReplay', 'IdempotencyKeyReused'] as const).map(
        (counter) => harness.counted.get(counter) ?? 0,
      );
    const [replays = 0, reuses = 0] = counts();
    await charge(ledger, customer(name), key, { orderId });
    expect(counts()).toEqual([replays, reuses]);
    await charge(ledger, customer(name), key, { orderId });
    expect(counts()).toEqual([replays + 1, reuses]);
    await charge(ledger, customer(name), key, { orderId: other.id });
    expect(counts()).toEqual([replays + 1, reuses + 1]);
  });
});

describe('the scope of a key', () => {
  it('is the operation, the principal and the tenant', async () => {
    const { name, orderId } = await accountWithOrder('5.00');
    const key = 'one-key-for-all';
    const input = { accountId: name, asset: 'ECOPAY', amount: '1.00', reason: 'r' };
    const adjusted = (viewer = admin()): ReturnType<typeof adjustBalance> =>
      adjustBalance(ledger, viewer, key, input);
    expect(await charge(ledger, customer(name), key, { orderId })).toMatchObject({ replayed: false });
    expect(await adjusted()).toMatchObject({ kind: 'AdjustBalanceSuccess', replayed: false });
    expect(await adjusted({ ...admin(), subject: 'other-root' })).toMatchObject({ replayed: false });
    expect(await adjustBalance(ledger, admin('demo'), key, { ...input, amount: '1' })).toMatchObject({
      kind: 'AdjustBalanceSuccess',
      replayed: false,
    });
    // The token may be another one; the subject is who asks.
    expect(await adjusted({ ...admin(), expiresAtMs: 1 })).toMatchObject({ replayed: true });
    expect(await harness.balance('t_1', name)).toBe('47');
    expect(await harness.balance('demo', name)).toBe('1');
  });

  it.each([
    '1',
    'a#b',
    'charge#x',
    '/',
    '~',
    '!',
    '!~!',
    'k'.repeat(255),
    '{"$ne":1}',
    '../../etc',
    '#'.repeat(255),
  ])('takes the key %s', async (key) => {
    const { name, orderId } = await accountWithOrder('5.00');
    const first = await charge(ledger, customer(name), key, { orderId });
    expect(first).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
    expect(await charge(ledger, customer(name), key, { orderId })).toEqual({ ...first, replayed: true });
    expect(await harness.balance('t_1', name)).toBe('45');
  });

  it.each(['', 'k'.repeat(256), 'a b', ' a', 'a\n', 'é', '鍵', '\u0000'])(
    'refuses the key %j before anything is read',
    async (key) => {
      const { name, orderId } = await accountWithOrder('5.00');
      const unreadable = {
        ...ledger,
        store: {
          ...ledger.store,
          get: () => {
            throw new Error('the table was read');
          },
        },
      };
      await expect(charge(unreadable, customer(name), key, { orderId })).rejects.toThrow(
        /no idempotency key/,
      );
    },
  );
});

describe('what is remembered of a failure', () => {
  it('is nothing where the input was wrong: the key is still good', async () => {
    const name = newAccount();
    const key = harness.key();
    const cash = (amount: string): ReturnType<typeof topUp> =>
      topUp(ledger, terminal(), key, { accountId: name, amount, method: 'CASH' });
    expect(await cash('0.00')).toMatchObject({ kind: 'InvalidInput', issues: [{ code: 'not_positive' }] });
    expect(await cash('10.00')).toMatchObject({ kind: 'TopUpSuccess', replayed: false });
  });

  it('is the refusal, also once the reason for it is gone', async () => {
    const { name, orderId } = await accountWithOrder('80.00');
    const key = harness.key();
    const refusal = await charge(ledger, customer(name), key, { orderId });
    expect(refusal).toEqual({
      kind: 'InsufficientBalance',
      asset: 'ECOPAY',
      required: '80.00',
      available: '50.00',
      replayed: false,
    });
    await harness.fund('t_1', name, '50.00');
    expect(await charge(ledger, customer(name), key, { orderId })).toEqual({ ...refusal, replayed: true });
    expect(await charge(ledger, customer(name), harness.key(), { orderId })).toMatchObject({
      kind: 'ChargeSuccess',
    });
    expect(await harness.balance('t_1', name)).toBe('20');
  });

  it('is one refusal for twenty parallel requests with one key', async () => {
    const { name, orderId } = await accountWithOrder('80.00');
    const key = harness.key();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => charge(ledger, customer(name), key, { orderId })),
    );
    expect(answers.map((answer) => answer.kind)).toEqual(
      Array.from({ length: 20 }, () => 'InsufficientBalance'),
    );
    expect(answers.filter((answer) => 'replayed' in answer && !answer.replayed)).toHaveLength(1);
  });
});

describe('a marker whose time has passed, though it is still there', () => {
  /** The idempotency record of a charge, and its `ttl` set as if it had been written long ago. */
  async function age(name: string, key: string, ttlS: number): Promise<void> {
    const { uuid, type } = idempotencyRecordKey({
      tenant: 't_1',
      principal: `customer/${name}`,
      operation: 'charge',
      key,
    });
    await harness.client.send(
      new UpdateItemCommand({
        TableName: harness.tableName,
        Key: { uuid: { S: uuid }, type: { S: type } },
        UpdateExpression: 'SET #ttl = :ttl',
        ConditionExpression: 'attribute_exists(#ttl)',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: { ':ttl': { N: String(ttlS) } },
      }),
    );
  }

  const nowS = (): number => Math.floor(harness.clock.nowMs() / 1_000);

  it.each([1, 47 * 3_600, 5 * 86_400])('%i seconds ago does not block its key', async (agoS) => {
    const { name, orderId } = await accountWithOrder('5.00');
    const other = await harness.openOrder('t_1', name, '7.00');
    const key = harness.key();
    await charge(ledger, customer(name), key, { orderId });
    await age(name, key, nowS() - agoS);
    // A new request under the old key, and the permanent guard for the old order.
    expect(await charge(ledger, customer(name), key, { orderId: other.id })).toMatchObject({
      kind: 'ChargeSuccess',
      replayed: false,
    });
    await age(name, key, nowS() - agoS);
    expect(await charge(ledger, customer(name), key, { orderId })).toMatchObject({ kind: 'OrderNotPayable' });
    expect(await harness.balance('t_1', name)).toBe('38');
  });

  it('still counts at its last second', async () => {
    const { name, orderId } = await accountWithOrder('5.00');
    const key = harness.key();
    await charge(ledger, customer(name), key, { orderId });
    await age(name, key, nowS());
    expect(await charge(ledger, customer(name), key, { orderId })).toMatchObject({ replayed: true });
  });

  it('is ninety days after its request, in seconds; and money has none', async () => {
    const { name, orderId } = await accountWithOrder('5.00');
    const key = harness.key();
    await charge(ledger, customer(name), key, { orderId });
    const { uuid, type } = idempotencyRecordKey({
      tenant: 't_1',
      principal: `customer/${name}`,
      operation: 'charge',
      key,
    });
    const { Item: record } = await harness.client.send(
      new GetItemCommand({ TableName: harness.tableName, Key: { uuid: { S: uuid }, type: { S: type } } }),
    );
    expect(record?.['ttl']).toEqual({ N: String(1_900_000_000 + 90 * 86_400) });
    for (const prefix of ['ENTRY#', 'ORDER#', 'BALANCE#']) {
      const items = await ledger.store.query({ uuid: `t_1#${name}`, prefix, limit: 100, newestFirst: false });
      expect(items.length).toBeGreaterThan(0);
      for (const item of items) expect(item).not.toHaveProperty('ttl');
    }
  });
});

describe('while a key may be left out', () => {
  it('the content stands in for it within its window, and each such request is counted', async () => {
    const optional: Ledger = {
      ...ledger,
      settings: { ...ledger.settings, idempotencyKeyPhase: 'optional', contentKeyWindowS: 300 },
    };
    const name = newAccount();
    const cash = (amount: string): ReturnType<typeof topUp> =>
      topUp(optional, terminal(), undefined, { accountId: name, amount, method: 'CASH' });
    const missingBefore = harness.counted.get('IdempotencyKeyMissing') ?? 0;
    const first = await cash('10.00');
    expect(first).toMatchObject({ kind: 'TopUpSuccess', replayed: false });
    expect(await cash('10.0')).toEqual({ ...first, replayed: true });
    expect(await cash('11.00')).toMatchObject({ kind: 'TopUpSuccess', replayed: false });
    harness.clock.advance(301_000);
    expect(await cash('10.00')).toMatchObject({ kind: 'TopUpSuccess', replayed: false });
    expect(await harness.balance('t_1', name)).toBe('31');
    expect((harness.counted.get('IdempotencyKeyMissing') ?? 0) - missingBefore).toBe(4);
  });

  it('and not before: a missing key is refused', async () => {
    const { name, orderId } = await accountWithOrder();
    await expect(charge(ledger, customer(name), undefined, { orderId })).rejects.toThrow('key is required');
  });
});
