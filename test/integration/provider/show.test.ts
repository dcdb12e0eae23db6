import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Shown } from '../../../src/cli/show-data.ts';
import { look, readSubject } from '../../../src/cli/show-look.ts';
import { printedShown } from '../../../src/cli/show-output.ts';
import { findOrderOf } from '../../../src/ledger/usecases/queries/find-order.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { putEvent } from '../../../src/ledger/items/event-item.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { customer } from '../../support/harness.ts';
import { type ProviderHarness, applyEvents, checkedOut, makeProviderHarness, paidByCard } from './support.ts';

/** What `npm run show` finds, on orders that were really paid, refunded and disputed. */

let harness: ProviderHarness;
let disputed: { readonly id: string; readonly orderId: string; readonly paymentId: string };
beforeAll(async () => {
  harness = await makeProviderHarness();
  await harness.fund('t_1', 'u_1', '50.00');
  disputed = await paidByCard(harness, '40.00');
  await harness.simulator.dashboardRefund({ paymentIntent: disputed.paymentId, amount: 1000 });
  await harness.simulator.openDispute({ paymentIntent: disputed.paymentId });
  await applyEvents(harness);
});
afterAll(async () => {
  await harness.stop();
});

async function shown(...words: readonly string[]): Promise<Shown> {
  const found = await look(harness.ledger, readSubject(words));
  if (typeof found === 'string') throw new Error(found);
  return found;
}

it('an order that was paid by card, refunded in part and disputed, with its entries and balances', async () => {
  const { order, entries, account, balances, problems } = await shown(disputed.id);
  expect(order).toMatchObject({
    id: disputed.id,
    tenant: 't_1',
    accountId: 'u_1',
    orderId: disputed.orderId,
    state: 'PAID',
    amount: '40',
    currency: 'USD',
    refunded: '10',
    refundable: '30',
    payment: { method: 'CHECKOUT', paymentId: disputed.paymentId },
    attempts: [{ number: 1, state: 'CLOSED', paymentId: disputed.paymentId }],
    refunds: [{ amount: '10', state: 'SUCCEEDED', source: 'DASHBOARD' }],
    disputes: [{ paymentId: disputed.paymentId, status: 'open', amount: '40', recorded: false }],
  });
  expect(order?.timeline.map(({ cause }) => cause)).toEqual([
    'CREATED',
    'CHECKOUT_OPENED',
    'PAYMENT_RECEIVED',
    'REFUND_SUCCEEDED',
    'DISPUTE_OPENED',
  ]);
  expect(entries?.map(({ operation, postings }) => [operation, postings])).toEqual([
    ['PAYMENT', [{ debit: 'stripe', credit: 'merchant:m_1', asset: 'USD', amount: '40' }]],
    ['REFUND', [{ debit: 'merchant:m_1', credit: 'stripe', asset: 'USD', amount: '10' }]],
  ]);
  expect(account).toBe('t_1#u_1');
  expect(balances).toContainEqual({ asset: 'ECOPAY', amount: '50' });
  expect(problems).toEqual([]);
});

it('the same order by every name that it has', async () => {
  const expected = await shown(disputed.id);
  const [refund, dispute] = [expected.order?.refunds[0], expected.order?.disputes[0]];
  expect(refund?.providerRefundId).toMatch(/^re_/);
  expect(dispute?.disputeId).toMatch(/^du_/);
  const [attempt] = (await harness.order('t_1', 'u_1', disputed.orderId)).attempts;
  for (const words of [
    ['t_1#u_1', disputed.orderId],
    [`t_1#u_1/${disputed.orderId}`],
    ['t_1#u_1', `ORDER#${disputed.orderId}`],
    [disputed.paymentId],
    [attempt?.sessionId ?? ''],
    [refund?.providerRefundId ?? ''],
    [dispute?.disputeId ?? ''],
  ]) {
    expect([words, await shown(...words)]).toEqual([words, expected]);
  }
});

it('an event with the order that it is about', async () => {
  const events = await harness.ledger.provider.listEvents({ limit: 100 });
  const items = events.kind === 'DONE' ? events.value.items : [];
  const eventId = items.find(({ type }) => type === 'charge.dispute.created')?.eventId ?? '';
  const found = await shown(eventId);
  expect(found.event).toMatchObject({ eventId, type: 'charge.dispute.created', outcome: 'APPLIED' });
  expect(found.event?.orderId).toBe(disputed.id);
  expect(found.order?.id).toBe(disputed.id);
});

