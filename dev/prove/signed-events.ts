import { DEVELOPMENT_STRIPE_WEBHOOK_SECRET } from '../../src/config/config.ts';
import { epochS, systemClock } from '../../src/ledger/kernel/clock.ts';
import { signatureHeader } from '../stripe-simulator/webhooks/webhook-signature.ts';

/** Posts a body to the webhook with this signature; gives the status. */
export async function postWebhook(url: string, body: string, signature: string | undefined): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      ...(signature === undefined ? {} : { 'stripe-signature': signature }),
    },
  });
  await response.arrayBuffer();
  return response.status;
}

/** The signature of a body as Stripe makes it, or as somebody else or at another time would have. */
export function signed(
  body: string,
  { secret = DEVELOPMENT_STRIPE_WEBHOOK_SECRET, agedS = 0 }: { secret?: string; agedS?: number } = {},
): string {
  return signatureHeader(body, secret, epochS(systemClock.nowMs()) - agedS);
}

/** Posts an event, rightly signed. */
export async function postEvent(url: string, event: object): Promise<number> {
  const body = JSON.stringify(event);
  return await postWebhook(url, body, signed(body));
}
