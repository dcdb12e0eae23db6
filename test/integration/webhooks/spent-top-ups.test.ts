import { describe, expect, it } from 'vitest';
import { stripeDispute, stripeRefund } from '../../unit/provider/stripe/stripe-objects.ts';
import { admin } from '../../support/harness.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import type { ProviderEvent } from '../../../src/provider/port.ts';
import { type World, eventOf } from './support.ts';
import { paid } from './reported-refunds.ts';

/** Refunds and disputes of a top-up whose value is spent by then, on the engine (docs/DESIGN.md §8). */

/** A ledger in which money arrives on the wallet right after each of the next reads of its balance. */
function withArrivals(world: World, ...amounts: readonly string[]): Ledger {
  const left = [...amounts];
  const get: Ledger['store']['get'] = async (keys) => {
    const items = await world.ledger.store.get(keys);
    const amount = keys.some(({ type }) => type === 'BALANCE#ECOPAY') ? left.shift() : undefined;
    if (amount !== undefined) await world.fund('demo', 'alice', amount);
    return items;
  };
  return { ...world.ledger, store: { ...world.ledger.store, get } };
}

describe('a fact that takes back what a top-up gave and is all spent', () => {
  const refundOf = (world: World, amount: number): ProviderEvent =>
    eventOf(world, 'refund.created', stripeRefund({ metadata: {}, amount }));

  async function spentTopUp(): Promise<{ world: World; order: Order }> {
    const { world, order } = await paid({ kind: 'TOP_UP' });
    const spent = { accountId: 'alice', asset: 'ECOPAY', amount: '-500', reason: 'spent' };
    await adjustBalance(world.ledger, admin('demo'), world.key(), spent);
    expect(await world.balance('demo', 'alice')).toBe('0');
    return { world, order };
  }

  it('takes what arrives at that very instant before anything is owed', async () => {
    const { world, order } = await spentTopUp();
    const event = refundOf(world, 200);
    expect(await applyEvent(withArrivals(world, '300'), event)).toMatchObject({ outcome: 'APPLIED' });
    expect(await world.balance('demo', 'alice')).toBe('100');
    const after = await world.now(order);
    expect([after.receivable.toFixed(), after.refunded.toFixed()]).toEqual(['0', '200']);
    expect(await world.recorded('alice', 'receivable:alice', 'ECOPAY')).toBe('0');
    expect(await world.recorded('alice', 'stripe', 'ECOPAY')).toBe('-300');
  });

  it('is lost in a dispute: takes what arrives at that very instant as well', async () => {
    const { world, order } = await spentTopUp();
    const event = eventOf(world, 'charge.dispute.closed', stripeDispute({ status: 'lost', amount: 500 }));
    expect(await applyEvent(withArrivals(world, '120'), event)).toMatchObject({ outcome: 'APPLIED' });
    expect(await world.balance('demo', 'alice')).toBe('0');
    expect((await world.now(order)).receivable.toFixed()).toBe('380');
    expect(await world.recorded('alice', 'receivable:alice', 'ECOPAY')).toBe('-380');
  });

  it('is booked in the end, however often the wallet moves: with what was there, and the rest owed', async () => {
    const { world, order } = await spentTopUp();
    const event = refundOf(world, 200);
    const ledger = withArrivals(world, '10', '10', '10', '10', '10', '10');
    expect(await applyEvent(ledger, event)).toMatchObject({ kind: 'DONE', outcome: 'APPLIED' });
    // Read five times, as 0, 10, 20, 30 and 40; what arrives after the last stays.
    expect(await world.balance('demo', 'alice')).toBe('10');
    expect((await world.now(order)).receivable.toFixed()).toBe('160');
    expect(await world.recorded('alice', 'receivable:alice', 'ECOPAY')).toBe('-160');
    expect(await world.recorded('alice', 'stripe', 'ECOPAY')).toBe('-300');
    expect(
      (await world.entries('demo', 'alice')).filter(({ operation }) => operation === 'REFUND'),
    ).toHaveLength(1);
  });
});
