import type { Entry } from '../../ledger/entry.ts';
import type { Balance } from '../../ledger/operations/read-wallets.ts';
import type { Order } from '../../ledger/orders/order.ts';
import type { RequestContext } from '../context.ts';
import { present } from '../present.ts';

/*
 * An outcome holds ids. What they name is read live: after the commit, and only where it is selected (docs/DESIGN.md §5.7).
 * Its tenant is the viewer's, since the marker that froze it is. These are resolvers of a success's fields.
 */

export const REPLAYED = 'This is the stored outcome of an earlier request with the same key.';
export const ORDER_NOW = 'The order, as it is now.';

interface OfOrder {
  readonly accountId: string;
  readonly orderId: string;
}

export async function outcomeOrder(
  { accountId, orderId }: OfOrder,
  _args: unknown,
  { load, viewer }: RequestContext,
): Promise<Order> {
  return present(await load.order({ tenant: viewer.tenant, accountId, orderId }), "an outcome's order");
}

export async function outcomeEntry(
  { accountId, entryId }: { readonly accountId: string; readonly entryId: string },
  _args: unknown,
  { load, viewer }: RequestContext,
): Promise<Entry> {
  return present(await load.ownEntry({ tenant: viewer.tenant, accountId, entryId }), "an outcome's entry");
}

/** Where what happened may have made no entry yet. */
export function outcomeEntryIfAny(
  { accountId, entryId }: { readonly accountId: string; readonly entryId?: string },
  args: unknown,
  context: RequestContext,
): Promise<Entry> | null {
  return entryId === undefined ? null : outcomeEntry({ accountId, entryId }, args, context);
}

export async function outcomeBalance(
  { accountId, asset }: { readonly accountId: string; readonly asset: string },
  _args: unknown,
  { load, viewer }: RequestContext,
): Promise<Balance> {
  return present(await load.balance({ tenant: viewer.tenant, accountId, asset }), "an outcome's balance");
}
