import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cancelOrder } from '../../../src/ledger/usecases/commands/cancel-order.ts';
import { type ChargeOutcome, charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { InvalidTransactionError } from '../../../src/ledger/table/transact.ts';
import type { Fault, ReasonCode } from '../../support/faults.ts';
import { type OpenedOrder, customer } from '../../support/harness.ts';
import { type FaultyWorld, makeFaultyWorld } from './faulty-world.ts';
import { URLS } from './provider-scenarios.ts';

/** What went wrong elsewhere, replayed here; the numbers are those of the field cases. */

let world: FaultyWorld;
let accountId: string;
let order: OpenedOrder;
let key: string;
let waitedBefore: number;

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

async function anOrderOf(amount: string): Promise<void> {
  accountId = world.account();
  key = world.key();
  await world.fund('t_1', accountId, '50.00');
  order = await world.openOrder('t_1', accountId, amount);
  world.proxy.resetCounts();
  waitedBefore = world.waitedMs.length;
}

function pay(withKey = key): Promise<ChargeOutcome> {
  return charge(world.ledger, customer(accountId), withKey, { orderId: order.id });
}

function nextWrites(...faults: readonly Fault[]): void {
  for (const fault of faults) world.proxy.next({ operation: 'TransactWriteItems', fault });
}

function entryIdOf(outcome: ChargeOutcome): string {
  return outcome.kind === 'ChargeSuccess' ? outcome.entryId : outcome.kind;
}

const PAID_ONCE = {
  balances: { ECOPAY: '30' },
  entries: ['ADJUSTMENT', 'CHARGE'],
  orders: ['PAID v2 refundable 20'],
};
const LATE: Fault = { kind: 'LATE', client: 'DISCONNECTED' };

describe('a client that sends again (C02, C08)', () => {
  it('gets the one payment in every answer, when the first was lost and the next overlapped it', async () => {
    await anOrderOf('20.00');
    nextWrites({ kind: 'HOLD' }, { kind: 'SERVER_ERROR', status: 504, after: true });
    const first = pay();
    await world.proxy.whenHeld(1);
    const second = pay();
    const answered = [await second];
    await world.proxy.release();
    answered.push(await first);
    for (let count = 0; count < 3; count += 1) answered.push(await pay());
    expect(answered.map(({ kind }) => kind)).toEqual(Array.from({ length: 5 }, () => 'ChargeSuccess'));
    expect(new Set(answered.map(entryIdOf)).size).toBe(1);
    expect(await world.picture(accountId)).toEqual(PAID_ONCE);
  });

  it('gets fifty equal answers to fifty requests at once, all past their reads before any could write', async () => {
    await anOrderOf('20.00');
    world.proxy.next({ operation: 'TransactWriteItems', times: 50, fault: { kind: 'HOLD' } });
    const answers = Array.from({ length: 50 }, () => pay());
    await world.proxy.whenHeld(50);
    await world.proxy.release();
    const answered = await Promise.all(answers);
    expect(new Set(answered.map(({ kind }) => kind))).toEqual(new Set(['ChargeSuccess']));
    expect(new Set(answered.map(entryIdOf)).size).toBe(1);
    expect(await world.picture(accountId)).toEqual(PAID_ONCE);
  });
});

describe('a transaction that is sent again (C13)', () => {
  it('keeps its token when the engine says that it is still in progress', async () => {
    await anOrderOf('20.00');
    nextWrites({ kind: 'DROP_AFTER' }, { kind: 'ERROR', name: 'TransactionInProgressException' });
    expect(await pay()).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
    expect(world.proxy.tokens()).toHaveLength(3);
    expect(new Set(world.proxy.tokens()).size).toBe(1);
    expect(await world.picture(accountId)).toEqual(PAID_ONCE);
  });

  it('is found by its marker when every answer was lost', async () => {
    await anOrderOf('20.00');
    world.proxy.next({ operation: 'TransactWriteItems', times: 3, fault: { kind: 'DROP_AFTER' } });
    expect(await pay()).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
    expect(world.proxy.seen('TransactWriteItems')).toBe(3);
    expect(world.proxy.seen('BatchGetItem')).toBe(2);
  });
});

interface Mixed {
  readonly reasons: readonly ReasonCode[];
  readonly short?: true;
  readonly writes: number;
  readonly reads: number;
  /** Bounds of the one wait, if there is one. */
  readonly waitMs?: readonly [number, number];
}

const MIXED: readonly Mixed[] = [
  { reasons: ['None', 'TransactionConflict', 'None', 'None'], writes: 2, reads: 1, waitMs: [50, 75] },
  { reasons: ['ConditionalCheckFailed', 'TransactionConflict', 'None', 'None'], writes: 2, reads: 2 },
  {
    reasons: ['None', 'ConditionalCheckFailed', 'TransactionConflict', 'None'],
    writes: 2,
    reads: 2,
    waitMs: [50, 75],
  },
  {
    reasons: ['None', 'None', 'ConditionalCheckFailed', 'ThrottlingError'],
    writes: 2,
    reads: 2,
    waitMs: [50, 75],
  },
  {
    reasons: ['None', 'TransactionConflict', 'ThrottlingError', 'None'],
    writes: 2,
    reads: 1,
    waitMs: [200, 300],
  },
  { reasons: ['None', 'None', 'None', 'None'], writes: 2, reads: 1, waitMs: [50, 75] },
  { reasons: ['None', 'ConditionalCheckFailed'], short: true, writes: 2, reads: 2, waitMs: [50, 75] },
];

describe('a cancelled transaction (C15)', () => {
  it.each(MIXED)('with $reasons is never read as a business answer', async (mixed) => {
    const { reasons, short, writes, reads, waitMs } = mixed;
    await anOrderOf('20.00');
    nextWrites({ kind: 'CANCELED', reasons, ...(short === undefined ? {} : { short }) });
    expect(await pay()).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
    expect(world.proxy.seen('TransactWriteItems')).toBe(writes);
    expect(world.proxy.seen('BatchGetItem')).toBe(reads);
    const [waitedMs, ...more] = world.waitedMs.slice(waitedBefore);
    expect(more).toEqual([]);
    expect(waitedMs === undefined).toBe(waitMs === undefined);
    if (waitMs !== undefined) {
      expect(waitedMs).toBeGreaterThanOrEqual(waitMs[0]);
      expect(waitedMs).toBeLessThanOrEqual(waitMs[1]);
    }
    expect(await world.picture(accountId)).toEqual(PAID_ONCE);
  });

  it('that stays a mix is decided again five times, each after a short wait, and then is a conflict', async () => {
    await anOrderOf('20.00');
    const mix: Fault = {
      kind: 'CANCELED',
      reasons: ['None', 'ConditionalCheckFailed', 'TransactionConflict', 'None'],
    };
    world.proxy.next({ operation: 'TransactWriteItems', times: 9, fault: mix });
    expect(await pay()).toMatchObject({ kind: 'TransactionConflict' });
    expect(world.proxy.seen('TransactWriteItems')).toBe(5);
    expect(world.proxy.seen('BatchGetItem')).toBe(5);
    const waitsMs = world.waitedMs.slice(waitedBefore);
    expect(waitsMs).toHaveLength(5);
    for (const waitMs of waitsMs) {
      expect(waitMs).toBeGreaterThanOrEqual(50);
      expect(waitMs).toBeLessThanOrEqual(75);
    }
    world.proxy.calm();
    expect(await pay()).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
    expect(await world.picture(accountId)).toEqual(PAID_ONCE);
  });

  it('for an invalid item fails loudly at once, and the key stays usable', async () => {
    await anOrderOf('20.00');
    nextWrites({ kind: 'CANCELED', reasons: ['None', 'ValidationError', 'TransactionConflict', 'None'] });
    await expect(pay()).rejects.toThrow(InvalidTransactionError);
    expect(world.proxy.seen('TransactWriteItems')).toBe(1);
    expect(await pay()).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
  });
});

describe('a transaction that commits late', () => {
  it('changes nothing when the request was decided again under another token meanwhile', async () => {
    await anOrderOf('20.00');
    nextWrites(LATE, {
      kind: 'CANCELED',
      reasons: ['None', 'ConditionalCheckFailed', 'TransactionConflict', 'None'],
    });
    const outcome = await pay();
    expect(outcome).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
    expect(new Set(world.proxy.tokens()).size).toBe(2);
    await world.proxy.release();
    expect(entryIdOf(await pay())).toBe(entryIdOf(outcome));
    expect(await world.picture(accountId)).toEqual(PAID_ONCE);
  });

  it('is the answer when it lands before the second decision is written', async () => {
    await anOrderOf('20.00');
    nextWrites(
      LATE,
      { kind: 'CANCELED', reasons: ['None', 'ConditionalCheckFailed', 'TransactionConflict', 'None'] },
      { kind: 'HOLD' },
    );
    const outcome = pay();
    // Both are held: the release lets them go in the order in which they came.
    await world.proxy.whenHeld(2);
    await world.proxy.release();
    expect(await outcome).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
    expect(await world.picture(accountId)).toEqual(PAID_ONCE);
  });

  it('is its own claim when it lands before the second one, and it goes on with it', async () => {
    await anOrderOf('20.00');
    nextWrites(LATE, { kind: 'CANCELED', reasons: ['None', 'ConditionalCheckFailed'] }, { kind: 'HOLD' });
    const outcome = checkout(world.ledger, customer(accountId), key, { orderId: order.id, ...URLS });
    await world.proxy.whenHeld(2);
    await world.proxy.release();
    expect(await outcome).toMatchObject({ kind: 'CheckoutSuccess', replayed: false });
    expect((await world.picture(accountId)).orders).toEqual(['SESSION_CREATED v2 refundable 0']);
  });

  it("can't pay an order that was canceled after its answer was lost", async () => {
    await anOrderOf('20.00');
    world.proxy.next({ operation: 'TransactWriteItems', times: 3, fault: LATE });
    expect(await pay()).toMatchObject({ kind: 'Throttled' });
    const canceled = await cancelOrder(world.ledger, customer(accountId), world.key(), { orderId: order.id });
    expect(canceled.kind).toBe('CancelOrderSuccess');
    await world.proxy.release();
    expect(await world.picture(accountId)).toMatchObject({
      balances: { ECOPAY: '50' },
      orders: ['CANCELED v2 refundable 0'],
    });
    expect(await pay()).toMatchObject({ kind: 'OrderNotPayable', state: 'CANCELED', replayed: false });
  });

  it("can't pay an order a second time that another key has paid", async () => {
    await anOrderOf('20.00');
    world.proxy.next({ operation: 'TransactWriteItems', times: 3, fault: LATE });
    expect(await pay()).toMatchObject({ kind: 'Throttled' });
    expect(await pay(world.key())).toMatchObject({ kind: 'ChargeSuccess' });
    await world.proxy.release();
    expect(await world.picture(accountId)).toEqual(PAID_ONCE);
    expect(await pay()).toMatchObject({ kind: 'OrderNotPayable', state: 'PAID' });
  });
});

describe('a refusal whose own put was lost', () => {
  it('is not told until it is stored, and a yes in between wins over the late no', async () => {
    await anOrderOf('50.01');
    nextWrites({ kind: 'PASS' }, LATE, LATE, LATE);
    expect(await pay()).toEqual({ kind: 'Throttled', retryAfterMs: 2_000 });
    await world.fund('t_1', accountId, '0.01');
    expect(await pay()).toMatchObject({ kind: 'ChargeSuccess', replayed: false });
    await world.proxy.release();
    expect(await pay()).toMatchObject({ kind: 'ChargeSuccess', replayed: true });
    expect((await world.picture(accountId)).balances).toEqual({ ECOPAY: '0' });
  });

  it('stays a no once it has been stored late, whatever money has come since', async () => {
    await anOrderOf('50.01');
    nextWrites({ kind: 'PASS' }, LATE, LATE, LATE);
    expect(await pay()).toEqual({ kind: 'Throttled', retryAfterMs: 2_000 });
    await world.proxy.release();
    await world.fund('t_1', accountId, '0.01');
    expect(await pay()).toMatchObject({ kind: 'InsufficientBalance', available: '50.00', replayed: true });
    expect((await world.picture(accountId)).orders).toEqual(['CREATED v1 refundable 0']);
  });

  it('is told when its put was found by its marker', async () => {
    await anOrderOf('50.01');
    nextWrites({ kind: 'PASS' }, { kind: 'DROP_AFTER' }, { kind: 'DROP_AFTER' }, { kind: 'DROP_AFTER' });
    const replaysBefore = world.counted.get('IdempotencyReplay');
    expect(await pay()).toMatchObject({ kind: 'InsufficientBalance', required: '50.01', replayed: false });
    expect(world.counted.get('IdempotencyReplay')).toBe(replaysBefore);
    await world.fund('t_1', accountId, '0.01');
    expect(await pay()).toMatchObject({ kind: 'InsufficientBalance', replayed: true });
  });
});
