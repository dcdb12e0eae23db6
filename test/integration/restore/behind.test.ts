import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttributeValue } from '../../../src/ledger/kernel/attributes.ts';
import { type ItemKey, balanceKey, orderKey, paymentKey } from '../../../src/ledger/kernel/keys.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { type ReconcileReport, reconcile } from '../../../src/ledger/usecases/reconcile/reconcile.ts';
import { auditNow, deleteItem } from '../../support/damage.ts';
import { customer } from '../../support/harness.ts';
import {
  URLS,
  type ProviderHarness,
  applyEvents,
  checkedOut,
  makeProviderHarness,
} from '../provider/support.ts';

/** An order, its entry and its payment item of different moments, as damage or a restore leaves them. */

const DAY_MS = 86_400_000;
let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

type Item = Record<string, AttributeValue> | undefined;

async function read(key: ItemKey): Promise<Item> {
  const [item] = await harness.ledger.store.get([key]);
  // What was read goes back as it was: the two types differ in readonly alone.
  return item as Item;
}

/** Puts an item back as it was read once; one that wasn't there then is deleted. */
async function putBack(key: ItemKey, item: Item): Promise<void> {
  if (item === undefined) return deleteItem(harness, key);
  await harness.client.send(new PutItemCommand({ TableName: harness.tableName, Item: item }));
}

interface Paid {
  readonly orderId: string;
  readonly paymentId: string;
  readonly keys: { readonly order: ItemKey; readonly guard: ItemKey; readonly entry: ItemKey };
  /** The order as it was before the money came. */
  readonly older: Item;
}

let accounts = 0;

/** A payment of an account of its own, booked from its events. */
async function paid(kind: 'PURCHASE' | 'TOP_UP' = 'PURCHASE'): Promise<Paid & { accountId: string }> {
  accounts += 1;
  const accountId = `u_${String(accounts)}`;
  const { orderId, sessionId } =
    kind === 'PURCHASE' ? await checkedOut(harness, '20.00', accountId) : await toppedUp(accountId);
  const order = orderKey({ tenant: 't_1', accountId, orderId });
  const older = await read(order);
  await harness.simulator.payByCard({ session: sessionId });
  await applyEvents(harness);
  const { payment } = await harness.order('t_1', accountId, orderId);
  const paymentId = payment?.paymentId ?? '';
  const [entry] = await harness.entries('t_1', accountId);
  const entryKey = { uuid: `t_1#${accountId}`, type: `ENTRY#${entry?.entryId ?? ''}` };
  await harness.advance(600_000);
  return {
    accountId,
    orderId,
    paymentId,
    older,
    keys: { order, guard: paymentKey(paymentId), entry: entryKey },
  };
}

async function toppedUp(accountId: string): Promise<{ orderId: string; sessionId: string }> {
  const input = { asset: 'ECOPAY', amount: '30.00', method: 'CHECKOUT' as const, ...URLS };
  const outcome = await topUp(harness.ledger, customer(accountId), harness.key(), input);
  if (outcome.kind !== 'TopUpSuccess') throw new Error(outcome.kind);
  const [attempt] = (await harness.order('t_1', accountId, outcome.orderId)).attempts;
  return { orderId: outcome.orderId, sessionId: attempt?.sessionId ?? '' };
}

function compared(fix: boolean): Promise<ReconcileReport> {
  return reconcile(harness.ledger, { sinceMs: DAY_MS, fix, bothWays: false });
}

/** What reconcile says of it without `--fix`, which must change nothing, and with it. */
async function mendedFrom({ paymentId, keys }: Paid): Promise<readonly unknown[]> {
  const before = await Promise.all(Object.values(keys).map(read));
  const named = await compared(false);
  expect(await Promise.all(Object.values(keys).map(read))).toEqual(before);
  const fixed = await compared(true);
  expect((await compared(true)).findings).toEqual([]);
  return [named, fixed].flatMap(({ findings }) =>
    findings.map((one) => [one.providerId === paymentId, one.ledger, one.fixed]),
  );
}

