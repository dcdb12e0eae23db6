/** What a principal may be (docs/DESIGN.md §11). */
export type Role = 'CUSTOMER' | 'MERCHANT' | 'TERMINAL' | 'ADMIN';

export const ROLES: readonly Role[] = ['CUSTOMER', 'MERCHANT', 'TERMINAL', 'ADMIN'];

/** Who a request speaks for, as a verified token says. */
export interface Viewer {
  readonly tenant: string;
  /** The principal: a customer's account, or the name of a terminal, a merchant's user or an admin. */
  readonly subject: string;
  readonly role: Role;
  /** Of merchants and terminals, always; of others never. */
  readonly merchantId?: string;
  /** When the token ends, and with it every socket that was opened on it. */
  readonly expiresAtMs: number;
}
