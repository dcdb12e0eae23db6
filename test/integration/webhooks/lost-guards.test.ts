import { describe, expect, it } from 'vitest';
import { deleteItem } from '../../support/damage.ts';
import { stripePayment, stripeRefund, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { PAID, knowsSession, paymentOf } from './reported-payments.ts';
import { type World, eventOf, makeWorld, metadataOf, rawItem } from './support.ts';

/** A recorded payment's item can be lost, in damage or a restore: the order knows what it was paid by. */

const GUARD = { uuid: 'stripe#pi_1', type: 'PAYMENT' };

async function paidThenLost(sessionIds: readonly string[] = ['cs_1']): Promise<{
  readonly world: World;
  readonly order: Awaited<ReturnType<World['waitingOrder']>>;
}> {
  const world = await makeWorld();
  const order = await world.waitingOrder({ sessionIds });
  await pay(world, order, 'cs_1', 'pi_1');
  return { world, order };
}

async function pay(
  world: World,
  order: Awaited<ReturnType<World['waitingOrder']>>,
  id: string,
  paymentId: string,
  attempt = 1,
): Promise<unknown> {
  const session = stripeSession({
    ...PAID,
    id,
    payment_intent: paymentId,
    metadata: metadataOf(order, attempt),
  });
  return world.apply(eventOf(world, 'checkout.session.completed', session));
}

describe('a payment whose item is lost', () => {
  it('is not recorded again when it is told of again: its item is written anew', async () => {
    const { world, order } = await paidThenLost();
    const before = await world.now(order);
    const item = await rawItem(world, GUARD);
    await deleteItem(world, GUARD);
    expect(await pay(world, order, 'cs_1', 'pi_1')).toMatchObject({ kind: 'DONE', outcome: 'APPLIED' });
    const after = await world.now(order);
    expect(after).toMatchObject({
      state: 'PAID',
      version: before.version,
      overpayments: [],
      steps: before.steps,
    });
    expect(await world.entries('demo', 'alice')).toHaveLength(1);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('500');
    expect(await rawItem(world, GUARD)).toEqual({ ...item, at: (await rawItem(world, GUARD))?.['at'] });
    expect(world.counted.get('RecordedPaymentRestored')).toBe(1);
    expect(world.counted.get('SurplusPayment')).toBeUndefined();
  });

  it('is not recorded again when its refund is told of: that is the order’s refund', async () => {
    const { world, order } = await paidThenLost();
    await deleteItem(world, GUARD);
    knowsSession(world, metadataOf(order));
    world.account.payments.set('pi_1', paymentOf(stripePayment({ id: 'pi_1', metadata: metadataOf(order) })));
    const refund = stripeRefund({
      id: 're_1',
      payment_intent: 'pi_1',
      amount: 100,
      status: 'succeeded',
      metadata: {},
    });
    expect(await world.apply(eventOf(world, 'refund.created', refund))).toMatchObject({ outcome: 'APPLIED' });
    const after = await world.now(order);
    expect([after.overpayments, after.refunded.toFixed(), after.refundable.toFixed()]).toEqual([
      [],
      '100',
      '400',
    ]);
    expect(await world.recorded('alice', 'merchant:cafe')).toBe('400');
  });

  it('of an overpayment stays one', async () => {
    const { world, order } = await paidThenLost(['cs_1', 'cs_2']);
    await pay(world, order, 'cs_2', 'pi_2', 2);
    const guard = { uuid: 'stripe#pi_2', type: 'PAYMENT' };
    await deleteItem(world, guard);
    await pay(world, order, 'cs_2', 'pi_2', 2);
    const after = await world.now(order);
    expect(after.overpayments).toMatchObject([{ paymentId: 'pi_2' }]);
    expect(after.steps).toHaveLength(1);
    expect(await world.recorded('alice', `surplus:${order.orderId}`)).toBe('500');
    expect(await rawItem(world, guard)).toMatchObject({ booked_as: { S: 'SURPLUS' } });
  });
});
