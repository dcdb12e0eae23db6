import { expect, it } from 'vitest';
import { pacedProvider } from '../../../src/fulfilment/paced-provider.ts';
import type { PaymentProvider, ProviderPayment } from '../../../src/provider/port.ts';
import { ownedClock } from '../../support/owned-time.ts';

const payment: ProviderPayment = {
  paymentId: 'pi_1',
  status: 'succeeded',
  amountMinor: 500,
  amountReceivedMinor: 500,
  currency: 'JPY',
  livemode: false,
  createdS: 1,
  metadata: {},
};

function instantProvider(): PaymentProvider {
  const refused = () => Promise.resolve({ kind: 'REFUSED', code: 'unused' } as const);
  return {
    livemode: false,
    createSession: refused,
    retrieveSession: refused,
    listSessions: refused,
    expireSession: refused,
    retrievePayment: () => Promise.resolve({ kind: 'DONE', value: payment }),
    listPayments: refused,
    createRefund: refused,
    retrieveRefundedAmount: refused,
    retrieveRefund: refused,
    listRefunds: refused,
    retrieveDispute: refused,
    listDisputes: refused,
    retrieveEvent: refused,
    retrieveEventObject: refused,
    listEvents: refused,
    readWebhook: () => ({ kind: 'MALFORMED', reason: 'unused' }),
  };
}

it('lets calls through in turn, so many a second whatever they ask, and passes answers on as they are', async () => {
  const clock = ownedClock(1_000);
  const waitedMs: number[] = [];
  const wait = (ms: number): Promise<void> => {
    waitedMs.push(ms);
    return Promise.resolve();
  };
  const paced = pacedProvider(instantProvider(), { callsPerSecond: 4, clock, wait });
  const answers = await Promise.all([
    paced.retrievePayment('pi_1'),
    paced.retrieveSession('cs_1'),
    paced.listEvents({ limit: 1 }),
  ]);
  expect(answers[0]).toEqual({ kind: 'DONE', value: payment });
  expect(waitedMs).toEqual([250, 500]);

  // A quiet second later nobody waits, and nothing was saved up.
  clock.advance(2_000);
  await Promise.all([paced.retrievePayment('pi_1'), paced.retrievePayment('pi_1')]);
  expect(waitedMs).toEqual([250, 500, 250]);
});

it('refuses a rate at which nothing would ever be asked', () => {
  const pace = { clock: ownedClock(), wait: () => Promise.resolve() };
  expect(() => pacedProvider(instantProvider(), { ...pace, callsPerSecond: 0 })).toThrow(RangeError);
});
