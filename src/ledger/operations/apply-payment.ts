import type { ProviderPayment, ProviderSession } from '../../stripe/port.ts';
import type { Attempt, Order, PaymentPage } from '../orders/order.ts';
import { isCurrent, ownerOfPayment } from '../provider/provider-attempts.ts';
import { amountObjection, ignored, mismatch, stale } from '../provider/provider-facts.ts';
import { receivePayment } from '../provider/provider-payments.ts';
import { type AttemptFate, learn, suffer } from '../provider/provider-waiting.ts';
import { isPaid } from '../orders/order-states.ts';
import { disowned } from './apply-session.ts';
import type { Ledger } from './ledger.ts';
import { occasionOf } from './occasion.ts';
import { type Judgement, type Known, settleFact } from './settle-fact.ts';
import type { Settled, Source } from './told-fact.ts';

/** What is told of a payment. ACTION: the customer has something to do, which counts where it is paying a slip. */
export type PaymentNews = 'SUCCEEDED' | 'PROCESSING' | 'ACTION' | 'DECLINED' | 'CANCELED';

/** What a payment that we asked for says; undefined where it waits for the customer's first try or the next. */
export function paymentNews({ status }: ProviderPayment): PaymentNews | undefined {
  switch (status) {
    case 'succeeded':
      return 'SUCCEEDED';
    case 'processing':
      return 'PROCESSING';
    case 'requires_action':
      return 'ACTION';
    case 'canceled':
      return 'CANCELED';
    case 'requires_payment_method':
    case 'other':
      return undefined;
  }
}

/** Applies what is told of a payment to its order, once, whatever came before (docs/DESIGN.md §8). */
export function applyPayment(
  ledger: Ledger,
  payment: ProviderPayment,
  news: PaymentNews,
  source: Source,
): Promise<Settled> {
  const { paymentId, metadata, livemode } = payment;
  return settleFact(
    ledger,
    source,
    { paymentId, metadata, objectId: paymentId, livemode },
    { known: (known) => judge(ledger, payment, news, known) },
  );
}

async function judge(
  ledger: Ledger,
  payment: ProviderPayment,
  news: PaymentNews,
  { order, booking }: Known,
): Promise<Judgement> {
  if (booking !== undefined) return stale('booked already');
  const isMoney = news === 'SUCCEEDED';
  if (!isMoney && isPaid(order.state)) return stale('the order is paid');
  const owner = ownerOfPayment(order, payment.paymentId, payment.metadata.attempt);
  if (owner.kind === 'NOT_YET') return { kind: 'NOT_YET', detail: 'its attempt has no session' };
  if (owner.kind === 'GIVEN_UP' || owner.kind === 'NOT_OWN') return disowned(owner, isMoney);
  const { attempt } = owner;
  if (!isMoney && !isCurrent(order, attempt)) return stale('of an earlier attempt');
  if (news === 'ACTION' && payment.slip === undefined) return ignored('no slip to pay');

  let session: ProviderSession | undefined;
  if (owner.kind === 'ASK' || news === 'CANCELED') {
    const asked = await askSession(ledger, attempt);
    if (asked.kind !== 'SESSION') return asked;
    session = asked.session;
    if (owner.kind === 'ASK' && session.paymentId !== payment.paymentId)
      return mismatch("not the order's own");
  }
  const objection = amountObjection(order, {
    amountMinor: isMoney ? payment.amountReceivedMinor : payment.amountMinor,
    currency: payment.currency,
  });
  if (objection !== undefined) return objection;
  if (isMoney) return receivePayment(order, { attempt, paymentId: payment.paymentId }, occasionOf(ledger));
  return undergo(ledger, order, attempt, payment, news, session);
}

async function askSession(
  ledger: Ledger,
  { sessionId }: Attempt,
): Promise<Judgement | { readonly kind: 'SESSION'; readonly session: ProviderSession }> {
  if (sessionId === undefined) return mismatch("not the order's own");
  const asked = await ledger.provider.retrieveSession(sessionId);
  if (asked.kind === 'DONE') return { kind: 'SESSION', session: asked.value };
  return asked.kind === 'REFUSED'
    ? mismatch('its session is not there')
    : { kind: 'COME_AGAIN', reason: 'PROVIDER' };
}

async function undergo(
  ledger: Ledger,
  order: Order,
  attempt: Attempt,
  payment: ProviderPayment,
  news: Exclude<PaymentNews, 'SUCCEEDED'>,
  session: ProviderSession | undefined,
): Promise<Judgement> {
  const closed = session?.status === 'complete' || session?.status === 'expired';
  const learnt = { paymentId: payment.paymentId, closed };
  const occasion = occasionOf(ledger);
  const undergone = (fate: AttemptFate): Judgement => suffer(order, attempt, fate, learnt, occasion);
  switch (news) {
    case 'PROCESSING':
      return undergone({ kind: 'WAITING' });
    case 'DECLINED':
      return undergone({ kind: 'DECLINED', declineCode: payment.declineCode });
    case 'CANCELED':
      // While its session can be paid the attempt isn't over.
      if (!learnt.closed) return stale('its session is open');
      return undergone(
        session?.status === 'expired' ? { kind: 'EXPIRED' } : { kind: 'FAILED', reason: 'canceled' },
      );
    case 'ACTION': {
      const current = await currentSlip(ledger, order, payment);
      if (current.kind === 'COME_AGAIN') return current;
      if (current.slip === undefined)
        return learn(order, attempt, learnt, occasion) ?? stale('no slip any more');
      return undergone({ kind: 'WAITING', slip: current.slip });
    }
  }
}

type CurrentSlip =
  | { readonly kind: 'SLIP'; readonly slip: PaymentPage | undefined }
  | Extract<Judgement, { kind: 'COME_AGAIN' }>;

/** Where the order has another slip already, events can't tell which is the later: the provider is asked. */
async function currentSlip(ledger: Ledger, order: Order, told: ProviderPayment): Promise<CurrentSlip> {
  if (order.slip === undefined || order.slip.url === told.slip?.url)
    return { kind: 'SLIP', slip: slipOf(told, ledger.clock.nowMs()) };
  const asked = await ledger.provider.retrievePayment(told.paymentId);
  if (asked.kind !== 'DONE') return { kind: 'COME_AGAIN', reason: 'PROVIDER' };
  return { kind: 'SLIP', slip: slipOf(asked.value, ledger.clock.nowMs()) };
}

/** Instructions without a deadline, as a bank transfer's, are shown for so long. */
const NO_DEADLINE_MS = 30 * 86_400_000;

function slipOf({ slip }: ProviderPayment, nowMs: number): PaymentPage | undefined {
  if (slip === undefined) return undefined;
  return {
    url: slip.url,
    expiresAtMs: slip.expiresAtS === undefined ? nowMs + NO_DEADLINE_MS : slip.expiresAtS * 1000,
  };
}
