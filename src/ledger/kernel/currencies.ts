import { type Decimal, minorUnits } from './money.ts';

/**
 * A currency as Stripe's amounts have it: Stripe's table, not ISO 4217's (https://docs.stripe.com/currencies).
 *
 * `exponent` turns a major amount into the integer that Stripe takes; `scale` is how many decimals we show;
 * `multiple` is what that integer must be a multiple of: Stripe takes ISK and UGX with two decimals that must be 00,
 * and three-decimal currencies with a last digit of 0.
 */
export interface Currency {
  readonly code: string;
  readonly exponent: number;
  readonly scale: number;
  readonly multiple: number;
}

const TWO_DECIMAL =
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD IDR INR MXN MYR NOK NZD PHP PLN SEK SGD THB TRY USD ZAR';
const ZERO_DECIMAL = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF';
const THREE_DECIMAL = 'BHD JOD KWD OMR TND';
const WHOLE_OF_TWO_DECIMAL = 'ISK UGX';

type CurrencyRule = Omit<Currency, 'code'>;

function rows(codes: string, rule: CurrencyRule): readonly (readonly [string, Currency])[] {
  return codes.split(' ').map((code) => [code, { code, ...rule }]);
}

const currencies: ReadonlyMap<string, Currency> = new Map([
  ...rows(TWO_DECIMAL, { exponent: 2, scale: 2, multiple: 1 }),
  ...rows(ZERO_DECIMAL, { exponent: 0, scale: 0, multiple: 1 }),
  ...rows(THREE_DECIMAL, { exponent: 3, scale: 3, multiple: 10 }),
  ...rows(WHOLE_OF_TWO_DECIMAL, { exponent: 2, scale: 0, multiple: 100 }),
]);

/** Looks a currency up by its upper-case code. Throws RangeError if it isn't on the list: never a guess. */
export function currency(code: string): Currency {
  const found = currencies.get(code);
  if (found === undefined) throw new RangeError(`unknown currency: ${code.slice(0, 8)}`);
  return found;
}

export function isCurrency(code: string): boolean {
  return currencies.has(code);
}

/** Whether an amount of this currency can be paid at all: 500.50 JPY, 18.605 KWD and 10.50 ISK can't. */
export function isPayable(amount: Decimal, { exponent, multiple }: Currency): boolean {
  const minor = minorUnits(amount, exponent);
  return minor !== undefined && minor % multiple === 0;
}
