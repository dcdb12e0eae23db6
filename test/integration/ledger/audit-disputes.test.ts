import { describe, expect, it } from 'vitest';
import { type ItemKey, orderKey } from '../../../src/ledger/kernel/keys.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import {
  auditedProblems,
  damage,
  deleteItem,
  doubleItem,
  entryOf,
  nextEntryKey,
} from '../../support/damage.ts';
import { stripeDispute, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { type World, eventOf, makeWorld, metadataOf } from '../webhooks/support.ts';

/** The audit on disputes and overpayments: each loss stands in the books once while it is one, and else not at all. */

async function pay(world: World, order: Order, attempt = 1): Promise<void> {
  const n = String(attempt);
  const session = { id: `cs_${n}`, payment_intent: `pi_${n}`, metadata: metadataOf(order, attempt) };
  const paid = { status: 'complete', payment_status: 'paid', url: null };
  const reported = await world.apply(
    eventOf(world, 'checkout.session.completed', stripeSession({ ...session, ...paid })),
  );
  expect(reported).toMatchObject({ outcome: 'APPLIED' });
}

/** A paid order; with a second payment, `pi_2` of 500 is surplus. */
async function paidOrder(world: World, kind: Order['kind'] = 'PURCHASE', payments = 1): Promise<ItemKey> {
  const sessionIds = Array.from({ length: payments }, (_, index) => `cs_${String(index + 1)}`);
  const order = await world.waitingOrder({ kind, sessionIds });
  for (let attempt = 1; attempt <= payments; attempt += 1) await pay(world, order, attempt);
  return orderKey(order);
}

async function dispute(world: World, id: string, status: string, fields: object = {}): Promise<void> {
  const reported = stripeDispute({ id, status, amount: 100, ...fields });
  const event = eventOf(world, 'charge.dispute.updated', reported);
  if (event.object.kind === 'dispute') world.account.disputes.set(id, event.object.dispute);
  expect(await world.apply(event)).toMatchObject({ outcome: 'APPLIED' });
}

const OF_OVERPAYMENT = { payment_intent: 'pi_2', amount: 500 };

describe('disputes as they come are no problem', () => {
  it.each(['PURCHASE', 'TOP_UP'] as const)(
    'of a %s: open, lost, won after it, and lost again',
    async (kind) => {
      const world = await makeWorld();
      await paidOrder(world, kind);
      await dispute(world, 'du_1', 'warning_needs_response');
      await dispute(world, 'du_2', 'needs_response');
      await dispute(world, 'du_3', 'lost');
      await dispute(world, 'du_4', 'lost');
      await dispute(world, 'du_4', 'won');
      await dispute(world, 'du_5', 'lost');
      await dispute(world, 'du_5', 'won');
      await dispute(world, 'du_5', 'lost', { amount: 50 });
      expect(await auditedProblems(world)).toEqual([]);
    },
  );

  it('of a top-up whose value is spent', async () => {
    const world = await makeWorld();
    await paidOrder(world, 'TOP_UP');
    await world.fund('demo', 'alice', '-450');
    await dispute(world, 'du_1', 'lost', { amount: 200 });
    expect(await auditedProblems(world)).toEqual([]);
    await dispute(world, 'du_1', 'won', { amount: 200 });
    expect(await world.balance('demo', 'alice')).toBe('50');
    expect(await auditedProblems(world)).toEqual([]);
  });

  it('of a surplus payment', async () => {
    const world = await makeWorld();
    await paidOrder(world, 'PURCHASE', 2);
    await dispute(world, 'du_1', 'lost', OF_OVERPAYMENT);
    expect(await auditedProblems(world)).toEqual([]);
    await dispute(world, 'du_1', 'won', OF_OVERPAYMENT);
    expect(await auditedProblems(world)).toEqual([]);
  });
});

describe('planted damage to disputes is named', () => {
  it('a loss that is booked twice', async () => {
    const world = await makeWorld();
    await paidOrder(world);
    await dispute(world, 'du_1', 'lost');
    await doubleItem(world, await entryOf(world, { providerId: 'du_1' }), nextEntryKey(world));
    expect(await auditedProblems(world)).toEqual(['dispute du_1 by entries: expected 100, found 200']);
  });

  it('a loss that is not booked', async () => {
    const world = await makeWorld();
    await paidOrder(world);
    await dispute(world, 'du_1', 'lost');
    await deleteItem(world, await entryOf(world, { providerId: 'du_1' }));
    expect(await auditedProblems(world)).toEqual(['dispute du_1 by entries: expected 100, found 0']);
  });

  it('a loss that is booked for another dispute, though the sums agree', async () => {
    const world = await makeWorld();
    await paidOrder(world);
    await dispute(world, 'du_1', 'lost');
    await dispute(world, 'du_2', 'lost');
    await damage(world, await entryOf(world, { providerId: 'du_2' }), 'provider', { S: 'du_1' });
    expect(await auditedProblems(world)).toEqual([
      'dispute du_1 by entries: expected 100, found 200',
      'dispute du_2 by entries: expected 100, found 0',
    ]);
  });

  it('one that was won after its loss, which still stands', async () => {
    const world = await makeWorld();
    const order = await paidOrder(world);
    await dispute(world, 'du_1', 'lost');
    await damage(world, order, 'disputes.0.s', { S: 'won' });
    expect(await auditedProblems(world)).toEqual(['dispute du_1: expected not booked, found booked']);
    await damage(world, order, 'disputes.0.b', undefined);
    expect(await auditedProblems(world)).toEqual(['dispute du_1 by entries: expected 0, found 100']);
  });

  it('one that was lost, and is not said to be booked', async () => {
    const world = await makeWorld();
    const order = await paidOrder(world);
    await dispute(world, 'du_1', 'lost');
    await damage(world, order, 'disputes.0.b', undefined);
    expect(await auditedProblems(world)).toEqual([
      'dispute du_1: expected booked, found not booked',
      'dispute du_1 by entries: expected 0, found 100',
    ]);
  });

  it('one that its order has twice, and one that it does not know', async () => {
    const world = await makeWorld();
    const order = await paidOrder(world);
    await dispute(world, 'du_1', 'needs_response');
    await dispute(world, 'du_2', 'lost');
    await damage(world, order, 'disputes.1.i', { S: 'du_1' });
    expect(await auditedProblems(world)).toEqual([
      'dispute du_1: expected kept once, found 2 times',
      'dispute du_1 by entries: expected 100, found 0',
      'dispute du_2 by entries: expected 0, found 100',
    ]);
  });

  it('one of a surplus payment that was taken from the merchant', async () => {
    const world = await makeWorld();
    await paidOrder(world, 'PURCHASE', 2);
    await dispute(world, 'du_1', 'lost', OF_OVERPAYMENT);
    await damage(world, await entryOf(world, { providerId: 'du_1' }), 'postings.0.d', { S: 'merchant:cafe' });
    expect(await auditedProblems(world)).toEqual([
      'dispute du_1 by entries: expected 0, found 500',
      'dispute du_1 by entries: expected 500, found 0',
    ]);
  });
});

describe('planted damage to surplus payments is named', () => {
  it('one that is not booked, or twice', async () => {
    const world = await makeWorld();
    await paidOrder(world, 'PURCHASE', 3);
    await deleteItem(world, await entryOf(world, { providerId: 'pi_2' }));
    await doubleItem(world, await entryOf(world, { providerId: 'pi_3' }), nextEntryKey(world));
    expect(await auditedProblems(world)).toEqual([
      'surplus payment pi_2 by entries: expected 500, found 0',
      'surplus payment pi_3 by entries: expected 500, found 1000',
    ]);
  });

  it('one that its order does not know, and one of another amount', async () => {
    const world = await makeWorld();
    const order = await paidOrder(world, 'PURCHASE', 3);
    await damage(world, order, 'surplus.1', undefined);
    await damage(world, order, 'surplus.0.a', { N: '400' });
    expect(await auditedProblems(world)).toEqual([
      'surplus payment pi_2 by entries: expected 400, found 500',
      'surplus payment pi_3 by entries: expected 0, found 500',
    ]);
  });
});
