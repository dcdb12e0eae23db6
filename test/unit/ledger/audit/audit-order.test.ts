import { describe, expect, it } from 'vitest';
import { judgeOrder } from '../../../../src/ledger/audit/audit-order.ts';
import type { Entry } from '../../../../src/ledger/model/entries/entry.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import type { Order, Refund } from '../../../../src/ledger/model/orders/order.ts';
import { openedOrder } from '../../../support/sample-orders.ts';
import { SURPLUS, entry, off, paid, posting, refunded, wrong } from './audited.ts';

const PAYMENT = entry('PAYMENT', [posting('stripe', 'merchant:cafe', '500')], { providerId: 'pi_1' });
const TOP_UP = entry('TOP_UP', [posting('stripe', 'wallet:alice', '500', 'ECOPAY')], { providerId: 'pi_1' });

const givenBack = (amount: string): Entry =>
  entry('REFUND', [posting('merchant:cafe', 'stripe', amount)], { refundId: 'rf_1' });

/** A purchase whose sums are what its refunds say, before one of them is broken. */
function purchase(refund: Refund, fields: Partial<Order> = {}): Order {
  return paid('CHECKOUT', 'PURCHASE', { refunds: [refund], ...fields });
}

function judge(order: Order, ...entries: readonly Entry[]): unknown {
  return judgeOrder(order, entries, []);
}

describe('the payment of an order', () => {
  it.each([
    ['at the provider', paid('CHECKOUT'), PAYMENT],
    [
      'from a wallet',
      paid('WALLET'),
      entry('CHARGE', [posting('wallet:alice', 'merchant:cafe', '500', 'ECOPAY')]),
    ],
    ['of a top-up at the provider', paid('CHECKOUT', 'TOP_UP'), TOP_UP],
    [
      'of a top-up in cash',
      paid('CASH', 'TOP_UP'),
      entry('TOP_UP', [posting('cash:till', 'wallet:alice', '500', 'ECOPAY')]),
    ],
  ])('%s is booked once', (_, order, payment) => {
    expect(judge(order, payment)).toEqual([]);
    expect(judge({ ...order, state: 'CONFIRMED' }, payment)).toEqual([]);
  });

  it('is found where it was never booked', () => {
    expect(judge(paid('CHECKOUT'))).toEqual([
      off('paid by entries', '500', '0', '-500'),
      wrong('payment entries', 'PAYMENT pi_1', 'none'),
    ]);
  });

  it('is found where it was booked twice', () => {
    expect(judge(paid('CHECKOUT'), PAYMENT, PAYMENT)).toEqual([
      off('paid by entries', '500', '1000', '500'),
      wrong('payment entries', 'PAYMENT pi_1', 'PAYMENT pi_1, PAYMENT pi_1'),
    ]);
  });

  it('is found where it is another one than the order names, or of another kind', () => {
    expect(judge(paid('CHECKOUT'), { ...PAYMENT, providerId: 'pi_9' })).toEqual([
      wrong('payment entries', 'PAYMENT pi_1', 'PAYMENT pi_9'),
    ]);
    expect(judge(paid('CHECKOUT'), { ...PAYMENT, operation: 'CHARGE' })).toEqual([
      wrong('payment entries', 'PAYMENT pi_1', 'CHARGE pi_1'),
    ]);
  });

  it('is none of an order that was never paid', () => {
    const order = openedOrder({ amount: '500' });
    expect(judge(order)).toEqual([]);
    expect(judge(order, PAYMENT)).toEqual([
      off('paid by entries', '0', '500', '500'),
      wrong('payment entries', 'none', 'PAYMENT pi_1'),
    ]);
  });

  it('of nothing needs no entry', () => {
    expect(judge(paid('CHECKOUT', 'PURCHASE', {}, { amount: '0' }))).toEqual([]);
  });
});

