import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { type Harness, makeHarness } from '../../support/harness.ts';
import { type Sample, audit, entryType, fillSample, setNumber } from './audit-sample.ts';

let harness: Harness;
afterEach(() => {
  harness.close();
});

async function sampleLedger(): Promise<Sample> {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  return await fillSample(harness);
}

describe('a clean ledger', () => {
  it('has no problem, and each asset sums to nothing', async () => {
    await sampleLedger();
    const report = await audit(harness);
    expect(report.problems).toEqual([]);
    expect(report.unsettled).toEqual([]);
    expect(report).toMatchObject({ accounts: 2, entries: 5, orders: 3 });
    const zero = { merchant: '0', stripe: '0', cash: '0', receivable: '0', surplus: '0', issuer: '0' };
    expect(report.totals).toEqual([
      {
        tenant: 'demo',
        asset: 'ECOPAY',
        accounts: 1,
        balances: '1140',
        outside: { ...zero, merchant: '360', cash: '-500', issuer: '-1000' },
        difference: '0',
      },
      {
        tenant: 'demo',
        asset: 'METRIC/CHARGED',
        accounts: 1,
        balances: '360',
        outside: { ...zero, issuer: '-360' },
        difference: '0',
      },
      {
        tenant: 'demo',
        asset: 'METRIC/CO2_KG',
        accounts: 1,
        balances: '3.6',
        outside: { ...zero, issuer: '-3.6' },
        difference: '0',
      },
      {
        tenant: 'demo',
        asset: 'POINT',
        accounts: 1,
        balances: '3',
        outside: { ...zero, issuer: '-3' },
        difference: '0',
      },
      {
        tenant: 't_1',
        asset: 'ECOPAY',
        accounts: 1,
        balances: '50',
        outside: { ...zero, issuer: '-50' },
        difference: '0',
      },
    ]);
  });

  it('is the same however many segments it is read in', async () => {
    await sampleLedger();
    const one = await audit(harness, harness.ledger.store, 1);
    expect(one.items).toBeGreaterThan(15);
    expect(await audit(harness, harness.ledger.store, 50)).toEqual(one);
  });
});