it('events that had no effect on the order, and none that are about another', async () => {
  const { orderId } = await harness.openOrder('t_1', 'u_3', '5.00');
  const other = await harness.openOrder('t_1', 'u_3', '5.00');
  const nowMs = harness.clock.nowMs();
  for (const [eventId, about] of [
    ['evt_ours', orderId],
    ['evt_others', other.orderId],
  ] as const) {
    const note = putEvent(
      {
        eventId,
        type: 'payment_intent.succeeded',
        outcome: 'MISMATCH',
        livemode: false,
        occurredAtMs: nowMs,
        processedAtMs: nowMs,
        tenant: 't_1',
        order: { tenant: 't_1', accountId: 'u_3', orderId: about },
        detail: 'another amount',
        transactionId: eventId,
        ttlS: nowMs / 1000 + 86_400,
      },
      'FAILED',
    );
    await harness.ledger.transactor.commit(plan(eventId, note));
  }
  const { problems } = await shown('t_1#u_3', orderId);
  expect(problems).toMatchObject([{ eventId: 'evt_ours', outcome: 'MISMATCH', detail: 'another amount' }]);
});

it('a payment that nobody told of yet, by asking Stripe; and it changes nothing', async () => {
  const open = await checkedOut(harness, '30.00');
  await harness.simulator.payByCard({ session: open.sessionId });
  const listed = await harness.ledger.provider.listPayments({ limit: 1 });
  const paymentId = listed.kind === 'DONE' ? (listed.value.items[0]?.paymentId ?? '') : '';
  const before = await harness.order('t_1', 'u_1', open.orderId);
  expect(await shown(paymentId)).toMatchObject({
    order: { id: open.id, state: 'SESSION_CREATED' },
    entries: [],
  });
  expect(await harness.order('t_1', 'u_1', open.orderId)).toEqual(before);
});

it('an account: its balances, its latest orders and entries', async () => {
  const { id } = await harness.openOrder('t_1', 'u_2', '12.00');
  await harness.fund('t_1', 'u_2', '20.00');
  const paid = await charge(harness.ledger, customer('u_2'), harness.key(), { orderId: id });
  expect(paid.kind).toBe('ChargeSuccess');
  const { balances, orders, entries } = await shown('t_1#u_2');
  expect(balances?.[0]).toEqual({ asset: 'ECOPAY', amount: '8' });
  expect(orders).toMatchObject([{ id, state: 'PAID', amount: '12', currency: 'USD' }]);
  expect(entries?.map(({ operation, orderId }) => [operation, orderId])).toEqual([
    ['CHARGE', id],
    ['ADJUSTMENT', undefined],
  ]);
});

it('an order with the refunds that were made in the dashboard, also by their ids', async () => {
  const paid = await paidByCard(harness, '30.00');
  await harness.simulator.dashboardRefund({ paymentIntent: paid.paymentId, amount: 500 });
  await harness.simulator.dashboardRefund({
    paymentIntent: paid.paymentId,
    amount: 700,
    status: 'pending',
  });
  await applyEvents(harness);
  const found = await shown(paid.id);
  expect(found.order).toMatchObject({ refunded: '5', refundPending: '7' });
  expect(found.order?.refunds.map(({ amount, state }) => [amount, state]).sort()).toEqual([
    ['5', 'SUCCEEDED'],
    ['7', 'PENDING'],
  ]);
  const pending = found.order?.refunds.find(({ state }) => state === 'PENDING');
  expect(await findOrderOf(harness.ledger, pending?.providerRefundId ?? '')).toEqual({
    kind: 'FOUND',
    ref: { tenant: 't_1', accountId: 'u_1', orderId: paid.orderId },
  });
  expect(printedShown(found)).toContain(`amount 7, state PENDING, source DASHBOARD`);
});

it('prints it in blocks, and nothing of what claims hold', async () => {
  const text = printedShown(await shown(disputed.id));
  for (const line of [
    `order ${disputed.id}`,
    `  t_1#u_1 ${disputed.orderId}`,
    '  amount 40 USD, refunded 10, refunds pending 0, refundable 30',
    '      stripe → merchant:m_1  40 USD',
    'balances of t_1#u_1',
    '  ECOPAY  50',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).not.toMatch(/https?:|owner|marker|undefined|\[object/);
});

it.each([
  [['t_1#u_1', '01K9ZZZZZZZZZZZZZZZZZZZZZZ'], 't_1#u_1 has no order 01K9ZZZZZZZZZZZZZZZZZZZZZZ.'],
  [['nobody#u_1'], 'TENANTS_FILE has no tenant nobody.'],
  [['pi_unknown'], 'pi_unknown is of no order of ours.'],
  [['re_unknown'], 're_unknown is of no order of ours.'],
  [['dp_unknown'], 'dp_unknown is of no order of ours.'],
  [['evt_unknown'], 'No event evt_unknown came here, or its thirty days are over.'],
])('says of %s that there is none', async (words, sentence) => {
  expect(await look(harness.ledger, readSubject(words))).toBe(sentence);
});

it('throws, and says of nothing that there is none, where Stripe could not be asked', async () => {
  await harness.simulator.failNextRequests({
    method: 'GET',
    path: '/v1/payment_intents/pi_out',
    count: 5,
    status: 500,
    type: 'api_error',
  });
  await expect(look(harness.ledger, readSubject(['pi_out']))).rejects.toThrow('Stripe could not be asked');
});
