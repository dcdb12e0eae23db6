import type { OrderOwnership } from './permissions.ts';
import { defined } from '../ledger/kernel/defined.ts';
import type { Order } from '../ledger/model/orders/order.ts';

/** Whose an order is, as the rules of permission ask it. */
export function ownershipOf({ tenant, accountId, merchantId, payment }: Order): OrderOwnership {
  return { tenant, accountId, ...defined({ merchantId, cashTerminal: payment?.terminalId }) };
}
