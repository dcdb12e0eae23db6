import Stripe from 'stripe';
import type { Clock } from '../../../src/ledger/kernel/clock.ts';
import { epochS } from '../../../src/ledger/kernel/clock.ts';
import type { State } from '../state.ts';
import { signatureHeader } from './webhook-signature.ts';

/** How long an endpoint has to answer. */
const TIMEOUT_MS = 20_000;

/**
 * Makes the function that posts an event to an endpoint, signed anew each time, as Stripe does.
 * It gives the status answered, or 0 where there was none.
 * @param clock real time, not the simulator's: an endpoint judges a signature's age by its own clock
 */
export function webhookPost(state: State, secret: string, clock: Clock) {
  return async (url: string, eventId: string, signal: AbortSignal): Promise<number> => {
    const event = state.events.get(eventId);
    if (event === undefined) return 0;
    // An event on its way isn't delivered yet, so it counts itself.
    const payload = JSON.stringify({ ...event, pending_webhooks: 1 }, null, 2);
    try {
      const response = await fetch(url, {
        method: 'POST',
        body: payload,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'user-agent': `Stripe/1.0 (+https://stripe.com/docs/webhooks) ${Stripe.API_VERSION}`,
          'stripe-signature': signatureHeader(payload, secret, epochS(clock.nowMs())),
        },
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      // No answer is an outcome of its own: the event is sent again.
      return 0;
    }
  };
}
