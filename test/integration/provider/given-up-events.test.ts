import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { listWebhookProblems } from '../../../src/ledger/usecases/queries/read-webhook-events.ts';
import { replayWebhookEvent } from '../../../src/ledger/usecases/provider-updates/replay-webhook-event.ts';
import { type EventSweep, sweepEvents } from '../../../src/ledger/usecases/provider-updates/sweep-events.ts';
import type { PaymentProvider, ProviderEvent } from '../../../src/provider/port.ts';
import { admin } from '../../support/harness.ts';
import { type ProviderHarness, checkedOut, makeProviderHarness, paidByCard } from './support.ts';

/** Events that can't be applied for hours although nothing fails: a key that may not read what they are about. */

const HOUR_MS = 3_600_000;
const DENIED = { kind: 'UNAVAILABLE', reason: 'permission_denied' } as const;

let harness: ProviderHarness;
beforeEach(async () => {
  harness = await makeProviderHarness();
});
afterEach(async () => {
  await harness.stop();
});

/** The ledger with a key that may do less, on an account that tells only by events of one type. */
function restricted(type: string, denied: Partial<PaymentProvider>): Ledger {
  const { provider } = harness.ledger;
  const listEvents: PaymentProvider['listEvents'] = async (page) => {
    const listed = await provider.listEvents(page);
    if (listed.kind !== 'DONE') return listed;
    const items = listed.value.items.filter((event) => event.type === type);
    return { kind: 'DONE', value: { ...listed.value, items } };
  };
  return { ...harness.ledger, provider: { ...provider, listEvents, ...denied } };
}

/** Looks through the events every hour until some are let go, and gives that look. */
async function untilLetGo(ledger: Ledger): Promise<{ readonly hours: number; readonly sweep: EventSweep }> {
  for (let hours = 0; hours <= 13; hours += 1) {
    const sweep = await sweepEvents(ledger, { pauseMs: 0 });
    if (sweep !== undefined && sweep.giveUp.length > 0) return { hours, sweep };
    await harness.advance(HOUR_MS);
  }
  throw new Error('none was let go');
}

async function only(type: string): Promise<ProviderEvent> {
  const listed = await harness.ledger.provider.listEvents({ limit: 100 });
  const events = listed.kind === 'DONE' ? listed.value.items.filter((event) => event.type === type) : [];
  const [event] = events;
  if (event === undefined || events.length > 1) throw new Error(`${String(events.length)} of ${type}`);
  return event;
}

async function problems(): Promise<readonly (readonly unknown[])[]> {
  const { rows } = await listWebhookProblems(harness.ledger, admin(), {});
  return rows.map(({ row: { eventId, outcome, detail } }) => [eventId, outcome, detail]);
}

describe('an event that could not be applied for hours', () => {
  it('is noted as FAILED before the cursor lets go of it, and is replayed once its cause is mended', async () => {
    const { paymentId, orderId } = await paidByCard(harness, '100.00');
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 2500 });
    const { eventId } = await only('charge.refunded');
    await harness.advance(HOUR_MS);
    const ledger = restricted('charge.refunded', { listRefunds: () => Promise.resolve(DENIED) });
    const { hours, sweep } = await untilLetGo(ledger);
    expect(hours).toBeGreaterThanOrEqual(6);
    expect(hours).toBeLessThanOrEqual(12);
    expect(sweep).toMatchObject({ left: 1, complete: true, giveUp: [{ event: { eventId }, tenant: 't_1' }] });
    expect(await problems()).toEqual([[eventId, 'FAILED', 'tried for hours: PROVIDER']]);

    await harness.advance(2 * HOUR_MS);
    expect(await sweepEvents(ledger, { pauseMs: 0 })).toMatchObject({ left: 0, giveUp: [] });
    expect(plainDecimal((await harness.order('t_1', 'u_1', orderId)).refunded)).toBe('0');
    expect(await replayWebhookEvent(harness.ledger, admin(), eventId)).toMatchObject({
      kind: 'ReplayWebhookEventSuccess',
    });
    expect(plainDecimal((await harness.order('t_1', 'u_1', orderId)).refunded)).toBe('25');
    expect(await problems()).toEqual([]);
  });

  it('is named without a tenant, and listed for all, where nothing that we hold tells whose it is', async () => {
    const { sessionId } = await checkedOut(harness);
    await harness.simulator.payByCard({ session: sessionId });
    const paid = await harness.ledger.provider.listPayments({ limit: 1 });
    if (paid.kind !== 'DONE') throw new Error('no payment');
    await harness.simulator.openDispute({ paymentIntent: paid.value.items[0]?.paymentId ?? '' });
    const { eventId } = await only('charge.dispute.created');
    await harness.advance(HOUR_MS);
    const ledger = restricted('charge.dispute.created', { retrievePayment: () => Promise.resolve(DENIED) });
    const { sweep } = await untilLetGo(ledger);
    expect(sweep.giveUp.map(({ event, tenant }) => [event.eventId, tenant])).toEqual([[eventId, undefined]]);
    expect(await problems()).toEqual([[eventId, 'FAILED', 'tried for hours: PROVIDER']]);
    expect(await replayWebhookEvent(harness.ledger, admin(), eventId)).toMatchObject({
      kind: 'ReplayWebhookEventSuccess',
    });
  });

  it('stays with the cursor while its note cannot be written', async () => {
    const { paymentId } = await paidByCard(harness, '100.00');
    await harness.simulator.dashboardRefund({ paymentIntent: paymentId, amount: 2500 });
    const { eventId } = await only('charge.refunded');
    await harness.advance(HOUR_MS);
    const ledger = restricted('charge.refunded', { listRefunds: () => Promise.resolve(DENIED) });
    const noNotes: Ledger = {
      ...ledger,
      transactor: {
        commit: (plan, hooks) =>
          plan.items.some(({ role }) => role === 'event')
            ? Promise.resolve({ kind: 'THROTTLED' })
            : ledger.transactor.commit(plan, hooks),
      },
    };
    for (let hours = 0; hours <= 13; hours += 1) {
      expect((await sweepEvents(noNotes, { pauseMs: 0 }))?.giveUp).toEqual([]);
      await harness.advance(HOUR_MS);
    }
    const { hours, sweep } = await untilLetGo(ledger);
    expect([hours, sweep.giveUp.map(({ event }) => event.eventId)]).toEqual([0, [eventId]]);
    expect(await problems()).toEqual([[eventId, 'FAILED', 'tried for hours: PROVIDER']]);
  });
});
