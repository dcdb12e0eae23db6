import { z } from 'zod';
import { mayManageMerchant } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { toAttributes } from '../../kernel/attributes.ts';
import { currency } from '../../kernel/currencies.ts';
import { NOT_FOUND, type PlainFailure } from '../../model/outcomes.ts';
import { productAttributes } from '../../model/product.ts';
import { decimalText, idText, invalidWith, parseInput, priceIssue, shortText } from '../runtime/input.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';
import { setValues } from '../runtime/set-values.ts';

export interface PutProductSuccess {
  readonly kind: 'PutProductSuccess';
  readonly merchantId: string;
  readonly sku: string;
}

const inputSchema = z.strictObject({
  merchantId: idText,
  sku: idText,
  name: shortText(200),
  price: decimalText,
  active: z.boolean(),
});

/** Creates or replaces a product, priced in the tenant's currency. Sets values, so repeating it is safe. */
export async function putProduct(
  ledger: Ledger,
  viewer: Viewer,
  input: z.input<typeof inputSchema>,
): Promise<PutProductSuccess | PlainFailure> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { merchantId, sku, name, price, active } = parsed.value;
  const tenant = tenantOf(ledger, viewer.tenant);
  const known = tenant.merchants.has(merchantId) && mayManageMerchant(viewer, viewer.tenant, merchantId);
  if (!known) return NOT_FOUND;
  const issue = priceIssue(['price'], price, currency(tenant.currency));
  if (issue !== undefined) return invalidWith(issue);
  const product = { tenant: viewer.tenant, merchantId, sku, name, price, currency: tenant.currency, active };
  const Item = toAttributes(productAttributes({ ...product, updatedAtMs: ledger.clock.nowMs() }));
  const failure = await setValues(ledger, { items: [{ role: 'other', item: { Put: { Item } } }] });
  return failure ?? { kind: 'PutProductSuccess', merchantId, sku };
}
