import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { epochS } from '../ledger/kernel/clock.ts';
import { orderNodeId } from '../ledger/items/node-ids.ts';
import { applyEvent } from '../ledger/usecases/provider-updates/apply-event.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import type { UpdateResult } from '../ledger/usecases/provider-updates/provider-update.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ProviderEvent } from '../provider/port.ts';
import { aboutEvent, typeLabel } from './about-event.ts';

export const STRIPE_WEBHOOK_PATH = '/webhooks/stripe';

/** Several times the largest event that Stripe sends. */
const MAX_BODY_BYTES = 1_048_576;

export interface StripeWebhookOptions {
  readonly ledger: Ledger;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** What limits how many posts are read and answered at a time. */
  readonly limitInFlight?: MiddlewareHandler;
}

/**
 * `POST /webhooks/stripe` (docs/DESIGN.md §8): the raw bytes are verified before anything looks into them. 400 for what
 * isn't authentic, 413 for too much, 2xx for what needs no redelivery, 503 for what must come again,
 * 500 for a bug. No byte of a body is ever logged.
 */
export function stripeWebhook({ ledger, logger, metrics, limitInFlight }: StripeWebhookOptions): Hono {
  const app = new Hono();
  app.use(STRIPE_WEBHOOK_PATH, refuseUnsigned(metrics, logger));
  if (limitInFlight !== undefined) app.use(STRIPE_WEBHOOK_PATH, limitInFlight);
  const limit = bodyLimit({
    maxSize: MAX_BODY_BYTES,
    onError: (context) => {
      metrics.count('WebhookRefused', { reason: 'too large' });
      return context.json({ error: 'the body is too large' }, 413);
    },
  });
  app.post(STRIPE_WEBHOOK_PATH, limit, async (context) => {
    const body = new Uint8Array(await context.req.arrayBuffer());
    const nowS = epochS(ledger.clock.nowMs());
    const reading = ledger.provider.readWebhook(body, context.req.header('stripe-signature'), nowS);
    if (reading.kind === 'INAUTHENTIC') {
      metrics.count('WebhookRefused', { reason: reading.reason });
      logger.warn('refused a webhook', { reason: reading.reason });
      return context.json({ error: 'not an event that Stripe signed for us' }, 400);
    }
    if (reading.kind === 'MALFORMED') {
      // To send it again would change nothing.
      metrics.count('UnreadableEvent');
      const { reason, field } = reading;
      logger.error('a signed webhook has no id', { reason, field });
      return context.json({ outcome: 'FAILED', duplicate: false }, 200);
    }
    const { event } = reading;
    if (event.leftAlone !== undefined) metrics.count('EventLeftAlone', { reason: event.leftAlone });
    try {
      const settled = await applyEvent(ledger, event);
      report(settled, event, logger, metrics);
      return settled.kind === 'DONE'
        ? context.json({ outcome: settled.outcome, duplicate: settled.duplicate }, 200)
        : context.json({ error: 'come again' }, 503);
    } catch (error) {
      metrics.count('WebhookEvent', { type: typeLabel(event), outcome: 'FAILED' });
      metrics.count('EventFailed');
      logger.error('a webhook failed', aboutEvent(event), error);
      return context.json({ error: 'come again' }, 500);
    }
  });
  return app;
}

/** What nobody signed can't be Stripe's, whatever its body says: the body is left unread, and the connection ends. */
function refuseUnsigned(metrics: Metrics, logger: Logger): MiddlewareHandler {
  return async (context, next) => {
    if (context.req.method === 'POST' && (context.req.header('stripe-signature') ?? '') === '') {
      const reason = 'no signature';
      metrics.count('WebhookRefused', { reason });
      logger.warn('refused a webhook', { reason });
      return context.json({ error: 'not an event that Stripe signed for us' }, 400, { connection: 'close' });
    }
    await next();
    return undefined;
  };
}

function report(settled: UpdateResult, event: ProviderEvent, logger: Logger, metrics: Metrics): void {
  const outcome =
    settled.kind === 'RETRY_LATER' ? settled.kind : settled.duplicate ? 'DUPLICATE' : settled.outcome;
  metrics.count('WebhookEvent', { type: typeLabel(event), outcome });
  const fields = { ...aboutEvent(event), outcome };
  if (settled.kind === 'RETRY_LATER') {
    logger.warn('a webhook must come again', { ...fields, reason: settled.reason });
    return;
  }
  const about = {
    ...fields,
    tenant: settled.order?.tenant,
    orderId: settled.order === undefined ? undefined : orderNodeId(settled.order),
    reason: settled.detail,
  };
  if (outcome === 'FAILED') logger.error('a webhook can not be read', about);
  else if (outcome === 'MISMATCH') logger.warn('a webhook is not what was ordered', about);
  else logger.info('took up a webhook', about);
}
