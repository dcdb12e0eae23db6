import { describe, expect, it } from 'vitest';
import { decimal } from '../../../../../src/ledger/kernel/money.ts';
import { isFull } from '../../../../../src/ledger/model/orders/order-size.ts';
import { type Order, awaitsOverpaymentRefund } from '../../../../../src/ledger/model/orders/order.ts';
import { applyEvent } from '../../../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { ORDER_ID, newOrder, payment, refund, session, tell, withSessions } from './provider-objects.ts';
import { memoryLedger } from './memory-ledger.ts';
import { type Ending, type Story, endings } from './story.ts';
import { claimed, ours } from './story-parts.ts';
import type { Reported } from './provider-objects.ts';
import type { UpdateResult } from '../../../../../src/ledger/usecases/provider-updates/provider-update.ts';

const OURS = '01HZY3V9QK7F0B6W8N4T2D5XFA';

/*
 * What is made at the provider is booked once in a full order too, whatever is told again, late or out of turn. The same
 * stories as of other orders, with the same money in the end.
 */

/** As no line makes an order, but quick to write and read a thousand times. */
function full(order: Order): Order {
  const amount = decimal('1');
  return { ...order, lines: [{ name: 'x'.repeat(180_000), quantity: 1, unitPrice: amount, amount }] };
}

const paidFirst = [tell.session('completed', session(1)), tell.payment('succeeded', payment(1))];
const order = full(withSessions(newOrder()));
const topUp = full(withSessions(newOrder('TOP_UP')));

const PAID: Partial<Ending> = {
  state: 'PAID',
  refundable: '500',
  refunded: '0',
  refundPending: '0',
  refunds: [],
  credited: 1,
  sums: { stripe: '-500', merchant: '500', receivable: '0', overpayment: '0' },
};

async function expectEnding(story: Story, ending: Partial<Ending>): Promise<void> {
  expect(isFull(story.order)).toBe(true);
  const found = await endings(story);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject(ending);
}

