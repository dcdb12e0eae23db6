import type { OrderOwnership } from '../auth/permissions.ts';
import { defined } from './defined.ts';
import type { Order } from './order.ts';

/** Whose an order is, as the rules of permission ask it. */
export function ownershipOf({ tenant, accountId, merchantId, payment }: Order): OrderOwnership {
  return { tenant, accountId, ...defined({ merchantId, cashTerminal: payment?.terminalId }) };
}
