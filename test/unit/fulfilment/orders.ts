import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { payOrder } from '../../../src/ledger/model/orders/payments.ts';
import { openedOrder } from '../../support/sample-orders.ts';

export const PAID_AT_MS = 1_900_000_000_000;

/** A purchase of 12.50 USD, paid from a wallet, with these steps due. */
export function paidOrder(...stepNames: readonly string[]): Order {
  const order = openedOrder({
    tenant: 't_1',
    accountId: 'u_1',
    orderId: '01K9ZZZZZZZZZZZZZZZZZZZZZZ',
    merchantId: 'm_1',
    currency: 'USD',
    amount: '12.5',
    atMs: PAID_AT_MS - 1_000,
  });
  return payOrder(
    order,
    'WALLET_CHARGE',
    { method: 'WALLET', atMs: PAID_AT_MS, asset: 'ECOPAY' },
    stepNames,
    { cause: 'WALLET_CHARGED', actor: 'u_1', atMs: PAID_AT_MS },
  );
}
