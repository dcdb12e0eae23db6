import { invalidRequest } from '../api/errors.ts';

/**
 * The currencies the simulator takes, with the smallest amount Stripe charges in each, in minor units.
 * Written down again here, apart from the gateway's own table, so that each checks the other.
 */
const MINIMUM_MINOR: ReadonlyMap<string, number> = new Map([
  ['aud', 50],
  ['bhd', 200],
  ['cad', 50],
  ['chf', 50],
  ['clp', 500],
  ['eur', 50],
  ['gbp', 30],
  ['hkd', 400],
  ['isk', 10_000],
  ['jod', 400],
  ['jpy', 50],
  ['krw', 700],
  ['kwd', 200],
  ['mxn', 1000],
  ['nzd', 50],
  ['omr', 200],
  ['sgd', 50],
  ['thb', 1000],
  ['tnd', 1500],
  ['twd', 2000],
  ['ugx', 200_000],
  ['usd', 50],
  ['vnd', 13_000],
]);

const THREE_DECIMALS: ReadonlySet<string> = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd']);

/** Without minor units of their own, but charged in hundredths that must be zero. */
const WHOLE_HUNDREDS: ReadonlySet<string> = new Set(['isk', 'ugx']);

const NO_DECIMALS: ReadonlySet<string> = new Set(['clp', 'jpy', 'krw', 'vnd']);

const LARGEST_MINOR = 99_999_999;

export function isKnownCurrency(currency: string): boolean {
  return MINIMUM_MINOR.has(currency);
}

/**
 * Refuses an amount that Stripe doesn't charge in a currency. Zero passes: a free session has no payment.
 * @param amountMinor minor units in Stripe's own exponent for the currency
 */
export function requireChargeable(amountMinor: number, currency: string, param: string): void {
  if (amountMinor === 0) return;
  requireWholeAmount(amountMinor, currency, param);
  const minimumMinor = MINIMUM_MINOR.get(currency) ?? 1;
  if (amountMinor < minimumMinor) {
    throw invalidRequest(
      `The Checkout Session's total amount must be at least ${String(minimumMinor)} in ${currency}'s smallest unit.`,
      { code: 'amount_too_small' },
    );
  }
  if (amountMinor > LARGEST_MINOR) {
    throw invalidRequest("The Checkout Session's total amount due is too large.", {
      code: 'amount_too_large',
    });
  }
}

/** Refuses a three-decimal amount whose last digit isn't 0, and hundredths where a currency has none. */
export function requireWholeAmount(amountMinor: number, currency: string, param: string): void {
  const step = THREE_DECIMALS.has(currency) ? 10 : WHOLE_HUNDREDS.has(currency) ? 100 : 1;
  if (amountMinor % step === 0) return;
  throw invalidRequest(
    `Invalid amount. ${currency.toUpperCase()} amounts must be evenly divisible by ${String(step)}.`,
    { param },
  );
}

/** An amount as a person reads it, such as `¥960`. For pages alone. */
export function displayAmount(amountMinor: number, currency: string): string {
  const decimals = NO_DECIMALS.has(currency) ? 0 : THREE_DECIMALS.has(currency) ? 3 : 2;
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return format.format(amountMinor / 10 ** decimals);
}
