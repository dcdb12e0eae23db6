import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { auditTable, type AuditReport } from '../../../src/ledger/operations/audit-ledger.ts';
import { charge } from '../../../src/ledger/operations/charge.ts';
import { refund } from '../../../src/ledger/operations/refund.ts';
import { topUp } from '../../../src/ledger/operations/top-up.ts';
import type { Store } from '../../../src/ledger/store.ts';
import { type Harness, admin, customer, makeHarness, merchant, terminal } from '../../support/harness.ts';

let harness: Harness;
afterEach(() => {
  harness.close();
});

/** What the sample is: the ids of an order that was charged 480 points-earning yen and refunded 120 of them. */
interface Sample {
  readonly orderId: string;
  readonly id: string;
}

/** A small ledger with everything in it: adjustments, a cash top-up, charges with rewards, a refund in part. */
async function sampleLedger(): Promise<Sample> {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  const { ledger, key } = harness;
  await harness.fund('demo', 'alice', '1000');
  const cash = { accountId: 'alice', amount: '500', method: 'CASH' };
  expect(await topUp(ledger, terminal('cafe', 'demo'), key(), cash)).toMatchObject({ kind: 'TopUpSuccess' });
  const order = await harness.openOrder('demo', 'alice', '480');
  const paid = await charge(ledger, customer('alice', 'demo'), key(), { orderId: order.id });
  expect(paid.kind).toBe('ChargeSuccess');
  const back = { orderId: order.id, amount: '120' };
  expect((await refund(ledger, merchant('cafe', 'demo'), key(), back)).kind).toBe('RefundSuccess');
  await harness.fund('t_1', 'u_1', '50.00');
  await harness.openOrder('t_1', 'u_1', '20.00');
  return order;
}

const noWait = (): Promise<void> => Promise.resolve();

function audit(store: Store = harness.ledger.store, segments = 4): Promise<AuditReport> {
  return auditTable(store, { segments, wait: noWait });
}

/** The sort key of the only entry of an operation. */
async function entryType(operation: string): Promise<string> {
  const entries = await harness.entries('demo', 'alice');
  const found = entries.filter((entry) => entry.operation === operation);
  expect(found).toHaveLength(1);
  return `ENTRY#${found[0]?.entryId ?? ''}`;
}

function setNumber(type: string, attribute: string, value: string): Promise<unknown> {
  return harness.client.send(
    new UpdateItemCommand({
      TableName: harness.tableName,
      Key: { uuid: { S: 'demo#alice' }, type: { S: type } },
      UpdateExpression: 'SET #attribute = :value',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: { ':value': { N: value } },
    }),
  );
}

describe('a clean ledger', () => {
  it('has no problem, and each asset sums to nothing', async () => {
    await sampleLedger();
    const report = await audit();
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
    const one = await audit(harness.ledger.store, 1);
    expect(one.items).toBeGreaterThan(15);
    expect(await audit(harness.ledger.store, 50)).toEqual(one);
  });
});

describe('planted damage is named with its amount', () => {
  it('a balance that is off by one', async () => {
    await sampleLedger();
    await setNumber('BALANCE#ECOPAY', 'balance', '1141');
    const report = await audit();
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
    await setNumber('BALANCE#ECOPAY', 'balance', '-3');
    const { problems } = await audit();
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
    const { problems } = await audit();
    expect(problems).toMatchObject([{ item: 'BALANCE#POINT', expected: '3', found: '0', offBy: '-3' }]);
  });

  it('a metric that is off', async () => {
    await sampleLedger();
    await setNumber('METRICS', 'co2_reduction_kg', '3.5');
    const { problems } = await audit();
    expect(problems).toMatchObject([
      { promise: 'I2', item: 'METRICS', what: 'METRIC/CO2_KG', expected: '3.6', found: '3.5', offBy: '-0.1' },
    ]);
  });

  it('a missing entry of a charge', async () => {
    const { orderId } = await sampleLedger();
    const type = await entryType('CHARGE');
    await harness.client.send(
      new DeleteItemCommand({
        TableName: harness.tableName,
        Key: { uuid: { S: 'demo#alice' }, type: { S: type } },
      }),
    );
    const { problems } = await audit();
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
    const type = await entryType('CHARGE');
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
    const { problems } = await audit();
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
    await setNumber(`ORDER#${orderId}`, 'refunded', '100');
    const { problems } = await audit();
    expect(
      problems.map(({ promise, what, expected, found, offBy }) => [promise, what, expected, found, offBy]),
    ).toEqual([
      ['I4', 'refunded', '120', '100', '-20'],
      ['I4', 'refundable', '380', '360', '-20'],
    ]);
  });

  it('an order that owes what nobody booked', async () => {
    const { orderId } = await sampleLedger();
    await setNumber(`ORDER#${orderId}`, 'owed', '7');
    const { problems } = await audit();
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
    const { problems } = await audit();
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
    const { problems } = await audit();
    expect(problems.map(({ item, what, found }) => [item, what, found])).toEqual([
      ['BALANCE#ECOPAY', 'item', 'malformed item: attribute balance'],
      ['BALANCE#ECOPAY', 'balance', '0'],
    ]);
  });
});

