import type Stripe from 'stripe';
import type { SimulatorHono } from '../api/api.ts';
import { requireSession } from '../objects/checkout-sessions.ts';
import { invalidRequest, resourceMissing, StripeFault } from '../api/errors.ts';
import type { Markup } from './page-layout.ts';
import { CARD_CHOICES, checkoutPage, messagePage, voucherPage, successUrl } from './pages.ts';
import { sessionsPage } from './sessions-page.ts';
import {
  completeAsyncPayment,
  declineCard,
  failAsyncPayment,
  payByCard,
  startKonbini,
} from '../objects/paying.ts';
import type { Simulation } from '../simulation.ts';
import type { WebhookDelivery } from '../webhooks/webhook-delivery.ts';

export interface PageParts {
  readonly simulation: Simulation;
  readonly delivery: Pick<WebhookDelivery, 'isOn'>;
  /** Brings sessions and slips up to simulated time. */
  readonly settle: () => void;
  readonly save: () => Promise<void>;
}

const LISTED_SESSIONS = 50;

/** Serves the pages a customer sees: checkout, the convenience store's slip, and a list of sessions at `/`. */
export function mountPages(app: SimulatorHono, parts: PageParts): void {
  const answers = pageAnswers(parts);
  app.get('/', () =>
    answers.show(() =>
      sessionsPage({ sessions: latestSessions(parts.simulation), webhooksOn: parts.delivery.isOn() }),
    ),
  );
  mountCheckout(app, parts.simulation, answers);
  mountVouchers(app, parts.simulation, answers);
}

interface PageAnswers {
  /** Shows a page, or a refusal as one. */
  readonly show: (render: () => Markup) => Promise<Response>;
  /** Does what a form asks for and sends the browser on, so that a reload doesn't do it again. */
  readonly act: (action: () => string | Promise<string>) => Promise<Response>;
}

function pageAnswers({ settle, save }: PageParts): PageAnswers {
  return {
    show: async (render) => {
      settle();
      try {
        return await htmlResponse(render(), 200);
      } catch (error) {
        return await refusalPage(error);
      }
    },
    act: async (action) => {
      settle();
      try {
        const location = await action();
        await save();
        return new Response(null, { status: 303, headers: { location } });
      } catch (error) {
        return await refusalPage(error);
      }
    },
  };
}

function mountCheckout(app: SimulatorHono, simulation: Simulation, { show, act }: PageAnswers): void {
  app.get('/pay/:session', (context) =>
    show(() => {
      const session = requireSession(simulation, context.req.param('session'));
      const lineItems = simulation.state.sessionDetails.get(session.id)?.lineItems ?? [];
      return checkoutPage(session, lineItems, lastError(simulation, session));
    }),
  );

  app.post('/pay/:session/card', (context) =>
    act(async () => {
      const { card } = await context.req.parseBody();
      const id = context.req.param('session');
      if (typeof card !== 'string' || !CARD_CHOICES.includes(card)) throw invalidRequest('Choose a card.');
      if (card === 'works') return successUrl(payByCard(simulation, id).session);
      declineCard(simulation, id, card);
      return `/pay/${id}`;
    }),
  );

  app.post('/pay/:session/konbini', (context) =>
    act(() => `/konbini/${startKonbini(simulation, context.req.param('session')).paymentIntent?.id ?? ''}`),
  );
}

function mountVouchers(app: SimulatorHono, simulation: Simulation, { show, act }: PageAnswers): void {
  app.get('/konbini/:intent', (context) =>
    show(() => {
      const session = sessionOfIntent(simulation, context.req.param('intent'));
      const intent = simulation.state.paymentIntents.get(context.req.param('intent'));
      if (intent === undefined) throw resourceMissing('payment_intent', context.req.param('intent'));
      return voucherPage(intent, successUrl(session));
    }),
  );

  app.post('/konbini/:intent/pay', (context) =>
    act(() => {
      completeAsyncPayment(simulation, sessionOfIntent(simulation, context.req.param('intent')).id);
      return `/konbini/${context.req.param('intent')}`;
    }),
  );

  app.post('/konbini/:intent/lapse', (context) =>
    act(() => {
      failAsyncPayment(simulation, sessionOfIntent(simulation, context.req.param('intent')).id);
      return `/konbini/${context.req.param('intent')}`;
    }),
  );
}

function latestSessions(simulation: Simulation): Stripe.Checkout.Session[] {
  return [...simulation.state.sessions.values()].reverse().slice(0, LISTED_SESSIONS);
}

function lastError(
  simulation: Simulation,
  session: Stripe.Checkout.Session,
): Stripe.PaymentIntent.LastPaymentError | null {
  if (typeof session.payment_intent !== 'string') return null;
  return simulation.state.paymentIntents.get(session.payment_intent)?.last_payment_error ?? null;
}

function sessionOfIntent(simulation: Simulation, intentId: string): Stripe.Checkout.Session {
  for (const session of simulation.state.sessions.values()) {
    if (session.payment_intent === intentId) return session;
  }
  throw resourceMissing('payment_intent', intentId);
}

async function refusalPage(error: unknown): Promise<Response> {
  if (!(error instanceof StripeFault)) throw error;
  const title = error.status === 404 ? 'Not found' : 'That is not possible';
  return await htmlResponse(messagePage(title, error.message), error.status);
}

async function htmlResponse(markup: Markup, status: number): Promise<Response> {
  return new Response(String(await markup), {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  });
}