describe('what was refunded of an order', () => {
  const RF_1 = refunded('rf_1', '100');
  const sums = { refunded: decimal('100'), refundable: decimal('400') };
  const order = purchase(RF_1, sums);

  it('is what its refunds and its entries say', () => {
    expect(judge(order, PAYMENT, givenBack('100'))).toEqual([]);
  });

  it('is found where its refunds say something else', () => {
    const more = { ...order, refunded: decimal('120'), refundable: decimal('380') };
    expect(judge(more, PAYMENT, givenBack('100'))).toEqual([off('refunded', '100', '120', '20')]);
  });

  it('is found where its entries say something else', () => {
    expect(judge(order, PAYMENT, givenBack('60'))).toEqual([
      off('refunded by entries', '100', '60', '-40'),
      off('refund rf_1 by entries', '100', '60', '-40'),
    ]);
  });

  it('is pending as its pending refunds say', () => {
    const pending: Refund = { ...RF_1, state: 'PENDING' };
    const rest = { refundable: decimal('400') };
    expect(judge(purchase(pending, { ...rest, refundPending: decimal('100') }), PAYMENT)).toEqual([]);
    const less = { refundPending: decimal('70'), refundable: decimal('430') };
    expect(judge(purchase(pending, less), PAYMENT)).toEqual([off('refundPending', '100', '70', '-30')]);
  });

  it('leaves as refundable what is neither refunded nor pending', () => {
    expect(judge({ ...order, refundable: decimal('500') }, PAYMENT, givenBack('100'))).toEqual([
      off('refundable', '400', '500', '100'),
    ]);
    expect(judge(openedOrder({ amount: '500' }))).toEqual([]);
    expect(judge({ ...openedOrder({ amount: '500' }), refundable: decimal('500') })).toEqual([
      off('refundable', '0', '500', '500'),
    ]);
  });

  it('counts what is kept beside a full order', () => {
    const overflow = { count: 2, succeeded: decimal('30'), pending: decimal('20') };
    const kept = refunded('re_3', '30', { providerRefundId: 're_3', source: 'DASHBOARD' });
    const entries = [
      PAYMENT,
      entry('REFUND', [posting('merchant:cafe', 'stripe', '30')], { providerId: 're_3' }),
    ];
    const full = paid('CHECKOUT', 'PURCHASE', {
      overflow,
      refunded: decimal('30'),
      refundPending: decimal('20'),
      refundable: decimal('450'),
    });
    expect(judgeOrder(full, entries, [kept])).toEqual([]);
    expect(judgeOrder({ ...full, overflow: undefined }, entries, [])).toEqual([
      off('refunded', '0', '30', '30'),
      off('refundPending', '0', '20', '20'),
      off('refunded by entries', '0', '30', '30'),
      off('refund re_3 by entries', '0', '30', '30'),
    ]);
  });

  it('of a top-up is taken from the wallet already while what is kept beside it is pending', () => {
    const topUp = paid('CHECKOUT', 'TOP_UP', {
      overflow: { count: 1, succeeded: decimal('0'), pending: decimal('20') },
      refundPending: decimal('20'),
      refundable: decimal('480'),
    });
    const kept: Refund = {
      ...refunded('re_3', '20', { providerRefundId: 're_3', source: 'DASHBOARD', entryId: 'e_1' }),
      state: 'PENDING',
    };
    const taken = entry('REFUND', [posting('wallet:alice', 'stripe', '20', 'ECOPAY')], {
      providerId: 're_3',
    });
    expect(judgeOrder(topUp, [TOP_UP, taken], [kept])).toEqual([]);
  });
});

describe('the bounds of refunds', () => {
  const beyond = (refund: Partial<Refund>): Order =>
    purchase(refunded('rf_1', '600', refund), {
      state: 'REFUNDED',
      refunded: decimal('600'),
      refundable: decimal('-100'),
    });

  it('are what was paid, for those that we were asked for', () => {
    expect(judge(beyond({}), PAYMENT, givenBack('600'))).toEqual([
      off('refunds requested', '500', '600', '100'),
    ]);
  });

  it('hold for pending ones as well, and not for failed ones', () => {
    const order = (state: Refund['state'], sums: Partial<Order>): Order =>
      purchase(refunded('rf_1', '600', { state }), sums);
    const pending = { refundPending: decimal('600'), refundable: decimal('-100') };
    expect(judge(order('PENDING', pending), PAYMENT)).toEqual([
      off('refunds requested', '500', '600', '100'),
    ]);
    expect(judge(order('FAILED', {}), PAYMENT)).toEqual([]);
  });

  it('are nothing for an order that was never paid', () => {
    const pending = refunded('rf_1', '1', { state: 'PENDING' });
    const order = { ...openedOrder({ amount: '500' }), refunds: [pending], refundPending: decimal('1') };
    expect(judge(order)).toEqual([off('refunds requested', '0', '1', '1')]);
  });

  it('may be passed by what the provider reports', () => {
    expect(judge(beyond({ source: 'DASHBOARD' }), PAYMENT, givenBack('600'))).toEqual([]);
  });
});

