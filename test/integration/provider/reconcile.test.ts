import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ReconcileProgress, reconcile } from '../../../src/ledger/usecases/reconcile/reconcile.ts';
import { type ProviderHarness, applyEvents, checkedOut, makeProviderHarness, paidByCard } from './support.ts';

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await makeProviderHarness();
});
afterAll(async () => {
  await harness.stop();
});

const DAY_MS = 86_400_000;
const ONE_WAY = { sinceMs: DAY_MS, fix: false, bothWays: false };

describe('a reconciliation', () => {
  it('agrees where every event was applied', async () => {
    const { paymentId } = await paidByCard(harness, '20.00');
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 500 });
    await applyEvents(harness);
    await harness.advance(600_000);
    expect(await reconcile(harness.ledger, ONE_WAY)).toEqual({
      payments: 1,
      refunds: 1,
      disputes: 0,
      young: 0,
      foreign: 0,
      findings: [],
      unreadable: [],
      complete: true,
    });
  });

  it('names a payment, a refund and a dispute that nobody told of, and changes nothing', async () => {
    const unpaid = await checkedOut(harness, '30.00');
    await harness.simulator.payByCard({ session: unpaid.sessionId });
    const { paymentId, orderId } = await paidByCard(harness, '40.00');
    // `paidByCard` has applied all events so far: the first payment is booked too. Now two that are not.
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 1000 });
    await harness.simulator.openDispute({ paymentIntent: paymentId });
    const lost = await checkedOut(harness, '50.00');
    await harness.simulator.payByCard({ session: lost.sessionId });
    await harness.advance(600_000);

    const progress: ReconcileProgress[] = [];
    const report = await reconcile(harness.ledger, { ...ONE_WAY, onProgress: (step) => progress.push(step) });
    const order = { tenant: 't_1', accountId: 'u_1', orderId };
    expect(report.findings).toMatchObject([
      {
        kind: 'PAYMENT',
        order: { ...order, orderId: lost.orderId },
        provider: '50 USD',
        ledger: 'not booked',
        fixed: false,
      },
      { kind: 'REFUND', order, provider: 'succeeded 10 USD', ledger: 'not booked', fixed: false },
      { kind: 'DISPUTE', order, provider: 'open 40 USD', ledger: 'not booked', fixed: false },
    ]);
    expect(progress.map(({ phase }) => phase)).toEqual(['payments', 'refunds', 'disputes']);
    expect((await harness.order('t_1', 'u_1', lost.orderId)).state).toBe('SESSION_CREATED');
  });

  it('with --fix applies what is missing, once, and agrees from then on', async () => {
    const report = await reconcile(harness.ledger, { ...ONE_WAY, fix: true });
    expect(report.findings.map(({ kind, fixed }) => [kind, fixed])).toEqual([
      ['PAYMENT', true],
      ['REFUND', true],
      ['DISPUTE', true],
    ]);
    expect((await reconcile(harness.ledger, ONE_WAY)).findings).toEqual([]);
    const before = (await harness.entries('t_1', 'u_1')).length;
    await applyEvents(harness);
    expect(await harness.entries('t_1', 'u_1')).toHaveLength(before);
  });

  it('leaves what a webhook may be telling of right now', async () => {
    const { sessionId } = await checkedOut(harness, '60.00');
    await harness.simulator.payByCard({ session: sessionId });
    const { payments: before } = await reconcile(harness.ledger, { ...ONE_WAY, sinceMs: 7 * DAY_MS });
    expect(await reconcile(harness.ledger, ONE_WAY)).toMatchObject({
      findings: [],
      payments: before,
      young: 1,
    });
    await harness.advance(121_000);
    const { findings, payments, young } = await reconcile(harness.ledger, ONE_WAY);
    expect([findings.length, payments, young]).toEqual([1, before + 1, 0]);
  });

  it('says so when the provider could not be asked to the end', async () => {
    await harness.simulator.failNextRequests({
      method: 'GET',
      path: '/v1/refunds',
      count: 1,
      status: 500,
      type: 'api_error',
    });
    expect(await reconcile(harness.ledger, ONE_WAY)).toMatchObject({
      complete: false,
    });
  });

  it('says what a person has to do about what can not be fixed', async () => {
    const { paymentId } = await paidByCard(harness, '70.00');
    await harness.client.send(
      new UpdateItemCommand({
        TableName: harness.tableName,
        Key: { uuid: { S: `stripe#${paymentId}` }, type: { S: 'PAYMENT' } },
        UpdateExpression: 'SET #amount = :amount',
        ExpressionAttributeNames: { '#amount': 'amount' },
        ExpressionAttributeValues: { ':amount': { N: '69' } },
      }),
    );
    await harness.advance(600_000);
    const [tried, looked] = [
      await reconcile(harness.ledger, { ...ONE_WAY, fix: true }),
      await reconcile(harness.ledger, ONE_WAY),
    ].map(({ findings }) => findings.filter(({ providerId }) => providerId === paymentId));
    const difference = { kind: 'PAYMENT', provider: '70 USD', ledger: '69 USD', fixed: false };
    expect(tried).toMatchObject([{ ...difference, next: 'BY_HAND' }]);
    expect(looked).toMatchObject([{ ...difference, next: 'FIX' }]);
  });
});