describe('beside live traffic', () => {
  it('reports nothing of a ledger that is charged, topped up and refunded while it is read', async () => {
    await sampleLedger();
    const { ledger, key } = harness;
    let auditing = true;
    const customerAtWork = async (accountId: string): Promise<number> => {
      let charges = 0;
      while (auditing || charges === 0) {
        await harness.fund('demo', accountId, '100');
        const order = await harness.openOrder('demo', accountId, '60');
        await charge(ledger, customer(accountId, 'demo'), key(), { orderId: order.id });
        await refund(ledger, admin('demo'), key(), { orderId: order.id, amount: '10' });
        charges += 1;
      }
      return charges;
    };
    const work = ['alice', 'bob', 'carol', 'dan'].map(customerAtWork);
    for (let round = 0; round < 5; round += 1) {
      const report = await audit(harness.ledger.store, 3);
      expect(report.problems).toEqual([]);
      expect(report.totals.map((total) => total.difference)).toEqual(report.totals.map(() => '0'));
    }
    auditing = false;
    await Promise.all(work);
    const atRest = await audit();
    expect(atRest).toMatchObject({ problems: [], unsettled: [], accounts: 5 });
  });

  it('reports a difference only once it was seen three times, seconds apart', async () => {
    await sampleLedger();
    await setNumber('BALANCE#ECOPAY', 'balance', '1141');
    const waitedMs: number[] = [];
    const wait = (ms: number): Promise<void> => {
      waitedMs.push(ms);
      return Promise.resolve();
    };
    const report = await auditTable(harness.ledger.store, { segments: 4, wait });
    expect(report.problems).toHaveLength(1);
    expect(waitedMs).toEqual([2_000, 2_000]);
  });

  it('takes nothing for a difference that heals by the second reading', async () => {
    await sampleLedger();
    await setNumber('BALANCE#ECOPAY', 'balance', '1141');
    const report = await auditTable(harness.ledger.store, {
      segments: 4,
      wait: async () => {
        await setNumber('BALANCE#ECOPAY', 'balance', '1140');
      },
    });
    expect(report).toMatchObject({ problems: [], unsettled: [] });
  });

  it('tells of an account that never holds still, instead of judging it', async () => {
    await sampleLedger();
    await setNumber('BALANCE#ECOPAY', 'balance', '1141');
    let writes = 100;
    const { store } = harness.ledger;
    const restless: Store = {
      ...store,
      query: async (request) => {
        if (request.prefix === 'ENTRY#') await setNumber('BALANCE#ECOPAY', 'writes', String((writes += 1)));
        return store.query(request);
      },
    };
    const report = await audit(restless);
    expect(report.problems).toEqual([]);
    expect(report.unsettled).toEqual([{ tenant: 'demo', accountId: 'alice' }]);
  });
});

describe('npm run audit', () => {
  const ROOT = join(import.meta.dirname, '..', '..', '..');

  async function runCommand(
    ...args: readonly string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = {
      DYNAMODB_ENDPOINT: inject('engineEndpoint'),
      AWS_REGION: 'local',
      TABLE_NAME: harness.tableName,
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    };
    try {
      const command = ['--import', 'tsx', 'src/cli/audit.ts', ...args];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, env });
      return { code: 0, stdout, stderr };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && 'stdout' in error && 'stderr' in error)) throw error;
      return { code: Number(error.code), stdout: String(error.stdout), stderr: String(error.stderr) };
    }
  }

  it('prints a table and exits 0 where everything balances', async () => {
    await sampleLedger();
    const { code, stdout, stderr } = await runCommand();
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/));
    expect(rows[0]).toEqual(
      'tenant asset accounts balances merchant stripe cash receivable surplus issuer difference'.split(' '),
    );
    expect(rows).toContainEqual('demo ECOPAY 1 1140 360 0 -500 0 0 -1000 0'.split(' '));
    expect(stdout).toContain('2 accounts, 5 entries, 3 orders: everything balances.');
  });

  it('names what is off and exits 1, as JSON too', async () => {
    await sampleLedger();
    await setNumber('BALANCE#ECOPAY', 'balance', '1130');
    const [plain, json] = await Promise.all([runCommand('--segments', '2'), runCommand('--json')]);
    expect(plain.code).toBe(1);
    expect(plain.stdout).toContain(
      'I2  demo#alice  BALANCE#ECOPAY  balance: expected 1140, found 1130, off by -10',
    );
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      accounts: 2,
      problems: [{ accountId: 'alice', item: 'BALANCE#ECOPAY', offBy: '-10' }],
      unsettled: [],
    });
  });

  it('refuses arguments that make no sense', async () => {
    await sampleLedger();
    const { code, stderr } = await runCommand('--segments', '0');
    expect(code).toBe(2);
    expect(stderr).toContain('--segments takes a whole number from 1 to 1000, not "0".');
    expect(stderr).toContain('Usage: npm run audit');
  });
});