describe('planted damage is named with its amount', () => {
  it('a balance that is off by one', async () => {
    await sampleLedger();
    await setNumber(harness, 'BALANCE#ECOPAY', 'balance', '1141');
    const report = await audit(harness);
    expect(report.problems).toEqual([
      {
        promise: 'I2',
        tenant: 'demo',
        accountId: 'alice',
        item: 'BALANCE#ECOPAY',
        what: 'balance',
        expected: '1140',
        found: '1141',
        offBy: '1',
      },
    ]);
    expect(report.totals.map((total) => total.difference)).toEqual(['1', '0', '0', '0', '0']);
  });

  it('a balance that is negative', async () => {
    await sampleLedger();
    await setNumber(harness, 'BALANCE#ECOPAY', 'balance', '-3');
    const { problems } = await audit(harness);
    expect(problems).toMatchObject([
      { item: 'BALANCE#ECOPAY', expected: '1140', found: '-3', offBy: '-1143' },
      { item: 'BALANCE#ECOPAY', expected: 'never negative', found: '-3', offBy: '-3' },
    ]);
  });

  it('a balance that is gone', async () => {
    await sampleLedger();
    await harness.client.send(
      new DeleteItemCommand({
        TableName: harness.tableName,
        Key: { uuid: { S: 'demo#alice' }, type: { S: 'BALANCE#POINT' } },
      }),
    );
    const { problems } = await audit(harness);
    expect(problems).toMatchObject([{ item: 'BALANCE#POINT', expected: '3', found: '0', offBy: '-3' }]);
  });

  it('a metric that is off', async () => {
    await sampleLedger();
    await setNumber(harness, 'METRICS', 'co2_reduction_kg', '3.5');
    const { problems } = await audit(harness);
    expect(problems).toMatchObject([
      { promise: 'I2', item: 'METRICS', what: 'METRIC/CO2_KG', expected: '3.6', found: '3.5', offBy: '-0.1' },
    ]);
  });

  it('a missing entry of a charge', async () => {
    const { orderId } = await sampleLedger();
    const type = await entryType(harness, 'CHARGE');
    await harness.client.send(
      new DeleteItemCommand({
        TableName: harness.tableName,
        Key: { uuid: { S: 'demo#alice' }, type: { S: type } },
      }),
    );
    const { problems } = await audit(harness);
    expect(
      problems.map(({ item, what, expected, found, offBy }) => [item, what, expected, found, offBy]),
    ).toEqual(
      expect.arrayContaining([
        ['BALANCE#ECOPAY', 'balance', '1620', '1140', '-480'],
        [`ORDER#${orderId}`, 'paid by entries', '480', '0', '-480'],
        [`ORDER#${orderId}`, 'payment entries', 'CHARGE', 'none', undefined],
      ]),
    );
  });

  it('a doubled entry of a charge', async () => {
    const { orderId } = await sampleLedger();
    const type = await entryType(harness, 'CHARGE');
    const items = await harness.ledger.store.query({
      uuid: 'demo#alice',
      prefix: type,
      limit: 1,
      newestFirst: false,
    });
    await harness.client.send(
      new PutItemCommand({
        TableName: harness.tableName,
        // What was read goes back as it was: the two types differ in readonly alone.
        Item: {
          ...(items[0] as Record<string, never>),
          type: { S: `ENTRY#${harness.ledger.ids.ulid(harness.clock.nowMs())}` },
        },
      }),
    );
    const { problems } = await audit(harness);
    expect(
      problems.map(({ item, what, expected, found, offBy }) => [item, what, expected, found, offBy]),
    ).toEqual(
      expect.arrayContaining([
        ['BALANCE#ECOPAY', 'balance', '660', '1140', '480'],
        [`ORDER#${orderId}`, 'paid by entries', '480', '960', '480'],
        [`ORDER#${orderId}`, 'payment entries', 'CHARGE', 'CHARGE, CHARGE', undefined],
      ]),
    );
  });

  it('an order whose refunded amount is not its refunds', async () => {
    const { orderId } = await sampleLedger();
    await setNumber(harness, `ORDER#${orderId}`, 'refunded', '100');
    const { problems } = await audit(harness);
    expect(
      problems.map(({ promise, what, expected, found, offBy }) => [promise, what, expected, found, offBy]),
    ).toEqual([
      ['I4', 'refunded', '120', '100', '-20'],
      ['I4', 'refundable', '380', '360', '-20'],
    ]);
  });

  it('an order that owes what nobody booked', async () => {
    const { orderId } = await sampleLedger();
    await setNumber(harness, `ORDER#${orderId}`, 'owed', '7');
    const { problems } = await audit(harness);
    expect(problems).toMatchObject([{ promise: 'I4', what: 'owed', expected: '0', found: '7', offBy: '7' }]);
  });

  it('an entry that moves less than nothing, or to an account that nobody knows', async () => {
    await sampleLedger();
    const put = (postings: Record<string, string>, n: string): Promise<unknown> =>
      harness.client.send(
        new PutItemCommand({
          TableName: harness.tableName,
          Item: {
            uuid: { S: 'demo#alice' },
            type: { S: `ENTRY#${harness.ledger.ids.ulid(harness.clock.nowMs())}` },
            op: { S: 'ADJUSTMENT' },
            postings: {
              L: [
                {
                  M: {
                    d: { S: postings['debit'] ?? '' },
                    c: { S: postings['credit'] ?? '' },
                    a: { S: postings['asset'] ?? 'ECOPAY' },
                    n: { N: n },
                  },
                },
              ],
            },
            actor: { S: 'root' },
            at: { N: '1' },
          },
        }),
      );
    await put({ debit: 'issuer', credit: 'stripe' }, '-5');
    await put({ debit: 'issuer', credit: 'bank:somewhere' }, '5');
    await put({ debit: 'wallet:bob', credit: 'issuer' }, '5');
    await put({ debit: 'issuer', credit: 'issuer' }, '5');
    await put({ debit: 'issuer', credit: 'stripe', asset: 'GOLD' }, '5');
    const { problems } = await audit(harness);
    expect(problems.map(({ promise, what, found }) => [promise, what, found])).toEqual([
      ['I1', 'amount', '-5'],
      ['I1', 'account', 'bank:somewhere'],
      ['I1', 'account', 'wallet:bob'],
      ['I1', 'accounts', 'issuer'],
      ['I1', 'asset', 'GOLD'],
    ]);
  });

  it('an item that cannot be read', async () => {
    await sampleLedger();
    await harness.client.send(
      new UpdateItemCommand({
        TableName: harness.tableName,
        Key: { uuid: { S: 't_1#u_1' }, type: { S: 'BALANCE#ECOPAY' } },
        UpdateExpression: 'REMOVE #balance',
        ExpressionAttributeNames: { '#balance': 'balance' },
      }),
    );
    const { problems } = await audit(harness);
    expect(problems.map(({ item, what, found }) => [item, what, found])).toEqual([
      ['BALANCE#ECOPAY', 'item', 'malformed item: attribute balance'],
      ['BALANCE#ECOPAY', 'balance', '0'],
    ]);
  });
});
