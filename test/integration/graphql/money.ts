import {
  AdjustBalanceDocument,
  CreateOrderDocument,
  PutProductDocument,
} from '../../support/generated/documents.ts';
import { ADMIN, type Gateway, type Principal, dataOf } from '../../support/gateway.ts';

/** Puts value into a wallet. */
export async function fund(gateway: Gateway, { subject, tenant }: Principal, amount: string): Promise<void> {
  const admin = tenant === undefined ? ADMIN : { ...ADMIN, tenant };
  const input = { accountId: subject, asset: 'ECOPAY', amount, reason: 'test funds' };
  const { adjustBalance } = dataOf(
    await gateway.run(admin, AdjustBalanceDocument, { key: gateway.key(), input }),
  );
  if (adjustBalance.__typename !== 'AdjustBalanceSuccess') throw new Error(adjustBalance.__typename);
}

/** Opens a purchase of one named line for an account of t_1, and gives its public id. */
export async function openOrder(
  gateway: Gateway,
  { subject }: Principal,
  amount: string,
  merchantId = 'm_1',
): Promise<string> {
  const input = { merchantId, accountId: subject, amount, description: 'test order' };
  const { createOrder } = dataOf(
    await gateway.run(ADMIN, CreateOrderDocument, { key: gateway.key(), input }),
  );
  if (createOrder.__typename !== 'CreateOrderSuccess') throw new Error(createOrder.__typename);
  return createOrder.order.id;
}

export async function putProduct(gateway: Gateway, sku: string, price: string): Promise<string> {
  const input = { merchantId: 'm_1', sku, name: `Product ${sku}`, price, active: true };
  const answer = dataOf(await gateway.run(ADMIN, PutProductDocument, { input }));
  if (answer.putProduct.__typename !== 'PutProductSuccess') throw new Error(answer.putProduct.__typename);
  return answer.putProduct.product.id;
}
