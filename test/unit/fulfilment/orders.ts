import { decimal } from '../../../src/ledger/money.ts';
import type { Order } from '../../../src/ledger/orders/order.ts';
import { openOrder, payOrder } from '../../../src/ledger/orders/payments.ts';

export const PAID_AT_MS = 1_900_000_000_000;

/** A purchase of 12.50 USD, paid from a wallet, with these steps due. */
export function paidOrder(...stepNames: readonly string[]): Order {
  const order = openOrder({
    tenant: 't_1',
    accountId: 'u_1',
    orderId: '01K9ZZZZZZZZZZZZZZZZZZZZZZ',
    kind: 'PURCHASE',
    merchantId: 'm_1',
    currency: 'USD',
    amount: decimal('12.5'),
    lines: [],
    actor: 'u_1',
    consented: false,
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
