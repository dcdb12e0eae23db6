import { describe, expect, it } from 'vitest';
import { judgeRewards } from '../../../../src/ledger/audit/audit-rewards.ts';
import type { Entry, Posting } from '../../../../src/ledger/model/entries/entry.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import type { OrderPayment } from '../../../../src/ledger/model/orders/order.ts';
import { SAMPLE_AT_MS } from '../../../support/sample-orders.ts';
import { entry, off, paid, posting } from './audited.ts';

/** 500 that earned 5 points and saved 0.5 kg of CO2. */
const payment: OrderPayment = {
  method: 'WALLET',
  atMs: SAMPLE_AT_MS,
  asset: 'ECOPAY',
  points: decimal('5'),
  co2Kg: decimal('0.5'),
};
const order = paid('WALLET', 'PURCHASE', { payment });
const POINTS = posting('issuer', 'wallet:alice', '5', 'POINT');
const CHARGED = posting('issuer', 'metrics:alice', '500', 'METRIC/CHARGED');
const CO2 = posting('issuer', 'metrics:alice', '0.5', 'METRIC/CO2_KG');
const charge = (...rewards: readonly Posting[]): Entry =>
  entry('CHARGE', [posting('wallet:alice', 'merchant:cafe', '500', 'ECOPAY'), ...rewards]);
const given = charge(POINTS, CHARGED, CO2);

const takenBack = (points: string, charged: string, co2Kg: string): Entry =>
  entry('REFUND', [
    posting('wallet:alice', 'issuer', points, 'POINT'),
    posting('metrics:alice', 'issuer', charged, 'METRIC/CHARGED'),
    posting('metrics:alice', 'issuer', co2Kg, 'METRIC/CO2_KG'),
  ]);

function judge(refunded: string, ...entries: readonly Entry[]): unknown {
  return judgeRewards(order, decimal(refunded), entries);
}

describe('what a charge gives beside the goods', () => {
  it('is what its order says', () => {
    expect(judge('0', given)).toEqual([]);
  });

  it('is found where it was not given', () => {
    expect(judge('0', charge(CHARGED, CO2))).toEqual([off('POINT given by entries', '5', '0', '-5')]);
    expect(judge('0', charge(POINTS, CO2))).toEqual([
      off('METRIC/CHARGED given by entries', '500', '0', '-500'),
    ]);
    expect(judge('0', charge(POINTS, CHARGED))).toEqual([
      off('METRIC/CO2_KG given by entries', '0.5', '0', '-0.5'),
    ]);
  });

  it('is found where it was given twice', () => {
    expect(judge('0', given, given)).toEqual([
      off('POINT given by entries', '5', '10', '5'),
      off('METRIC/CHARGED given by entries', '500', '1000', '500'),
      off('METRIC/CO2_KG given by entries', '0.5', '1', '0.5'),
    ]);
  });

  it('is nothing, not even the charge in the metrics, where the order says nothing of it', () => {
    const plain = paid('WALLET');
    expect(judgeRewards(plain, decimal('0'), [charge()])).toEqual([]);
    expect(judgeRewards(plain, decimal('0'), [given])).toEqual([
      off('POINT given by entries', '0', '5', '5'),
      off('METRIC/CHARGED given by entries', '0', '500', '500'),
      off('METRIC/CO2_KG given by entries', '0', '0.5', '0.5'),
    ]);
  });

  it.each([
    ['points alone', { points: decimal('5') }, POINTS],
    ['CO2 alone', { co2Kg: decimal('0.5') }, CO2],
  ])('counts the charge in the metrics also where it was %s', (_, reward, posted) => {
    const { method, atMs, asset = '' } = payment;
    const other = paid('WALLET', 'PURCHASE', { payment: { method, atMs, asset, ...reward } });
    expect(judgeRewards(other, decimal('0'), [charge(posted, CHARGED)])).toEqual([]);
    expect(judgeRewards(other, decimal('100'), [charge(posted, CHARGED)])).toContainEqual(
      off('METRIC/CHARGED taken back by entries', '100', '0', '-100'),
    );
  });

  it('is what the issuer gave: what somebody else paid in points is none', () => {
    const other = charge(POINTS, CHARGED, CO2, posting('merchant:cafe', 'wallet:alice', '9', 'POINT'));
    expect(judge('0', other)).toEqual([]);
  });
});

describe('what refunds take back of that', () => {
  it('is its part', () => {
    expect(judge('100', given, takenBack('1', '100', '0.1'))).toEqual([]);
  });

  it('is found where a refund took nothing', () => {
    expect(judge('100', given)).toEqual([
      off('POINT taken back by entries', '1', '0', '-1'),
      off('METRIC/CHARGED taken back by entries', '100', '0', '-100'),
      off('METRIC/CO2_KG taken back by entries', '0.1', '0', '-0.1'),
    ]);
  });

  it('is found where something was taken that nothing was refunded for', () => {
    expect(judge('0', given, takenBack('1', '100', '0.1'))).toEqual([
      off('POINT taken back by entries', '0', '1', '1'),
      off('METRIC/CHARGED taken back by entries', '0', '100', '100'),
      off('METRIC/CO2_KG taken back by entries', '0', '0.1', '0.1'),
    ]);
  });

  it('may be less than one point short in part, since points are rounded down', () => {
    expect(judge('150', given, takenBack('1', '150', '0.15'))).toEqual([]);
    expect(judge('150', given, takenBack('0.51', '150', '0.15'))).toEqual([]);
    expect(judge('150', given, takenBack('0.5', '150', '0.15'))).toEqual([
      off('POINT taken back by entries', '1.5', '0.5', '-1'),
    ]);
  });

  it('is never more than its part', () => {
    expect(judge('150', given, takenBack('1.6', '150', '0.15'))).toEqual([
      off('POINT taken back by entries', '1.5', '1.6', '0.1'),
    ]);
  });

  it('is all of it, to the last fraction, where all was refunded', () => {
    expect(judge('500', given, takenBack('5', '500', '0.5'))).toEqual([]);
    expect(judge('500', given, takenBack('4.5', '500', '0.5'))).toEqual([
      off('POINT taken back by entries', '5', '4.5', '-0.5'),
    ]);
  });

  it('is counted from nothing refunded, whatever the order says: what rounds differently shows it', () => {
    const { method, atMs, asset = '' } = payment;
    const reward = { method, atMs, asset, co2Kg: decimal('1') };
    const after = paid(
      'WALLET',
      'PURCHASE',
      { payment: reward, refunded: decimal('200') },
      { amount: '300' },
    );
    const metrics = (
      operation: 'CHARGE' | 'REFUND',
      from: string,
      to: string,
      all: string,
      co2: string,
    ): Entry =>
      entry(operation, [posting(from, to, all, 'METRIC/CHARGED'), posting(from, to, co2, 'METRIC/CO2_KG')]);
    const charged = metrics('CHARGE', 'issuer', 'metrics:alice', '300', '1');
    const back = metrics('REFUND', 'metrics:alice', 'issuer', '100', '0.33333333');
    expect(judgeRewards(after, decimal('100'), [charged, back])).toEqual([]);
  });
});
