import { html, raw } from 'hono/html';
import type Stripe from 'stripe';
import { displayAmount } from '../objects/currencies.ts';
import { type Markup, page } from './page-layout.ts';

export interface SessionList {
  /** Latest first. */
  readonly sessions: readonly Stripe.Checkout.Session[];
  readonly webhooksOn: boolean;
}

/** A button calls a control as any program does, as JSON: a form that any web page could post here is never taken. */
const PRESS = `
  for (const button of document.querySelectorAll('[data-control]')) {
    button.addEventListener('click', async () => {
      button.disabled = true;
      const answer = await fetch('/_simulator/' + button.dataset.control, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: button.dataset.input,
      });
      if (answer.ok) return location.reload();
      document.querySelector('[role=alert]').textContent = (await answer.json()).error.message;
      document.querySelector('[role=alert]').hidden = false;
      button.disabled = false;
    });
  }
`;

/** The latest sessions, with what customers, banks and the dashboard may do to each, for who opens the simulator itself. */
export function sessionsPage({ sessions, webhooksOn }: SessionList): Markup {
  return page(
    'Stripe simulator',
    html`<h1>Checkout sessions, latest first</h1>
      <p class="alert" role="alert" hidden></p>
      ${webhookSwitch(webhooksOn)}
      ${
        sessions.length === 0
          ? html`<p class="note">
              No checkout session yet. The gateway opens one when an order is paid by card.
            </p>`
          : html`<ul class="lines sessions">
              ${sessions.map(sessionLine)}
            </ul>`
      }
      <script>
        ${raw(PRESS)};
      </script>`,
  );
}

function webhookSwitch(on: boolean): Markup {
  return html`<p class="note">
    ${on ? 'Webhooks are sent.' : 'Webhooks are lost: the sweeper finds what happens meanwhile.'}
    ${on ? button('Lose webhooks', 'set-webhooks', { on: false }) : button('Send webhooks', 'set-webhooks', { on: true })}
  </p>`;
}

function sessionLine(session: Stripe.Checkout.Session): Markup {
  return html`<li>
    <a href="/pay/${session.id}">${session.id.slice(0, 20)}…</a>
    <span>${session.status}, ${session.payment_status}</span>
    <span>${displayAmount(session.amount_total ?? 0, session.currency ?? 'jpy')}</span>
    <small>Order <code>${session.client_reference_id ?? 'none'}</code></small>
    <span>${buttons(session)}</span>
  </li>`;
}

function buttons({
  id,
  status,
  payment_status: paid,
  payment_intent: paymentIntent,
}: Stripe.Checkout.Session): Markup {
  if (status === 'open') return html`${button('Expire', 'expire-session', { session: id })}`;
  if (paid !== 'paid' || typeof paymentIntent !== 'string') return html``;
  return html`${button('Refund', 'dashboard-refund', { paymentIntent })}
  ${button('Dispute', 'open-dispute', { paymentIntent })}`;
}

function button(label: string, control: string, input: object): Markup {
  return html`<button class="small" data-control="${control}" data-input="${JSON.stringify(input)}">
    ${label}
  </button>`;
}
