import {
  PaidOrderDocument,
  type PayOrderMutation,
  PayOrderDocument,
} from '../support/generated/documents.ts';
import type { KeptKeys } from './kept-keys.ts';
import type { Sent, Transport } from './transport.ts';

/** What the screen shows after a payment. */
export type Payment =
  | { readonly kind: 'PAID'; readonly balance: string | undefined }
  | {
      readonly kind: 'TOO_LITTLE_MONEY';
      readonly missing: { readonly required: string; readonly available: string };
    }
  | { readonly kind: 'NOT_PAYABLE'; readonly state: string }
  | { readonly kind: 'REFUSED'; readonly message: string }
  /** Nobody knows yet. The key is kept; ask again, now or after a restart. */
  | { readonly kind: 'UNKNOWN' };

export interface PayOptions {
  readonly transport: Transport;
  readonly keys: KeptKeys;
  readonly wait: (ms: number) => Promise<void>;
  readonly tries?: number;
}

type Outcome = PayOrderMutation['charge'];

/**
 * Pays an order from the wallet. Safe to call again at any time, also after a crash: the same intent has the same key.
 * A new key is made only after the old one's outcome is known, and only when the user decides to pay again.
 */
export async function pay(options: PayOptions, orderId: string): Promise<Payment> {
  const { transport, keys, wait, tries = 5 } = options;
  const intent = `pay ${orderId}`;
  const key = await keys.keyFor(intent);
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const sent = await transport.run(PayOrderDocument, { key, orderId });
    const verdict = judge(sent);
    if (verdict.kind === 'UNKNOWN') break;
    if (verdict.kind !== 'AGAIN') {
      // Only an outcome settles. A refused request says nothing of an earlier one whose answer was lost.
      if (sent.kind === 'DATA') await keys.settle(intent);
      return verdict;
    }
    await wait(verdict.afterMs ?? 200 * 2 ** attempt);
  }
  return await readOrder(options, intent, orderId);
}

type Verdict = Payment | { readonly kind: 'AGAIN'; readonly afterMs: number | undefined };

function judge(sent: Sent<PayOrderMutation>): Verdict {
  switch (sent.kind) {
    case 'DATA':
      return judgeOutcome(sent.data.charge);
    case 'REFUSED':
      // Nothing was done. A fresh token or a little patience may help; the key stays good.
      return sent.code === 'UNAUTHENTICATED' || sent.code === 'RATE_LIMITED'
        ? { kind: 'AGAIN', afterMs: undefined }
        : { kind: 'REFUSED', message: sent.message };
    case 'UNKNOWN':
      return { kind: 'AGAIN', afterMs: undefined };
  }
}

/** Every member that this client was built with, by name; the compiler says when the schema has got another one. */
function judgeOutcome(outcome: Outcome): Verdict {
  switch (outcome.__typename) {
    case 'ChargeSuccess':
      return { kind: 'PAID', balance: outcome.balance.amount };
    case 'InsufficientBalance':
      return {
        kind: 'TOO_LITTLE_MONEY',
        missing: { required: outcome.required, available: outcome.available },
      };
    case 'OrderNotPayable':
      return { kind: 'NOT_PAYABLE', state: outcome.order.state };
    case 'TransactionConflict':
    case 'Throttled':
      // SAME_KEY: what became of it isn't known, or nothing did.
      return { kind: 'AGAIN', afterMs: outcome.retryAfterMs ?? undefined };
    case 'IdempotencyKeyReused':
    case 'InvalidInput':
    case 'NotFound':
      return { kind: 'REFUSED', message: outcome.message };
    default:
      // A member that came with a newer gateway is an unknown outcome, never a reason for a new key.
      outcome satisfies never;
      return { kind: 'UNKNOWN' };
  }
}

/** The order itself knows whether it was paid, whatever became of the answers. */
async function readOrder({ transport, keys }: PayOptions, intent: string, orderId: string): Promise<Payment> {
  const sent = await transport.run(PaidOrderDocument, { orderId });
  const state = sent.kind === 'DATA' ? sent.data.order?.state : undefined;
  if (state !== 'PAID' && state !== 'CONFIRMED') return { kind: 'UNKNOWN' };
  await keys.settle(intent);
  return { kind: 'PAID', balance: undefined };
}
