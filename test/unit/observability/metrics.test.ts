import { describe, expect, test } from 'vitest';
import { createMetrics, type Metrics } from '../../../src/observability/metrics.ts';

async function samples(metrics: Metrics): Promise<readonly string[]> {
  const { body } = await metrics.render();
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('metrics', () => {
  test('counters, gauges and histograms come out in Prometheus’ form', async () => {
    const metrics = createMetrics();
    metrics.count('IdempotencyReplay', { operation: 'CHARGE' });
    metrics.count('IdempotencyReplay', { operation: 'CHARGE' });
    metrics.count('WebhookEvent', { type: 'refund.failed', outcome: 'STALE' });
    metrics.count('RefundBeyondRefundable');
    metrics.set('dueOrders', 7);
    metrics.set('dueOrders', 3);
    metrics.observe('requestDurationS', 0.02, { operation: 'charge' });
    metrics.observe('paidToConfirmedS', 42);
    const all = await samples(metrics);
    expect(all).toContain('hitotsu_idempotency_replay_total{operation="CHARGE"} 2');
    expect(all).toContain('hitotsu_webhook_event_total{type="refund.failed",outcome="STALE"} 1');
    expect(all).toContain('hitotsu_refund_beyond_refundable_total 1');
    expect(all).toContain('hitotsu_due_orders 3');
    expect(all).toContain('hitotsu_request_duration_seconds_bucket{le="0.01",operation="charge"} 0');
    expect(all).toContain('hitotsu_request_duration_seconds_bucket{le="0.025",operation="charge"} 1');
    expect(all).toContain('hitotsu_paid_to_confirmed_seconds_sum 42');
  });

  test('an alert that never rang is there, as 0', async () => {
    const all = await samples(createMetrics());
    expect(all).toContain('hitotsu_mismatch_total 0');
    expect(all).toContain('hitotsu_surplus_payment_total 0');
    expect(all).toContain('hitotsu_dead_steps 0');
  });

  test('of two registries neither knows the other', async () => {
    const one = createMetrics();
    const other = createMetrics();
    one.count('Mismatch');
    expect(await samples(other)).toContain('hitotsu_mismatch_total 0');
    expect((await one.render()).contentType).toMatch(/^text\/plain/);
  });

  test('a wrong value is dropped and never thrown', async () => {
    const metrics = createMetrics();
    expect(() => {
      // As careless code would: an unknown metric, an unknown label, a value that is none.
      metrics.count('Nonsense' as 'Mismatch');
      metrics.count('IdempotencyReplay', { operations: 'CHARGE' } as unknown as { operation: string });
      metrics.set('dueOrders', 'many' as unknown as number);
      metrics.observe('paidToConfirmedS', 'long' as unknown as number);
    }).not.toThrow();
    expect(await samples(metrics)).toContain('hitotsu_due_orders 0');
  });

  test('the process is measured where that is asked for', async () => {
    expect((await createMetrics({ ofProcess: true }).render()).body).toContain(
      'process_resident_memory_bytes',
    );
    expect((await createMetrics().render()).body).not.toContain('process_resident_memory_bytes');
  });
});
