import { html } from 'hono/html';
import type Stripe from 'stripe';
import { displayAmount } from '../objects/currencies.ts';
import { type Markup, page } from './page-layout.ts';
import type { WireLineItem } from '../state.ts';

/** The cards on the page: what choosing one does, and the number Stripe's test mode knows it by. */
const CARDS = [
  { value: 'works', label: 'A card that works', number: '4242 … 4242' },
  { value: 'generic_decline', label: 'A card that is declined', number: '4000 … 0002' },
  { value: 'insufficient_funds', label: 'A card without enough funds', number: '4000 … 9995' },
] as const;

export const CARD_CHOICES: readonly string[] = CARDS.map(({ value }) => value);

const DECLINE_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['generic_decline', 'Your card was declined. Try another card.'],
  ['insufficient_funds', 'Your card has insufficient funds. Try another card.'],
]);

/** Where a customer goes back to, with the session's id filled in where the shop asked for it. */
export function successUrl(session: Stripe.Checkout.Session): string {
  return (session.success_url ?? '/').replaceAll('{CHECKOUT_SESSION_ID}', session.id);
}

/** The checkout page of a session, or what became of it. */
export function checkoutPage(
  session: Stripe.Checkout.Session,
  lineItems: readonly WireLineItem[],
  lastError: Stripe.PaymentIntent.LastPaymentError | null,
): Markup {
  const amount = displayAmount(session.amount_total ?? 0, session.currency ?? 'jpy');
  const summary = html`
    <h1>Your order</h1>
    <p class="amount">${amount}</p>
    <ul class="lines" aria-label="What you pay for">
      ${lineItems.map(
        (item) =>
          html`<li>
            <span>${item.description} × ${item.quantity}${eachPrice(item)}</span>
            <span>${displayAmount(item.amount_total, item.currency)}</span>
          </li>`,
      )}
    </ul>
  `;
  const content = session.status === 'open' ? paymentForms(session, amount, lastError) : sessionOver(session);
  return page(`Pay ${amount}`, html`${summary}${content}`);
}

/** What one costs, where there are several. */
function eachPrice({ quantity, price, currency }: WireLineItem): string {
  const unit = price.unit_amount ?? undefined;
  return quantity === null || quantity < 2 || unit === undefined
    ? ''
    : `, ${displayAmount(unit, currency)} each`;
}

/** The slip of a convenience-store payment: with its code while it waits, else how it ended. */
export function voucherPage(intent: Stripe.PaymentIntent, returnUrl: string): Markup {
  const amount = displayAmount(intent.amount, intent.currency);
  const voucher = intent.next_action?.konbini_display_details;
  const waiting = voucher === undefined ? undefined : waitingVoucher(intent.id, voucher);
  return page(
    `Convenience store: ${amount}`,
    html`
      <h1>Pay at a convenience store <span lang="ja">（コンビニ払い）</span></h1>
      <p class="amount">${amount}</p>
      ${waiting ?? voucherOver(intent)}
      <footer><a href="${returnUrl}">Back to the shop</a></footer>
    `,
  );
}

/** What is told where nothing else can be shown. */
export function messagePage(title: string, message: string): Markup {
  return page(
    title,
    html`<h1>${title}</h1>
      <p class="note">${message}</p>
      <footer><a href="/">All sessions</a></footer>`,
  );
}

function paymentForms(
  session: Stripe.Checkout.Session,
  amount: string,
  lastError: Stripe.PaymentIntent.LastPaymentError | null,
): Markup {
  const message =
    lastError === null
      ? undefined
      : (DECLINE_MESSAGES.get(lastError.decline_code ?? '') ?? 'The payment failed. Try again.');
  return html`
    ${message === undefined ? '' : html`<p class="alert" role="alert">${message}</p>`}
    ${session.payment_method_types.includes('card') ? cardForm(session.id, amount) : ''}
    ${session.payment_method_types.includes('konbini') ? konbiniForm(session.id) : ''}
    ${
      session.cancel_url === null
        ? ''
        : html`<footer><a href="${session.cancel_url}">Cancel and go back to the shop</a></footer>`
    }
  `;
}

function cardForm(sessionId: string, amount: string): Markup {
  return html`
    <h2>Pay by card</h2>
    <form method="post" action="/pay/${sessionId}/card">
      <fieldset>
        <legend>Which card do you have?</legend>
        ${CARDS.map(
          ({ value, label, number }, index) =>
            html`<label>
              <input type="radio" name="card" value="${value}" ${index === 0 ? 'checked' : ''} />
              ${label}<code>${number}</code>
            </label>`,
        )}
      </fieldset>
      <button>Pay ${amount}</button>
    </form>
  `;
}

function konbiniForm(sessionId: string): Markup {
  return html`
    <h2>Pay later at a convenience store <span lang="ja">（コンビニ）</span></h2>
    <p class="note">You get a slip with a payment code and pay in cash within a few days.</p>
    <form method="post" action="/pay/${sessionId}/konbini">
      <button class="quiet">Get a payment slip</button>
    </form>
  `;
}

function sessionOver(session: Stripe.Checkout.Session): Markup {
  if (session.status === 'expired') {
    return html`<p class="alert" role="status">This checkout session has expired.</p>`;
  }
  const voucher =
    session.payment_status === 'unpaid' && typeof session.payment_intent === 'string'
      ? html`<p><a href="/konbini/${session.payment_intent}">Show the payment</a></p>`
      : html`<p class="good" role="status">Paid. Thank you!</p>`;
  return html`${voucher}
    <footer><a href="${successUrl(session)}">Back to the shop</a></footer>`;
}

function waitingVoucher(
  intentId: string,
  voucher: Stripe.PaymentIntent.NextAction.KonbiniDisplayDetails,
): Markup {
  const deadline = new Date(voucher.expires_at * 1000).toISOString();
  const store = voucher.stores.lawson;
  return html`
    <dl>
      <dt>Payment code</dt>
      <dd>${store?.payment_code ?? ''}</dd>
      <dt>Confirmation number</dt>
      <dd>${store?.confirmation_number ?? ''}</dd>
      <dt>Pay by</dt>
      <dd><time datetime="${deadline}">${deadline.slice(0, 16).replace('T', ' ')} UTC</time></dd>
    </dl>
    <form method="post" action="/konbini/${intentId}/pay"><button>Pay at the store</button></form>
    <form method="post" action="/konbini/${intentId}/lapse">
      <button class="quiet">Let the slip lapse</button>
    </form>
  `;
}

function voucherOver(intent: Stripe.PaymentIntent): Markup {
  if (intent.status === 'succeeded') return html`<p class="good" role="status">Paid. Thank you!</p>`;
  if (intent.status === 'processing') {
    return html`<p class="note" role="status">The money is on its way.</p>`;
  }
  return html`<p class="alert" role="status">This slip has lapsed. Nothing was paid.</p>`;
}
