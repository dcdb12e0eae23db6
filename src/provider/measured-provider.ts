import type { Clock } from '../ledger/kernel/clock.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { PaymentProvider, ProviderResult } from './port.ts';

export interface Measuring {
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'count' | 'observe'>;
}

/** The same provider, each call of it counted by how it ended, and timed. */
export function measuredProvider(provider: PaymentProvider, { clock, metrics }: Measuring): PaymentProvider {
  const measured =
    <Args extends readonly unknown[], Value>(
      operation: string,
      call: (...args: Args) => Promise<ProviderResult<Value>>,
    ) =>
    async (...args: Args): Promise<ProviderResult<Value>> => {
      const startedAtMs = clock.nowMs();
      const result = await call(...args);
      metrics.count('ProviderCall', { operation, result: result.kind });
      metrics.observe('providerDurationS', (clock.nowMs() - startedAtMs) / 1_000, { operation });
      return result;
    };
  return {
    livemode: provider.livemode,
    createSession: measured('createSession', provider.createSession),
    retrieveSession: measured('retrieveSession', provider.retrieveSession),
    listSessions: measured('listSessions', provider.listSessions),
    expireSession: measured('expireSession', provider.expireSession),
    retrievePayment: measured('retrievePayment', provider.retrievePayment),
    listPayments: measured('listPayments', provider.listPayments),
    createRefund: measured('createRefund', provider.createRefund),
    retrieveRefundedAmount: measured('retrieveRefundedAmount', provider.retrieveRefundedAmount),
    retrieveRefund: measured('retrieveRefund', provider.retrieveRefund),
    listRefunds: measured('listRefunds', provider.listRefunds),
    retrieveDispute: measured('retrieveDispute', provider.retrieveDispute),
    listDisputes: measured('listDisputes', provider.listDisputes),
    retrieveEvent: measured('retrieveEvent', provider.retrieveEvent),
    retrieveEventObject: measured('retrieveEventObject', provider.retrieveEventObject),
    listEvents: measured('listEvents', provider.listEvents),
    readWebhook: provider.readWebhook,
  };
}