describe('a refund made at the provider, of a full order', () => {
  it('in parts, one of which waits first', () =>
    expectEnding(
      {
        order,
        first: paidFirst,
        events: [
          tell.refund('created', refund('re_1', 200, 'pending')),
          tell.refund('updated', refund('re_1', 200, 'succeeded')),
          tell.refund('created', refund('re_2', 100, 'succeeded')),
        ],
      },
      {
        ...PAID,
        refundable: '200',
        refunded: '300',
        refunds: ['re_1 SUCCEEDED 200', 're_2 SUCCEEDED 100'],
        sums: { stripe: '-200', merchant: '200', receivable: '0', overpayment: '0' },
      },
    ));

  it.each(['pending', 'succeeded'] as const)('that fails after it was %s', (before) =>
    expectEnding(
      {
        order,
        first: paidFirst,
        events: [
          tell.refund('created', refund('re_1', 500, 'pending')),
          tell.refund('updated', refund('re_1', 500, before)),
          tell.refund('failed', refund('re_1', 500, 'failed')),
        ],
      },
      { ...PAID, refunds: ['re_1 FAILED 500'] },
    ),
  );

  it('in full', () =>
    expectEnding(
      {
        order,
        first: paidFirst,
        events: [
          tell.refund('created', refund('re_1', 300, 'succeeded')),
          tell.refund('created', refund('re_2', 200, 'succeeded')),
          tell.chargeRefunded(),
        ],
        provider: (state) => {
          state.refunds
            .set('re_1', refund('re_1', 300, 'succeeded'))
            .set('re_2', refund('re_2', 200, 'succeeded'));
        },
      },
      {
        ...PAID,
        state: 'REFUNDED',
        refundable: '0',
        refunded: '500',
        refunds: ['re_1 SUCCEEDED 300', 're_2 SUCCEEDED 200'],
        sums: { stripe: '0', merchant: '0', receivable: '0', overpayment: '0' },
      },
    ));

  it('whose value was spent: the rest is owed, and paid back first when the refund fails', () =>
    expectEnding(
      {
        order: topUp,
        first: paidFirst,
        spent: '400',
        events: [
          tell.refund('created', refund('re_1', 300, 'pending')),
          tell.refund('failed', refund('re_1', 300, 'failed')),
        ],
      },
      {
        state: 'PAID',
        refundable: '500',
        refundPending: '0',
        receivable: '0',
        wallet: '100',
        refunds: ['re_1 FAILED 300'],
        sums: { stripe: '-500', merchant: '0', receivable: '0', overpayment: '0' },
      },
    ));

  it('of a surplus payment, in parts of which one fails in the end', () => {
    const part = (id: string, amount: number, status: 'pending' | 'succeeded' | 'failed') =>
      refund(id, amount, status, { paymentId: 'pi_2' });
    return expectEnding(
      {
        order: full(withSessions(newOrder(), 2)),
        first: [...paidFirst, tell.session('completed', session(2))],
        events: [
          tell.refund('created', part('re_1', 300, 'succeeded')),
          tell.refund('failed', part('re_1', 300, 'failed')),
          tell.refund('created', part('re_2', 200, 'succeeded')),
        ],
      },
      {
        ...PAID,
        overpayment: ['500 200'],
        sums: { stripe: '-800', merchant: '500', receivable: '0', overpayment: '300' },
      },
    );
  });

  it('of a surplus payment is waited for until it is known how it ended, and no longer', async () => {
    const memory = memoryLedger();
    const before = full(withSessions(newOrder(), 2));
    memory.put(before);
    const part = (status: 'pending' | 'failed') => refund('re_1', 500, status, { paymentId: 'pi_2' });
    const seen: unknown[] = [];
    for (const [index, event] of [
      ...paidFirst,
      tell.session('completed', session(2)),
      tell.refund('created', part('pending')),
      tell.refund('failed', part('failed')),
      tell.refund('created', part('pending')),
    ].entries()) {
      await applyEvent(memory.ledger, { ...event, eventId: `evt_${String(index)}` });
      const now = memory.order(before);
      const [paid] = now.overpayments;
      if (paid === undefined) continue;
      const waits = awaitsOverpaymentRefund({ ...paid, asked: 1 });
      seen.push([paid.refundCount, paid.pendingRefundCount, waits]);
    }
    expect(seen).toEqual([
      [0, 0, true],
      [1, 1, true],
      [1, 0, false],
      [1, 0, false],
    ]);
  });

  it('is in an item of its own: the order doesn’t grow by it', async () => {
    const memory = memoryLedger();
    memory.put(order);
    const events = [
      ...paidFirst,
      ...Array.from({ length: 50 }, (_, index) =>
        tell.refund('created', refund(`re_${String(index)}`, 2, 'succeeded')),
      ),
    ];
    const sizes: number[] = [];
    for (const [index, event] of events.entries()) {
      await applyEvent(memory.ledger, { ...event, eventId: `evt_${String(index)}` });
      sizes.push(JSON.stringify(memory.order(order)).length);
    }
    expect((sizes.at(-1) ?? 0) - (sizes[2] ?? 0)).toBeLessThan(20);
    const found = memory.order(order);
    expect(found.orderId).toBe(ORDER_ID);
    expect([found.refunded.toFixed(), found.refundCount, found.pendingRefundCount]).toEqual(['100', 50, 0]);
    expect(memory.refunds(order).map(({ amount, state }) => [amount.toFixed(), state])).toEqual(
      Array.from({ length: 50 }, () => ['2', 'SUCCEEDED']),
    );
    expect(memory.entries.filter(({ operation }) => operation === 'REFUND')).toHaveLength(50);
  });

  it('is known again whatever its number, and ours among them', async () => {
    const memory = memoryLedger();
    const small = withSessions(newOrder());
    memory.put(small);
    let heard = 0;
    const hear = (event: Reported): Promise<UpdateResult> =>
      applyEvent(memory.ledger, { ...event, eventId: `evt_${String((heard += 1))}` });
    for (const event of paidFirst) await hear(event);
    memory.putChange(claimed(memory.order(small), OURS, '50'));
    for (let index = 0; index < 120; index += 1)
      await hear(tell.refund('created', refund(`re_${String(index)}`, 2, 'succeeded')));
    // Past the first hundred by its id, told once more, and then as failed.
    expect(await hear(tell.refund('updated', refund('re_99', 2, 'succeeded')))).toMatchObject({
      outcome: 'STALE',
    });
    await hear(tell.refund('failed', refund('re_99', 2, 'failed')));
    await hear(tell.refund('failed', refund('re_99', 2, 'failed')));
    await hear(tell.refund('created', refund('re_ours', 50, 'succeeded', ours(OURS))));
    await hear(tell.refund('updated', refund('re_ours', 50, 'succeeded', { metadata: {} })));
    const { refunded, refundable, refundCount } = memory.order(small);
    expect([refunded.toFixed(), refundable.toFixed(), refundCount]).toEqual(['288', '212', 121]);
    expect(memory.entries.filter(({ operation }) => operation === 'REFUND')).toHaveLength(122);
  }, 30_000);
});
