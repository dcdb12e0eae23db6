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

/**
 * The whole principal of a viewer within its tenant, as one text: `customer/alice`, `terminal/cafe/till-1`. Two merchants may
 * name their tills alike. No id has a slash in it, so no two principals have one text.
 */
export function principalOf({ role, merchantId, subject }: Viewer): string {
  return [role.toLowerCase(), ...(merchantId === undefined ? [] : [merchantId]), subject].join('/');
}

/** The subject of a principal's text. */
export function subjectOf(principal: string): string {
  return principal.slice(principal.lastIndexOf('/') + 1);
}

/** A till, `cafe/till-1`: of a terminal's viewer its merchant and its name; undefined of anybody else. */
export function tillOf({ role, merchantId, subject }: Viewer): string | undefined {
  return role === 'TERMINAL' && merchantId !== undefined ? `${merchantId}/${subject}` : undefined;
}
