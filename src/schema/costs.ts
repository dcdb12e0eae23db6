import { MAX_LINES, MAX_LISTED_TRANSITIONS } from '../ledger/model/orders/order-changes.ts';
import { MAX_METADATA } from '../ledger/model/orders/order-metadata.ts';
import { MAX_ATTEMPTS, MAX_REFUNDS } from '../ledger/model/orders/order-size.ts';
import { assetsOf } from '../ledger/usecases/queries/read-wallets.ts';
import { listMerchants } from '../ledger/usecases/queries/read-merchants.ts';
import { DEFAULT_PAGE_SIZE, type PageRequest } from '../ledger/usecases/runtime/pages.ts';
import type { RequestContext } from './context.ts';

/*
 * What a field costs, known before anything runs: one for the field, times the rows that its list can hold, and more where the
 * table is read. A unit is about the CPU time that one plain field takes.
 */

interface FieldCost {
  readonly field: number;
  readonly multiplier: number;
}

/** A page is a query of its own: in CPU time as much as a hundred plain fields. */
const PAGE_READ_COST = 100;
/** One item of a batch that is read. */
const ITEM_READ_COST = 20;

/** A follow-up for what is paid, and one or two for what is refunded or disputed: each has a name of its own. */
const MOST_STEPS = MAX_REFUNDS + 20;
/** A charge with every reward books fewer, and so does whatever is taken back of it. */
const MOST_POSTINGS = 10;
/** An order has room for one of each of its payments, and each attempt may be paid. */
export const MAX_SHOWN_DISPUTES = MAX_ATTEMPTS;
const MOST_ISSUES = 2 * MAX_LINES;

/** Of lists of an order or another item: as many rows as they can have. That many rows cost as much as the query of refunds. */
export const PART_COST = {
  lines: upTo(MAX_LINES),
  timeline: upTo(MAX_LISTED_TRANSITIONS),
  refunds: upTo(MAX_REFUNDS),
  disputes: upTo(MAX_SHOWN_DISPUTES),
  steps: upTo(MOST_STEPS),
  postings: upTo(MOST_POSTINGS),
  issues: upTo(MOST_ISSUES),
} as const;

/** A single item that is read where it is selected. */
export const ITEM_COST: FieldCost = { field: 1 + ITEM_READ_COST, multiplier: 1 };

/** An item that is read where it is selected, and its entries. */
export const METADATA_COST: FieldCost = { field: 1 + ITEM_READ_COST, multiplier: MAX_METADATA };

/** The arguments of a list as GraphQL gives them: absent and null are the same. */
export type PageArguments = { readonly [Name in keyof PageRequest]: PageRequest[Name] | null };

/** A page of a connection, by the rows that are asked for. */
export function pageCost({ first, last }: PageArguments): FieldCost {
  return { field: 1 + PAGE_READ_COST, multiplier: Math.max(first ?? last ?? DEFAULT_PAGE_SIZE, 1) };
}

/** Every merchant that the viewer's tenant has. */
export function merchantsCost(_args: unknown, { ledger, viewer }: RequestContext): FieldCost {
  return upTo(listMerchants(ledger, viewer).length);
}

/** A balance of every asset that the viewer's tenant has, each an item that is read. */
export function balancesCost(_args: unknown, { ledger, viewer }: RequestContext): FieldCost {
  const assets = assetsOf(ledger, viewer.tenant).length;
  return { field: 1 + assets * ITEM_READ_COST, multiplier: Math.max(assets, 1) };
}

function upTo(rows: number): FieldCost {
  return { field: 1, multiplier: Math.max(rows, 1) };
}
