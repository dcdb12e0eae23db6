import { METRIC, type Posting, ledgerAccount } from '../entries/entry.ts';
import { type Decimal, ZERO, add, portion, proportion, subtract } from '../../kernel/money.ts';
import type { Order } from './order.ts';

/** What a charge gives beside the goods. */
export interface Reward {
  readonly points: Decimal;
  readonly co2Kg: Decimal;
}

/** How much each unit charged gives, and how finely points are counted. */
export interface RewardRates {
  readonly pointRate?: Decimal;
  readonly pointScale: number;
  readonly co2KgRate?: Decimal;
}

/** Kilograms are kept to a hundredth of a milligram; what a finer rate gives beyond is rounded down, as points are. */
const CO2_SCALE = 8;

/** Points and CO2 as the rates say, each rounded down to its scale. */
export function rewardFor(amount: Decimal, { pointRate, pointScale, co2KgRate }: RewardRates): Reward {
  return {
    points: pointRate === undefined ? ZERO : portion(amount, pointRate, pointScale),
    co2Kg: co2KgRate === undefined ? ZERO : portion(amount, co2KgRate, CO2_SCALE),
  };
}

/** What is posted for a reward beside the charge itself: points to the wallet, charged total and CO2 to the metrics. */
export function rewardPostings(
  accountId: string,
  charged: Decimal,
  { points, co2Kg }: Reward,
): readonly Posting[] {
  const metrics = ledgerAccount.metrics(accountId);
  return [
    { debit: ledgerAccount.issuer, credit: ledgerAccount.wallet(accountId), asset: 'POINT', amount: points },
    { debit: ledgerAccount.issuer, credit: metrics, asset: METRIC.charged, amount: charged },
    { debit: ledgerAccount.issuer, credit: metrics, asset: METRIC.co2Kg, amount: co2Kg },
  ];
}

/**
 * What a refund of `amount` takes back of an order's reward: in proportion to all that was refunded so far, less what
 * earlier refunds took, so that refunds in parts take back exactly what one in full does.
 */
export function rewardTakenBack(order: Order, amount: Decimal, pointScale: number): Reward {
  const upTo = (whole: Decimal | undefined, scale: number): Decimal =>
    whole === undefined
      ? ZERO
      : subtract(
          proportion(whole, add(order.refunded, amount), order.amount, scale),
          proportion(whole, order.refunded, order.amount, scale),
        );
  return { points: upTo(order.payment?.points, pointScale), co2Kg: upTo(order.payment?.co2Kg, CO2_SCALE) };
}
