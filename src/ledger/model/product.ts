import {
  type AttributeInput,
  type StoredItem,
  readBoolean,
  readDecimal,
  readInteger,
  readString,
} from '../kernel/attributes.ts';
import { integer } from '../kernel/integers.ts';
import { type ItemKey, PREFIX, type ProductRef, productKey } from '../kernel/keys.ts';
import type { Decimal } from '../kernel/money.ts';

/** What a merchant sells, at the price that the server resolves orders with. */
export interface Product extends ProductRef {
  readonly name: string;
  readonly price: Decimal;
  readonly currency: string;
  readonly active: boolean;
  readonly updatedAtMs: number;
}

export function productAttributes(product: Product): ItemKey & Readonly<Record<string, AttributeInput>> {
  return {
    ...productKey(product),
    name: product.name,
    price: product.price,
    currency: product.currency,
    active: product.active,
    updated_at: integer(product.updatedAtMs),
  };
}

export function readProduct(item: StoredItem): Product {
  const [tenant = '', merchantId = ''] = readString(item, 'uuid').split('#');
  return {
    tenant,
    merchantId,
    sku: readString(item, 'type').slice(PREFIX.product.length),
    name: readString(item, 'name'),
    price: readDecimal(item, 'price'),
    currency: readString(item, 'currency'),
    active: readBoolean(item, 'active'),
    updatedAtMs: readInteger(item, 'updated_at'),
  };
}
