import { METRIC } from '../ledger/entry.ts';
import { plainDecimal } from '../ledger/money.ts';
import { amountText } from './amounts.ts';
import { AccountMetricsType } from './refs.ts';

AccountMetricsType.implement({
  description:
    'What an account has come to beside its money, by wallet charges and what was taken back of them.',
  fields: (t) => ({
    chargedTotal: t.field({
      type: 'Decimal',
      description:
        "What its balances have paid, less what was refunded, in the tenant's currency; counted where the tenant gives rewards.",
      resolve: ({ tenant, chargedTotal }, _args, { ledger }) =>
        amountText(ledger, tenant, METRIC.charged, chargedTotal),
    }),
    co2ReductionKg: t.field({
      description: 'Kilograms of CO2 saved, by the rate of the tenant.',
      type: 'Decimal',
      resolve: ({ co2ReductionKg }) => plainDecimal(co2ReductionKg),
    }),
  }),
});
