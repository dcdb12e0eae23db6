import { PAYMENT_CODE_LIFE_MS } from '../../../auth/payment-code.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import type { Ledger } from '../runtime/ledger.ts';

export interface IssuedPaymentCode {
  readonly code: string;
  readonly expiresAtMs: number;
}

/** A short-lived, single-use code that the customer shows at the till: it names the account and is its consent. */
export async function issuePaymentCode(ledger: Ledger, viewer: Viewer): Promise<IssuedPaymentCode> {
  const nowMs = ledger.clock.nowMs();
  // A token counts in whole seconds, and a code must not outlive what it says.
  const expiresAtMs = Math.floor((nowMs + PAYMENT_CODE_LIFE_MS) / 1_000) * 1_000;
  const codeId = ledger.ids.ulid(nowMs);
  const account = { tenant: viewer.tenant, accountId: viewer.subject };
  return { code: await ledger.paymentCodes.issue({ ...account, codeId, expiresAtMs }), expiresAtMs };
}