async function standing(accountId: string, orderId: string): Promise<readonly unknown[]> {
  const order = await harness.order('t_1', accountId, orderId);
  const entries = await harness.entries('t_1', accountId);
  const { problems, unsettled } = await auditNow(harness);
  expect([problems, unsettled]).toEqual([[], []]);
  return [order.state, order.refundable.toFixed(), order.overpayments.length, entries.length];
}

describe('a payment of which the ledger has a part', () => {
  it('whose order is older than its entry and its item pays the order', async () => {
    const one = await paid();
    await putBack(one.keys.order, one.older);
    expect(await mendedFrom(one)).toEqual([
      [true, 'not in its order', false],
      [true, 'not in its order', true],
    ]);
    expect(await standing(one.accountId, one.orderId)).toEqual(['PAID', '20', 0, 1]);
  });

  it('whose item is older, so that it is absent, gets it', async () => {
    const one = await paid();
    const item = await read(one.keys.guard);
    await deleteItem(harness, one.keys.guard);
    expect(await mendedFrom(one)).toEqual([
      [true, 'no payment item', false],
      [true, 'no payment item', true],
    ]);
    const at = (await read(one.keys.guard))?.['at'];
    expect(await read(one.keys.guard)).toEqual({ ...item, at });
    expect(await standing(one.accountId, one.orderId)).toEqual(['PAID', '20', 0, 1]);
  });

  it('whose entry is absent gets it', async () => {
    const one = await paid();
    await deleteItem(harness, one.keys.entry);
    expect(await mendedFrom(one)).toEqual([
      [true, 'no entry', false],
      [true, 'no entry', true],
    ]);
    expect(await standing(one.accountId, one.orderId)).toEqual(['PAID', '20', 0, 1]);
  });

  it('of which the entry alone is there is not booked again', async () => {
    const one = await paid();
    await putBack(one.keys.order, one.older);
    await deleteItem(harness, one.keys.guard);
    expect(await mendedFrom(one)).toEqual([
      [true, 'not in its order, no payment item', false],
      [true, 'not in its order, no payment item', true],
    ]);
    expect(await standing(one.accountId, one.orderId)).toEqual(['PAID', '20', 0, 1]);
  });
});

describe('a top-up of which the ledger has a part', () => {
  it('whose order is older credits its wallet no second time', async () => {
    const one = await paid('TOP_UP');
    await putBack(one.keys.order, one.older);
    await mendedFrom(one);
    expect(await standing(one.accountId, one.orderId)).toEqual(['PAID', '30', 0, 1]);
    expect(await harness.balance('t_1', one.accountId)).toBe('30');
  });

  it('whose entry alone is absent credits its wallet no second time', async () => {
    const one = await paid('TOP_UP');
    await deleteItem(harness, one.keys.entry);
    await mendedFrom(one);
    expect(await standing(one.accountId, one.orderId)).toEqual(['PAID', '30', 0, 1]);
    expect(await harness.balance('t_1', one.accountId)).toBe('30');
  });

  it('whose entry and balance are older credits its wallet', async () => {
    const one = await paid('TOP_UP');
    await harness.fund('t_1', one.accountId, '5.00');
    await deleteItem(harness, one.keys.entry);
    const balance = balanceKey({ tenant: 't_1', accountId: one.accountId, asset: 'ECOPAY' });
    await putBack(balance, { ...(await read(balance)), balance: { N: '5' } });
    await mendedFrom(one);
    expect(await standing(one.accountId, one.orderId)).toEqual(['PAID', '30', 0, 2]);
    expect(await harness.balance('t_1', one.accountId)).toBe('35');
  });
});

describe('two menders at once', () => {
  it('book once, whatever was behind', async () => {
    const [order, entry, both] = [await paid('TOP_UP'), await paid('TOP_UP'), await paid('TOP_UP')];
    await putBack(order.keys.order, order.older);
    await deleteItem(harness, entry.keys.entry);
    await putBack(both.keys.order, both.older);
    await deleteItem(harness, both.keys.entry);
    await Promise.all([compared(true), compared(true), compared(true)]);
    for (const { accountId, orderId } of [order, entry, both]) {
      expect(await standing(accountId, orderId)).toEqual(['PAID', '30', 0, 1]);
      expect(await harness.balance('t_1', accountId)).toBe('30');
    }
    expect((await compared(false)).findings).toEqual([]);
  });
});
