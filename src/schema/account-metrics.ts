import { METRIC } from '../ledger/entry.ts';
import { plainDecimal } from '../ledger/money.ts';
import { amountText } from './amounts.ts';
import { AccountMetricsType } from './refs.ts';

AccountMetricsType.implement({
  fields: (t) => ({
    chargedTotal: t.field({
      type: 'Decimal',
      description: "In the tenant's currency.",
      resolve: ({ tenant, chargedTotal }, _args, { ledger }) =>
        amountText(ledger, tenant, METRIC.charged, chargedTotal),
    }),
    co2ReductionKg: t.field({
      type: 'Decimal',
      resolve: ({ co2ReductionKg }) => plainDecimal(co2ReductionKg),
    }),
  }),
});
