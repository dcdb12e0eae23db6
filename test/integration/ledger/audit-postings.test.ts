import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { type ItemKey, orderKey } from '../../../src/ledger/kernel/keys.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { auditedProblems, damage, entryOf } from '../../support/damage.ts';
import { type Harness, admin, customer, makeHarness, terminal } from '../../support/harness.ts';
import { stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { eventOf, makeWorld, metadataOf } from '../webhooks/support.ts';

/** The audit on what the postings of an order say beside its amounts: where value came from, and what it earned. */

async function makeLedger(): Promise<Harness> {
  const harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  onTestFinished(harness.close);
  return harness;
}

/** 480 yen from alice's wallet, with 4 points and 4.8 kg; `refunded` of them went back. */
async function chargedOrder(harness: Harness, refunded?: string): Promise<ItemKey> {
  const { ledger, key } = harness;
  await harness.fund('demo', 'alice', '1000');
  const { id, orderId } = await harness.openOrder('demo', 'alice', '480');
  const paid = await charge(ledger, customer('alice', 'demo'), key(), { orderId: id });
  expect(paid.kind).toBe('ChargeSuccess');
  if (refunded !== undefined) {
    const back = await refund(ledger, admin('demo'), key(), { orderId: id, amount: refunded });
    expect(back.kind).toBe('RefundSuccess');
  }
  return orderKey({ tenant: 'demo', accountId: 'alice', orderId });
}

/** 500 yen in cash at the till `cafe-till`, of which 100 went back. */
async function cashOrder(harness: Harness): Promise<ItemKey> {
  const { ledger, key } = harness;
  const cash = { accountId: 'alice', amount: '500', method: 'CASH' as const };
  const paid = await topUp(ledger, terminal('cafe', 'demo'), key(), cash);
  if (paid.kind !== 'TopUpSuccess') throw new Error(paid.kind);
  const { orderId } = paid;
  const id = encodeNodeId('Order', 'demo', 'alice', orderId);
  const back = await refund(ledger, terminal('cafe', 'demo'), key(), { orderId: id, amount: '100' });
  expect(back.kind).toBe('RefundSuccess');
  return orderKey({ tenant: 'demo', accountId: 'alice', orderId });
}

describe('planted damage to where value comes from, or goes to, is named', () => {
  it('an adjustment out of a merchant', async () => {
    const harness = await makeLedger();
    await harness.fund('demo', 'alice', '1000');
    const entry = await entryOf(harness, { operation: 'ADJUSTMENT' });
    await damage(harness, entry, 'postings.0.d', { S: 'merchant:cafe' });
    expect(await auditedProblems(harness)).toEqual([
      'posting: expected accounts that it may move between, found merchant:cafe → wallet:alice',
    ]);
  });

  it('a top-up in cash at another till, and its refund there', async () => {
    const harness = await makeLedger();
    await cashOrder(harness);
    const [paid, back] = [{ operation: 'TOP_UP' }, { operation: 'REFUND' }];
    await damage(harness, await entryOf(harness, paid), 'postings.0.d', { S: 'cash:bar-till' });
    await damage(harness, await entryOf(harness, back), 'postings.0.c', { S: 'cash:bar-till' });
    expect(await auditedProblems(harness)).toEqual([
      'posting: expected accounts that it may move between, found cash:bar-till → wallet:alice',
      'posting: expected accounts that it may move between, found wallet:alice → cash:bar-till',
    ]);
  });

  it('points that a till paid for', async () => {
    const harness = await makeLedger();
    await chargedOrder(harness);
    const entry = await entryOf(harness, { operation: 'CHARGE' });
    await damage(harness, entry, 'postings.1.d', { S: 'cash:cafe-till' });
    expect(await auditedProblems(harness)).toContain(
      'posting: expected accounts that it may move between, found cash:cafe-till → wallet:alice',
    );
  });

  it('a card payment that nobody at the provider made, or of another payment', async () => {
    const world = await makeWorld();
    const order = await world.waitingOrder();
    const session = { id: 'cs_1', status: 'complete', payment_status: 'paid', url: null };
    const fields = { ...session, payment_intent: 'pi_1', metadata: metadataOf(order) };
    await world.apply(eventOf(world, 'checkout.session.completed', stripeSession(fields)));
    expect(await auditedProblems(world)).toEqual([]);
    const entry = await entryOf(world, { operation: 'PAYMENT' });
    await damage(world, entry, 'provider', { S: 'pi_2' });
    expect(await auditedProblems(world)).toEqual([
      'payment entries: expected PAYMENT pi_1, found PAYMENT pi_2',
    ]);
    await damage(world, entry, 'provider', { S: 'pi_1' });
    await damage(world, entry, 'postings.0.d', { S: 'issuer' });
    expect(await auditedProblems(world)).toEqual([
      'posting: expected accounts that it may move between, found issuer → merchant:cafe',
    ]);
  });

  it('value from nowhere, with a balance that has it', async () => {
    const harness = await makeLedger();
    await harness.fund('demo', 'alice', '1000');
    const entry = await entryOf(harness, { operation: 'ADJUSTMENT' });
    await damage(harness, entry, 'op', { S: 'TOP_UP' });
    expect(await auditedProblems(harness)).toEqual(['order: expected named, found none']);
  });
});

describe('planted damage to what an order earned is named', () => {
  it('more points than the order says, with a balance that has them', async () => {
    const harness = await makeLedger();
    await chargedOrder(harness);
    const entry = await entryOf(harness, { operation: 'CHARGE' });
    await damage(harness, entry, 'postings.1.n', { N: '4000' });
    const balance = { uuid: 'demo#alice', type: 'BALANCE#POINT' };
    await damage(harness, balance, 'balance', { N: '4000' });
    expect(await auditedProblems(harness)).toEqual(['POINT given by entries: expected 4, found 4000']);
  });

  it('an order that says something else than its entry', async () => {
    const harness = await makeLedger();
    const order = await chargedOrder(harness);
    await damage(harness, order, 'payment.p', { N: '40' });
    await damage(harness, order, 'payment.c', undefined);
    expect(await auditedProblems(harness)).toEqual([
      'POINT given by entries: expected 40, found 4',
      'METRIC/CO2_KG given by entries: expected 0, found 4.8',
    ]);
  });

  it('a refund that took back too little', async () => {
    const harness = await makeLedger();
    await chargedOrder(harness, '480');
    const entry = await entryOf(harness, { operation: 'REFUND' });
    await damage(harness, entry, 'postings.1.n', { N: '3' });
    await damage(harness, { uuid: 'demo#alice', type: 'BALANCE#POINT' }, 'balance', { N: '1' });
    await damage(harness, entry, 'postings.3.n', { N: '4.7' });
    await damage(harness, { uuid: 'demo#alice', type: 'METRICS' }, 'co2_reduction_kg', { N: '0.1' });
    expect(await auditedProblems(harness)).toEqual([
      'POINT taken back by entries: expected 4, found 3',
      'METRIC/CO2_KG taken back by entries: expected 4.8, found 4.7',
    ]);
  });

  it('nothing of a refund in part, whose points are whole', async () => {
    const harness = await makeLedger();
    await chargedOrder(harness, '100');
    expect(await harness.balance('demo', 'alice', 'POINT')).toBe('4');
    expect(await auditedProblems(harness)).toEqual([]);
  });
});

describe('planted damage to a state is named', () => {
  it('an order that is closed as refunded in full, and is not', async () => {
    const harness = await makeLedger();
    const order = await chargedOrder(harness, '100');
    await damage(harness, order, 'state', { S: 'REFUNDED' });
    expect(await auditedProblems(harness)).toEqual(['state: expected PAID or CONFIRMED, found REFUNDED']);
  });

  it('an order that is refunded in full, and does not say so', async () => {
    const harness = await makeLedger();
    const order = await chargedOrder(harness, '480');
    await damage(harness, order, 'state', { S: 'CONFIRMED' });
    expect(await auditedProblems(harness)).toEqual(['state: expected REFUNDED, found CONFIRMED']);
  });
});
