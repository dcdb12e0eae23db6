import { currency, isCurrency } from '../ledger/kernel/currencies.ts';
import { METRIC } from '../ledger/model/entries/entry.ts';
import { type Decimal, formatDecimal } from '../ledger/kernel/money.ts';
import { type Ledger, tenantOf } from '../ledger/usecases/runtime/ledger.ts';
import type { Order } from '../ledger/model/orders/order.ts';

/** How many decimals a tenant's asset, or a currency, has. */
function scaleOf(ledger: Ledger, tenant: string, unit: string): number {
  const rule = tenantOf(ledger, tenant).assets.get(unit);
  if (rule !== undefined) return rule.scale;
  if (unit === METRIC.charged) return currency(tenantOf(ledger, tenant).currency).scale;
  return isCurrency(unit) ? currency(unit).scale : 0;
}

/** An amount on the wire, in full scale. */
export function amountText(ledger: Ledger, tenant: string, unit: string, amount: Decimal): string {
  return formatDecimal(amount, scaleOf(ledger, tenant, unit));
}

/** An amount of an order, in its currency. */
export function orderAmount(ledger: Ledger, { tenant, currency: code }: Order, amount: Decimal): string {
  return amountText(ledger, tenant, code, amount);
}
