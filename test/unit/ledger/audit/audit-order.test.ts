import { describe, expect, it } from 'vitest';
import { judgeOrder } from '../../../../src/ledger/audit/audit-order.ts';
import type { Entry } from '../../../../src/ledger/model/entries/entry.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import type { Order, Refund } from '../../../../src/ledger/model/orders/order.ts';
import { openedOrder } from '../../../support/sample-orders.ts';
import { SURPLUS, counts, entry, off, paid, posting, refunded, wrong } from './audited.ts';

const PAYMENT = entry('PAYMENT', [posting('stripe', 'merchant:cafe', '500')], { providerId: 'pi_1' });
const TOP_UP = entry('TOP_UP', [posting('stripe', 'wallet:alice', '500', 'ECOPAY')], { providerId: 'pi_1' });

const givenBack = (amount: string): Entry =>
  entry('REFUND', [posting('merchant:cafe', 'stripe', amount)], { refundId: 'rf_1' });

/** A purchase whose sums are what its refunds say, before one of them is broken. */
function purchase(refund: Refund, fields: Partial<Order> = {}): Order {
  return paid('CHECKOUT', 'PURCHASE', { ...counts(refund), ...fields });
}

function judge(order: Order, ...entries: readonly Entry[]): unknown {
  return judgeOrder(order, entries, []);
}

function judgeWith(refund: Refund, order: Order, ...entries: readonly Entry[]): unknown {
  return judgeOrder(order, entries, [refund]);
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
    expect(judgeWith(RF_1, order, PAYMENT, givenBack('100'))).toEqual([]);
  });

  it('is found where its refunds say something else', () => {
    const more = { ...order, refunded: decimal('120'), refundable: decimal('380') };
    expect(judgeWith(RF_1, more, PAYMENT, givenBack('100'))).toEqual([off('refunded', '100', '120', '20')]);
  });

  it('is found where its entries say something else', () => {
    expect(judgeWith(RF_1, order, PAYMENT, givenBack('60'))).toEqual([
      off('refunded by entries', '100', '60', '-40'),
      off('refund rf_1 by entries', '100', '60', '-40'),
    ]);
  });

  it('is pending as its pending refunds say', () => {
    const pending: Refund = { ...RF_1, state: 'PENDING' };
    const rest = { refundable: decimal('400') };
    const held = purchase(pending, { ...rest, refundPending: decimal('100') });
    expect(judgeWith(pending, held, PAYMENT)).toEqual([]);
    const less = { refundPending: decimal('70'), refundable: decimal('430') };
    expect(judgeWith(pending, purchase(pending, less), PAYMENT)).toEqual([
      off('refundPending', '100', '70', '-30'),
    ]);
  });

  it('leaves as refundable what is neither refunded nor pending', () => {
    expect(judgeWith(RF_1, { ...order, refundable: decimal('500') }, PAYMENT, givenBack('100'))).toEqual([
      off('refundable', '400', '500', '100'),
    ]);
    expect(judge(openedOrder({ amount: '500' }))).toEqual([]);
    expect(judge({ ...openedOrder({ amount: '500' }), refundable: decimal('500') })).toEqual([
      off('refundable', '0', '500', '500'),
    ]);
  });

  it('of a top-up is taken from the wallet already while it is pending', () => {
    const pending: Refund = {
      ...refunded('re_3', '20', { providerRefundId: 're_3', source: 'DASHBOARD', entryId: 'e_1' }),
      state: 'PENDING',
    };
    const topUp = paid('CHECKOUT', 'TOP_UP', {
      ...counts(pending),
      refundPending: decimal('20'),
      refundable: decimal('480'),
    });
    const taken = entry('REFUND', [posting('wallet:alice', 'stripe', '20', 'ECOPAY')], {
      providerId: 're_3',
    });
    expect(judgeWith(pending, topUp, TOP_UP, taken)).toEqual([]);
  });
});

describe('the bounds of refunds', () => {
  const beyond = (source: Refund['source']): unknown => {
    const refund = refunded('rf_1', '600', { source });
    const sums = { refunded: decimal('600'), refundable: decimal('-100') };
    return judgeWith(refund, purchase(refund, { state: 'REFUNDED', ...sums }), PAYMENT, givenBack('600'));
  };

  it('are what was paid, for those that we were asked for', () => {
    expect(beyond('REQUESTED')).toEqual([off('refunds requested', '500', '600', '100')]);
  });

  it('hold for pending ones as well, and not for failed ones', () => {
    const judged = (state: Refund['state'], sums: Partial<Order>): unknown => {
      const refund = refunded('rf_1', '600', { state });
      return judgeWith(refund, purchase(refund, sums), PAYMENT);
    };
    const pending = { refundPending: decimal('600'), refundable: decimal('-100') };
    expect(judged('PENDING', pending)).toEqual([off('refunds requested', '500', '600', '100')]);
    expect(judged('FAILED', {})).toEqual([]);
  });

  it('are nothing for an order that was never paid', () => {
    const pending = refunded('rf_1', '1', { state: 'PENDING' });
    const order = { ...openedOrder({ amount: '500' }), ...counts(pending), refundPending: decimal('1') };
    expect(judgeWith(pending, order)).toEqual([off('refunds requested', '0', '1', '1')]);
  });

  it('may be passed by what the provider reports', () => {
    expect(beyond('DASHBOARD')).toEqual([]);
  });
});

describe('an order is REFUNDED', () => {
  const inFull = { refunded: decimal('500'), refundable: decimal('0') };
  const inPart = { refunded: decimal('100'), refundable: decimal('400') };

  it('while all of it is given back', () => {
    const refund = refunded('rf_1', '500');
    const order = purchase(refund, inFull);
    const closed: Order = { ...order, state: 'REFUNDED' };
    expect(judgeWith(refund, closed, PAYMENT, givenBack('500'))).toEqual([]);
    expect(judgeWith(refund, order, PAYMENT, givenBack('500'))).toEqual([wrong('state', 'REFUNDED', 'PAID')]);
  });

  it('only then', () => {
    const refund = refunded('rf_1', '100');
    const order = purchase(refund, { ...inPart, state: 'REFUNDED' });
    expect(judgeWith(refund, order, PAYMENT, givenBack('100'))).toEqual([
      wrong('state', 'PAID or CONFIRMED', 'REFUNDED'),
    ]);
  });

  it('never for having cost nothing', () => {
    const order = paid('CHECKOUT', 'PURCHASE', { state: 'REFUNDED' }, { amount: '0' });
    expect(judge(order)).toEqual([wrong('state', 'PAID or CONFIRMED', 'REFUNDED')]);
  });
});

describe('what an order owes', () => {
  const refund = refunded('rf_1', '500');
  const spent = (receivable: string): Order =>
    paid('CHECKOUT', 'TOP_UP', {
      state: 'REFUNDED',
      ...counts(refund),
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
    expect(judgeWith(refund, spent('50'), TOP_UP, taken)).toEqual([]);
    expect(judgeWith(refund, spent('70'), TOP_UP, taken)).toEqual([off('owed', '50', '70', '20')]);
    expect(judgeWith(refund, spent('0'), TOP_UP, taken)).toEqual([off('owed', '50', '0', '-50')]);
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
    const refund = refunded('rf_1', '100');
    const order = paid('WALLET', 'PURCHASE', {
      payment: { ...payment, points: decimal('5') },
      ...counts(refund),
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
    expect(judgeWith(refund, order, charge, back)).toEqual([off('refunded', '100', '200', '100')]);
  });
});