describe('an order is REFUNDED', () => {
  const inFull = { refunded: decimal('500'), refundable: decimal('0') };
  const inPart = { refunded: decimal('100'), refundable: decimal('400') };

  it('while all of it is given back', () => {
    const order = purchase(refunded('rf_1', '500'), inFull);
    expect(judge({ ...order, state: 'REFUNDED' }, PAYMENT, givenBack('500'))).toEqual([]);
    expect(judge(order, PAYMENT, givenBack('500'))).toEqual([wrong('state', 'REFUNDED', 'PAID')]);
  });

  it('only then', () => {
    const order = purchase(refunded('rf_1', '100'), { ...inPart, state: 'REFUNDED' });
    expect(judge(order, PAYMENT, givenBack('100'))).toEqual([
      wrong('state', 'PAID or CONFIRMED', 'REFUNDED'),
    ]);
  });

  it('never for having cost nothing', () => {
    const order = paid('CHECKOUT', 'PURCHASE', { state: 'REFUNDED' }, { amount: '0' });
    expect(judge(order)).toEqual([wrong('state', 'PAID or CONFIRMED', 'REFUNDED')]);
  });
});

describe('what an order owes', () => {
  const spent = (receivable: string): Order =>
    paid('CHECKOUT', 'TOP_UP', {
      state: 'REFUNDED',
      refunds: [refunded('rf_1', '500')],
      refunded: decimal('500'),
      refundable: decimal('0'),
      receivable: decimal(receivable),
    });
  const taken = entry(
    'REFUND',
    [
      posting('wallet:alice', 'stripe', '450', 'ECOPAY'),
      posting('receivable:alice', 'stripe', '50', 'ECOPAY'),
    ],
    { refundId: 'rf_1' },
  );

  it('is what was booked to the receivable of its account', () => {
    expect(judge(spent('50'), TOP_UP, taken)).toEqual([]);
    expect(judge(spent('70'), TOP_UP, taken)).toEqual([off('owed', '50', '70', '20')]);
    expect(judge(spent('0'), TOP_UP, taken)).toEqual([off('owed', '50', '0', '-50')]);
  });

  it('is nothing, for a purchase', () => {
    expect(judge(paid('CHECKOUT', 'PURCHASE', { receivable: decimal('5') }), PAYMENT)).toEqual([
      off('owed', '0', '5', '5'),
    ]);
  });
});

describe('an order is judged in all that it keeps', () => {
  it('its rewards, its refunds, its disputes and its surplus payments', () => {
    const strange = [
      entry('REFUND', [posting(SURPLUS, 'stripe', '2')], { providerId: 're_9' }),
      entry('DISPUTE', [posting('merchant:cafe', 'stripe', '3')], { providerId: 'du_9' }),
      entry('SURPLUS', [posting('stripe', SURPLUS, '4')], { providerId: 'pi_9' }),
      entry('CHARGE', [posting('issuer', 'wallet:alice', '1', 'POINT')], { providerId: 'pi_1' }),
    ];
    expect(judge(paid('CHECKOUT'), PAYMENT, ...strange)).toEqual([
      wrong('payment entries', 'PAYMENT pi_1', 'PAYMENT pi_1, CHARGE pi_1'),
      off('POINT given by entries', '0', '1', '1'),
      off('refund re_9 by entries', '0', '2', '2'),
      off('dispute du_9 by entries', '0', '3', '3'),
      off('surplus payment pi_9 by entries', '0', '4', '4'),
    ]);
  });

  it('what it takes back of rewards by what its refunds come to, not by what it says itself', () => {
    const { payment } = paid('WALLET');
    if (payment === undefined) throw new Error('a paid order has a payment');
    const order = paid('WALLET', 'PURCHASE', {
      payment: { ...payment, points: decimal('5') },
      refunds: [refunded('rf_1', '100')],
      refunded: decimal('200'),
      refundable: decimal('300'),
    });
    const charge = entry('CHARGE', [
      posting('wallet:alice', 'merchant:cafe', '500', 'ECOPAY'),
      posting('issuer', 'wallet:alice', '5', 'POINT'),
      posting('issuer', 'metrics:alice', '500', 'METRIC/CHARGED'),
    ]);
    const back = entry(
      'REFUND',
      [
        posting('merchant:cafe', 'wallet:alice', '100', 'ECOPAY'),
        posting('wallet:alice', 'issuer', '1', 'POINT'),
        posting('metrics:alice', 'issuer', '100', 'METRIC/CHARGED'),
      ],
      { refundId: 'rf_1' },
    );
    expect(judge(order, charge, back)).toEqual([off('refunded', '100', '200', '100')]);
  });
});
