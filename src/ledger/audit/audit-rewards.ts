import { type Finding, amountFinding } from './audit-finding.ts';
import { itemOf, outOf } from './known-recordings.ts';
import { type Entry, type EntryOperation, METRIC, ledgerAccount } from '../model/entries/entry.ts';
import { type Decimal, ZERO, negate, subtract } from '../kernel/money.ts';
import type { Order } from '../model/orders/order.ts';
import { rewardTakenBack } from '../model/orders/rewards.ts';

/** Finer than the points of any tenant (src/config/tenants.ts). */
const FINEST_SCALE = 8;

/**
 * What a charge gave beside the goods is what its order says, and refunds took it back in proportion. Points are rounded
 * down to a scale that an audit doesn't know, so that in part of them only less than one may be missing.
 * @param refunded what its refunds come to
 * @param entries those that name the order
 */
export function judgeRewards(order: Order, refunded: Decimal, entries: readonly Entry[]): readonly Finding[] {
  const { payment, amount } = order;
  const points = payment?.points ?? ZERO;
  const co2Kg = payment?.co2Kg ?? ZERO;
  const isRewarded = payment?.points !== undefined || payment?.co2Kg !== undefined;
  const back = rewardTakenBack({ ...order, refunded: ZERO }, refunded, FINEST_SCALE);
  const given = (asset: string): Decimal => byIssuer(entries, 'CHARGE', asset);
  const returned = (asset: string): Decimal => negate(byIssuer(entries, 'REFUND', asset));
  const pointsBack = returned('POINT');
  const missing = subtract(back.points, pointsBack);
  const isRounded = !refunded.eq(amount) && missing.gt(0) && missing.lt(1);
  const checks: readonly (readonly [what: string, expected: Decimal, found: Decimal])[] = [
    ['POINT given', points, given('POINT')],
    [`${METRIC.charged} given`, isRewarded ? amount : ZERO, given(METRIC.charged)],
    [`${METRIC.co2Kg} given`, co2Kg, given(METRIC.co2Kg)],
    ['POINT taken back', isRounded ? pointsBack : back.points, pointsBack],
    [`${METRIC.charged} taken back`, isRewarded ? refunded : ZERO, returned(METRIC.charged)],
    [`${METRIC.co2Kg} taken back`, back.co2Kg, returned(METRIC.co2Kg)],
  ];
  return checks.flatMap(
    ([what, expected, found]) =>
      amountFinding('I4', itemOf(order), `${what} by entries`, expected, found) ?? [],
  );
}

/** What the entries of an operation took from the issuer, who gives rewards. */
function byIssuer(entries: readonly Entry[], operation: EntryOperation, asset: string): Decimal {
  const chosen = entries.filter((entry) => entry.operation === operation);
  return outOf(ledgerAccount.issuer, asset, chosen);
}
