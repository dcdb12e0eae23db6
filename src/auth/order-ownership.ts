import type { OrderOwnership } from './permissions.ts';
import { defined } from '../ledger/defined.ts';
import type { Order } from '../ledger/orders/order.ts';

/** Whose an order is, as the rules of permission ask it. */
export function ownershipOf({ tenant, accountId, merchantId, payment }: Order): OrderOwnership {
  return { tenant, accountId, ...defined({ merchantId, cashTerminal: payment?.terminalId }) };
}
