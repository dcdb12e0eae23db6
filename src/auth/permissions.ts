import { type Role, type Viewer, tillOf } from './viewer.ts';

/**
 * Which roles may ever do a thing. A role that isn't named gets FORBIDDEN, whatever the object (docs/DESIGN.md §11);
 * a role that is named still sees only what is its own, by the functions below, and gets null or NotFound otherwise.
 */
const ALLOWED = {
  CREATE_ORDER: ['CUSTOMER', 'MERCHANT', 'TERMINAL', 'ADMIN'],
  NAME_AMOUNT: ['MERCHANT', 'TERMINAL', 'ADMIN'],
  CHARGE: ['CUSTOMER', 'TERMINAL'],
  CHECKOUT: ['CUSTOMER'],
  TOP_UP_CASH: ['TERMINAL'],
  TOP_UP_CHECKOUT: ['CUSTOMER'],
  REFUND: ['MERCHANT', 'TERMINAL', 'ADMIN'],
  CANCEL_ORDER: ['CUSTOMER', 'MERCHANT', 'TERMINAL', 'ADMIN'],
  ADJUST_BALANCE: ['ADMIN'],
  APPROVE: ['ADMIN'],
  REJECT_PROPOSAL: ['ADMIN'],
  ISSUE_PAYMENT_CODE: ['CUSTOMER'],
  UPDATE_PROFILE: ['CUSTOMER', 'ADMIN'],
  PUT_PRODUCT: ['MERCHANT', 'ADMIN'],
  RETRY_STEP: ['ADMIN'],
  SKIP_STEP: ['MERCHANT', 'ADMIN'],
  REPLAY_WEBHOOK_EVENT: ['ADMIN'],
  READ_OTHER_WALLET: ['TERMINAL', 'ADMIN'],
  READ_DEAD_STEPS: ['ADMIN'],
  READ_WEBHOOK_PROBLEMS: ['ADMIN'],
  READ_PROPOSALS: ['ADMIN'],
  REPAIR: ['ADMIN'],
  WATCH_WALLET_ENTRIES: ['CUSTOMER', 'ADMIN'],
  WATCH_MERCHANT_ORDERS: ['MERCHANT', 'ADMIN'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;

export type Permission = keyof typeof ALLOWED;

/** Whether the role may ever do this; if not, the answer is FORBIDDEN. */
export function mayPerform(role: Role, permission: Permission): boolean {
  const roles: readonly Role[] = ALLOWED[permission];
  return roles.includes(role);
}

/** Whose an order is: the part of an order that the rules about single orders read. */
export interface OrderOwnership {
  readonly tenant: string;
  readonly accountId: string;
  /** The merchant of a purchase; a top-up has none. */
  readonly merchantId?: string;
  /** Of a paid cash top-up it names the till that took the cash: `cafe/till-1`. */
  readonly payment?: { readonly terminalId?: string } | undefined;
}

/** Customers see their own, merchants and terminals their merchant's, terminals the cash top-ups they took, admins all. */
export function maySeeOrder(viewer: Viewer, order: OrderOwnership): boolean {
  if (viewer.tenant !== order.tenant) return false;
  switch (viewer.role) {
    case 'ADMIN':
      return true;
    case 'CUSTOMER':
      return viewer.subject === order.accountId;
    case 'MERCHANT':
      return worksFor(viewer, order.merchantId);
    case 'TERMINAL':
      return worksFor(viewer, order.merchantId) || tookTheCash(viewer, order);
  }
}

/** Whether the viewer may open a purchase at this merchant for this account: customers only for themselves. */
export function mayOpenOrder(viewer: Viewer, order: OrderOwnership): boolean {
  return mayPerform(viewer.role, 'CREATE_ORDER') && maySeeOrder(viewer, order);
}

export function mayCheckOut(viewer: Viewer, order: OrderOwnership): boolean {
  return mayPerform(viewer.role, 'CHECKOUT') && maySeeOrder(viewer, order);
}

/** A merchant refunds its own orders, an admin any, a terminal only the cash top-ups that it took. */
export function mayRefund(viewer: Viewer, order: OrderOwnership): boolean {
  if (!mayPerform(viewer.role, 'REFUND') || !maySeeOrder(viewer, order)) return false;
  return viewer.role !== 'TERMINAL' || tookTheCash(viewer, order);
}

export function mayCancel(viewer: Viewer, order: OrderOwnership): boolean {
  return mayPerform(viewer.role, 'CANCEL_ORDER') && maySeeOrder(viewer, order);
}

/** A merchant lets a step of its own orders be, an admin of any. */
export function maySkipStep(viewer: Viewer, order: OrderOwnership): boolean {
  return mayPerform(viewer.role, 'SKIP_STEP') && maySeeOrder(viewer, order);
}

/** Whether the viewer sees the provider's payment id, by which a merchant's back office finds the payment at Stripe. */
export function maySeeProviderReference(viewer: Viewer, order: OrderOwnership): boolean {
  return (viewer.role === 'MERCHANT' || viewer.role === 'ADMIN') && maySeeOrder(viewer, order);
}

/** Balances: the customer's own, for the till any customer's, for an admin any. */
export function maySeeBalances(viewer: Viewer, tenant: string, accountId: string): boolean {
  return maySeeHistory(viewer, tenant, accountId) || (viewer.role === 'TERMINAL' && viewer.tenant === tenant);
}

/** Entries, profile and metrics: the customer's own, for an admin any. Never for the till. */
export function maySeeHistory(viewer: Viewer, tenant: string, accountId: string): boolean {
  if (viewer.tenant !== tenant) return false;
  return viewer.role === 'ADMIN' || (viewer.role === 'CUSTOMER' && viewer.subject === accountId);
}

/** Products and the live feed: the merchant's own, or an admin's. */
export function mayManageMerchant(viewer: Viewer, tenant: string, merchantId: string): boolean {
  if (viewer.tenant !== tenant) return false;
  return viewer.role === 'ADMIN' || (viewer.role === 'MERCHANT' && worksFor(viewer, merchantId));
}

/** A merchant's list of orders: for whoever sees each of them. */
export function mayListMerchantOrders(viewer: Viewer, tenant: string, merchantId: string): boolean {
  if (viewer.tenant !== tenant) return false;
  return viewer.role === 'ADMIN' || (viewer.role !== 'CUSTOMER' && worksFor(viewer, merchantId));
}

/** A till is a merchant's: another merchant may have one of the same name. */
function tookTheCash(viewer: Viewer, { payment }: OrderOwnership): boolean {
  return payment?.terminalId !== undefined && payment.terminalId === tillOf(viewer);
}

/** Two absent merchants don't match: a top-up has no merchant, and an admin works for none. */
function worksFor(viewer: Viewer, merchantId: string | undefined): boolean {
  return merchantId !== undefined && viewer.merchantId === merchantId;
}
