import type { Clock } from '../ledger/kernel/clock.ts';
import type { PaymentProvider } from '../provider/port.ts';

export interface Pace {
  readonly callsPerSecond: number;
  readonly clock: Clock;
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * The same provider with a cap on its calls: background work must not use up the rate limit that customers' payments need.
 * Calls wait for their turn, in order. Throws RangeError for a rate that isn't above zero.
 */
export function pacedProvider(
  provider: PaymentProvider,
  { callsPerSecond, clock, wait }: Pace,
): PaymentProvider {
  if (!(callsPerSecond > 0)) throw new RangeError('at least one call must be allowed at some time');
  let nextTurnMs = 0;
  const paced =
    <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const nowMs = clock.nowMs();
      const turnMs = Math.max(nowMs, nextTurnMs);
      nextTurnMs = turnMs + 1000 / callsPerSecond;
      if (turnMs > nowMs) await wait(turnMs - nowMs);
      return call(...args);
    };
  return {
    livemode: provider.livemode,
    createSession: paced(provider.createSession),
    retrieveSession: paced(provider.retrieveSession),
    listSessions: paced(provider.listSessions),
    expireSession: paced(provider.expireSession),
    retrievePayment: paced(provider.retrievePayment),
    listPayments: paced(provider.listPayments),
    createRefund: paced(provider.createRefund),
    retrieveRefundedAmount: paced(provider.retrieveRefundedAmount),
    retrieveRefund: paced(provider.retrieveRefund),
    listRefunds: paced(provider.listRefunds),
    retrieveDispute: paced(provider.retrieveDispute),
    listDisputes: paced(provider.listDisputes),
    retrieveEvent: paced(provider.retrieveEvent),
    retrieveEventObject: paced(provider.retrieveEventObject),
    listEvents: paced(provider.listEvents),
    readWebhook: provider.readWebhook,
  };
}
