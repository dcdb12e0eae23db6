import type { Viewer } from '../../../auth/viewer.ts';
import { isId } from '../../kernel/id-grammar.ts';
import { PREFIX, type ProductRef, partition, productKey } from '../../kernel/keys.ts';
import { type Product, readProduct } from '../../model/product.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';
import { listPartition } from '../runtime/list-partition.ts';
import { type Page, type PageRequest, pageReading } from '../runtime/pages.ts';

/** A merchant as clients see it: what its server is told, and with which secrets, stays here. */
export interface PublicMerchant {
  readonly tenant: string;
  readonly merchantId: string;
  readonly name: string;
}

/** The viewer's tenant's merchants, in the order of the tenant's file. */
export function listMerchants(ledger: Ledger, { tenant }: Viewer): readonly PublicMerchant[] {
  return [...tenantOf(ledger, tenant).merchants.values()].map(({ merchantId, name }) => ({
    tenant,
    merchantId,
    name,
  }));
}

/** Undefined for a merchant that the viewer's tenant doesn't have, or no longer. */
export function findMerchant(
  ledger: Ledger,
  { tenant }: Viewer,
  merchantId: string,
): PublicMerchant | undefined {
  const merchant = tenantOf(ledger, tenant).merchants.get(merchantId);
  return merchant === undefined ? undefined : { tenant, merchantId, name: merchant.name };
}

/** Up to 100 products by one consistent read; the catalogue is open to everyone of its tenant. */
export async function readProducts(
  ledger: Ledger,
  viewer: Viewer,
  refs: readonly ProductRef[],
): Promise<readonly (Product | undefined)[]> {
  const items = await ledger.store.get(refs.map(productKey));
  return items.map((item) => {
    const product = item === undefined ? undefined : readProduct(item);
    return product?.tenant === viewer.tenant ? product : undefined;
  });
}

/** A merchant's products by their SKU, since a catalogue has no newest. Throws PageRequestError. */
export async function listProducts(
  ledger: Ledger,
  { tenant, merchantId }: PublicMerchant,
  request: PageRequest,
): Promise<Page<Product>> {
  const reading = pageReading(request);
  return listPartition(
    ledger,
    {
      uuid: partition(tenant, merchantId),
      prefix: PREFIX.product,
      descending: false,
      isName: isId,
      nameOf: (item) => readProduct(item).sku,
      read: readProduct,
    },
    reading,
  );
}
