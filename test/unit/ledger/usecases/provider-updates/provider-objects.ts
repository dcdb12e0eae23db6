import { claimAttempt, openSession } from '../../../../../src/ledger/model/provider/attempts.ts';
import type { Order } from '../../../../../src/ledger/model/orders/order.ts';
import type {
  ProviderDispute,
  ProviderEvent,
  ProviderEventObject,
  ProviderPayment,
  ProviderRefund,
  ProviderSession,
} from '../../../../../src/provider/port.ts';
import { TEST_EPOCH_MS } from '../../../../support/owned-time.ts';
import { openedOrder } from '../../../../support/sample-orders.ts';

/** Orders of 500 JPY of alice's, and what the provider tells of them, in the port's words. */

export const ORDER_ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
export const NOW_S = TEST_EPOCH_MS / 1000;

export function newOrder(kind: Order['kind'] = 'PURCHASE'): Order {
  return openedOrder({ orderId: ORDER_ID, kind, amount: '500', atMs: TEST_EPOCH_MS });
}

export function claimed(order: Order): Order {
  const url = 'https://shop.example';
  return claimAttempt(
    order,
    { successUrl: url, cancelUrl: url, paymentMethodTypes: ['card'] },
    {
      owner: 'owner',
      leaseEndMs: TEST_EPOCH_MS + 30_000,
      request: { principal: 'alice', operation: 'checkout', key: 'k' },
      recordTtlS: 4_000_000_000,
    },
    TEST_EPOCH_MS,
    (texts) => texts,
  );
}

/** With the sessions `cs_1` to `cs_n`, of which the last is open and those before it expired. */
export function withSessions(order: Order, sessions = 1): Order {
  let made = order;
  for (let number = 1; number <= sessions; number += 1) {
    const closed = made.attempts.map((attempt) => ({ ...attempt, state: 'CLOSED' as const }));
    made = claimed(number === 1 ? made : { ...made, state: 'EXPIRED', attempts: closed });
    const attempt = made.attempts.at(-1);
    if (attempt === undefined) throw new Error('it was just claimed');
    const sessionId = `cs_${String(number)}`;
    const url = `https://checkout.stripe.test/${sessionId}`;
    const expiresAtMs = TEST_EPOCH_MS + 3_600_000;
    const what = { actor: 'alice', atMs: TEST_EPOCH_MS };
    made = openSession(made, attempt, { sessionId, url, expiresAtMs }, what);
  }
  return made;
}

const metadata = (attempt: number): ProviderSession['metadata'] => ({
  tenant: 'demo',
  orderId: `alice/${ORDER_ID}`,
  attempt,
});

/** Session `cs_n` with its payment `pi_n`. */
export function session(n: number, fields: Partial<ProviderSession> = {}): ProviderSession {
  return {
    sessionId: `cs_${String(n)}`,
    status: 'complete',
    paymentStatus: 'paid',
    expiresAtS: NOW_S + 3_600,
    createdS: NOW_S,
    paymentId: `pi_${String(n)}`,
    amountMinor: 500,
    currency: 'JPY',
    livemode: false,
    metadata: metadata(n),
    ...fields,
  };
}

export function payment(n: number, fields: Partial<ProviderPayment> = {}): ProviderPayment {
  return {
    paymentId: `pi_${String(n)}`,
    status: 'succeeded',
    amountMinor: 500,
    amountReceivedMinor: 500,
    currency: 'JPY',
    livemode: false,
    createdS: NOW_S,
    metadata: metadata(n),
    ...fields,
  };
}

export function refund(
  providerRefundId: string,
  amountMinor: number,
  status: ProviderRefund['status'],
  fields: Partial<ProviderRefund> = {},
): ProviderRefund {
  return {
    providerRefundId,
    paymentId: 'pi_1',
    status,
    amountMinor,
    currency: 'JPY',
    createdS: NOW_S,
    metadata: {},
    ...fields,
  };
}

export function dispute(
  status: ProviderDispute['status'],
  fields: Partial<ProviderDispute> = {},
): ProviderDispute {
  return {
    disputeId: 'du_1',
    paymentId: 'pi_1',
    status,
    amountMinor: 500,
    currency: 'JPY',
    livemode: false,
    createdS: NOW_S,
    ...fields,
  };
}

/** An event without its id, which each delivery of a story gives. */
export type Reported = Omit<ProviderEvent, 'eventId'>;

export function reported(type: string, object: ProviderEventObject): Reported {
  return { type, createdS: NOW_S, livemode: false, object };
}

export const tell = {
  session: (type: string, of: ProviderSession): Reported =>
    reported(`checkout.session.${type}`, { kind: 'session', session: of }),
  payment: (type: string, of: ProviderPayment): Reported =>
    reported(`payment_intent.${type}`, { kind: 'payment', payment: of }),
  refund: (type: string, of: ProviderRefund): Reported =>
    reported(`refund.${type}`, { kind: 'refund', refund: of }),
  dispute: (type: string, of: ProviderDispute): Reported =>
    reported(`charge.dispute.${type}`, { kind: 'dispute', dispute: of }),
  chargeRefunded: (): Reported =>
    reported('charge.refunded', { kind: 'charge', paymentId: 'pi_1', metadata: metadata(1) }),
};
