import { afterEach, describe, expect, it } from 'vitest';
import { type ReconcileReport, reconcile } from '../../../src/ledger/usecases/reconcile/reconcile.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { readRefunds } from '../../../src/ledger/usecases/runtime/read-refunds.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import { createMetadataSeal } from '../../../src/auth/metadata-seal.ts';
import { applyEvent } from '../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { auditNow } from '../../support/damage.ts';
import { customer, merchant } from '../../support/harness.ts';
import {
  URLS,
  type ProviderHarness,
  applyEvents,
  checkedOut,
  makeProviderHarness,
  paidByCard,
} from '../provider/support.ts';
import { type Backup, backUp, restoreFrom } from './backup.ts';

/** A restore that restores: what Stripe keeps is enough to make orders again that were opened after the backup. */

const DAY_MS = 86_400_000;
let open: ProviderHarness[] = [];
afterEach(async () => {
  for (const harness of open) await harness.stop();
  open = [];
});

async function world(): Promise<{ harness: ProviderHarness; backup: Backup }> {
  const harness = await makeProviderHarness();
  open.push(harness);
  return { harness, backup: await backUp(harness) };
}

async function rebuilt(harness: ProviderHarness, backup: Backup): Promise<ReconcileReport> {
  await restoreFrom(harness, backup);
  return reconcile(harness.ledger, { sinceMs: DAY_MS, fix: true, bothWays: true, rebuild: true });
}

async function standing(harness: ProviderHarness, orderId: string): Promise<readonly unknown[]> {
  const { state, amount, refundable, refunded, overpayments } = await harness.order('t_1', 'u_1', orderId);
  return [state, amount, refundable, refunded].map(String).concat(String(overpayments.length));
}

async function expectCleanAudit(harness: ProviderHarness): Promise<void> {
  const { problems, unsettled } = await auditNow(harness);
  expect([problems, unsettled]).toEqual([[], []]);
}

describe('a rebuild after a loss', () => {
  it('makes a paid order again that was opened after the backup, with its attempt and its entry', async () => {
    const { harness, backup } = await world();
    const { orderId, paymentId } = await paidByCard(harness, '40.00');
    const before = await harness.order('t_1', 'u_1', orderId);
    const report = await rebuilt(harness, backup);
    expect(report).toMatchObject({
      complete: true,
      rebuilt: { sessions: 1, orders: 1, attempts: 1, expired: 0 },
    });
    const after = await harness.order('t_1', 'u_1', orderId);
    expect(after.payment).toMatchObject({ method: 'CHECKOUT', paymentId });
    for (const name of ['merchantId', 'actor', 'currency', 'createdAtMs', 'consented'] as const)
      expect([name, after[name]]).toEqual([name, before[name]]);
    expect(after.attempts.map(({ number, sessionId }) => [number, sessionId])).toEqual(
      before.attempts.map(({ number, sessionId }) => [number, sessionId]),
    );
    expect(await standing(harness, orderId)).toEqual(['PAID', '40', '40', '0', '0']);
    await expectCleanAudit(harness);
  });

  it('brings back a top-up, its wallet and what was refunded of it', async () => {
    const { harness, backup } = await world();
    const input = { asset: 'ECOPAY', amount: '30.00', method: 'CHECKOUT' as const, ...URLS };
    const outcome = await topUp(harness.ledger, customer('u_1'), harness.key(), input);
    if (outcome.kind !== 'TopUpSuccess') throw new Error(outcome.kind);
    const { orderId } = outcome;
    const [attempt] = (await harness.order('t_1', 'u_1', orderId)).attempts;
    await harness.simulator.payByCard({ session: attempt?.sessionId ?? '' });
    await applyEvents(harness);
    const { payment } = await harness.order('t_1', 'u_1', orderId);
    await harness.simulator.dashboardRefund({ paymentIntent: payment?.paymentId ?? '', amount: 1000 });
    await applyEvents(harness);
    await rebuilt(harness, backup);
    expect(await harness.balance('t_1', 'u_1')).toBe('20');
    expect(await standing(harness, orderId)).toEqual(['PAID', '30', '20', '10', '0']);
    await expectCleanAudit(harness);
  });

  it('gives a refund that was asked for its own id again', async () => {
    const { harness, backup } = await world();
    const { id, orderId } = await paidByCard(harness, '40.00');
    const asked = await refund(harness.ledger, merchant(), harness.key(), { orderId: id, amount: '15.00' });
    if (asked.kind !== 'RefundSuccess') throw new Error(asked.kind);
    await rebuilt(harness, backup);
    const refunds = await readRefunds(harness.ledger, { tenant: 't_1', accountId: 'u_1', orderId });
    expect(refunds.map(({ refundId, source, state }) => [refundId, source, state])).toEqual([
      [asked.refundId, 'REQUESTED', 'SUCCEEDED'],
    ]);
    expect(await standing(harness, orderId)).toEqual(['PAID', '40', '25', '15', '0']);
    await expectCleanAudit(harness);
  });

  it('expires a session that nobody paid; its order can be checked out anew', async () => {
    const { harness, backup } = await world();
    const { orderId, sessionId } = await checkedOut(harness, '20.00');
    expect((await rebuilt(harness, backup)).rebuilt).toMatchObject({ orders: 1, expired: 1 });
    const session = await harness.ledger.provider.retrieveSession(sessionId);
    expect(session).toMatchObject({ value: { status: 'expired' } });
    expect(await standing(harness, orderId)).toEqual(['EXPIRED', '20', '0', '0', '0']);
  });

  it('done twice changes nothing more, and two at once book once', async () => {
    const { harness, backup } = await world();
    const { orderId } = await paidByCard(harness, '40.00');
    await restoreFrom(harness, backup);
    const run = (): Promise<ReconcileReport> =>
      reconcile(harness.ledger, { sinceMs: DAY_MS, fix: true, bothWays: false, rebuild: true });
    await Promise.all([run(), run()]);
    expect((await run()).findings).toEqual([]);
    expect(await harness.entries('t_1', 'u_1')).toHaveLength(1);
    expect(await standing(harness, orderId)).toEqual(['PAID', '40', '40', '0', '0']);
    await expectCleanAudit(harness);
  });

  it('never runs from a webhook: an event of a lost order changes nothing', async () => {
    const { harness, backup } = await world();
    await paidByCard(harness, '40.00');
    await restoreFrom(harness, backup);
    await harness.advance(2 * 3_600_000);
    await applyEvents(harness);
    expect(await harness.entries('t_1', 'u_1')).toEqual([]);
    const report = await reconcile(harness.ledger, { sinceMs: DAY_MS, fix: true, bothWays: false });
    expect(report.findings).toMatchObject([{ kind: 'PAYMENT', fixed: false, next: 'BY_HAND' }]);
    expect(await harness.entries('t_1', 'u_1')).toEqual([]);
  });
});

describe('two payments of one order, of which the second was given back', () => {
  async function paidTwice(
    isReversed: boolean,
  ): Promise<{ harness: ProviderHarness; backup: Backup; orderId: string; kept: string }> {
    const { harness, backup } = await world();
    const { id, orderId, sessionId } = await checkedOut(harness, '20.00');
    await harness.advance(3_700_000);
    await applyEvents(harness);
    await checkout(harness.ledger, customer('u_1'), harness.key(), { orderId: id, ...URLS });
    const second = (await harness.order('t_1', 'u_1', orderId)).attempts.at(-1)?.sessionId ?? '';
    return {
      harness,
      backup,
      orderId,
      kept: await payBoth(harness, orderId, [second, sessionId], isReversed),
    };
  }

  /** The one that is told of first is kept; the other is given back, as the ledger's own step does. */
  async function payBoth(
    harness: ProviderHarness,
    orderId: string,
    sessions: readonly string[],
    isReversed: boolean,
  ): Promise<string> {
    for (const session of sessions) {
      await harness.simulator.payByCard({ session, evenIfExpired: true });
      if (!isReversed) await applyEvents(harness);
      await harness.advance(60_000);
    }
    const listed = await harness.ledger.provider.listEvents({ limit: 100 });
    if (listed.kind !== 'DONE') throw new Error(listed.kind);
    for (const event of listed.value.items) await applyEvent(harness.ledger, event);
    const order = await harness.order('t_1', 'u_1', orderId);
    const { paymentId = '', amount } = order.overpayments[0] ?? {};
    const made = await harness.ledger.provider.createRefund({
      idempotencyKey: harness.key(),
      paymentId,
      amountMinor: Number(amount?.times(100)),
      tenant: 't_1',
      orderId: `u_1/${orderId}`,
      refundId: `surplus:${paymentId}`,
    });
    expect(made.kind).toBe('DONE');
    await applyEvents(harness);
    return order.payment?.paymentId ?? '';
  }

  it.each([
    ['ends with the good one kept', false],
    ['ends with the good one kept, also where it came second', true],
  ])('%s', async (_name, isReversed) => {
    const { harness, backup, orderId, kept } = await paidTwice(isReversed);
    await rebuilt(harness, backup);
    const order = await harness.order('t_1', 'u_1', orderId);
    expect(order.payment?.paymentId).toBe(kept);
    expect(order.overpayments.map(({ refunded }) => refunded.toFixed())).toEqual(['20']);
    expect(await standing(harness, orderId)).toEqual(['PAID', '20', '20', '0', '1']);
    await expectCleanAudit(harness);
  });
});

describe('metadata that is not as we wrote it', () => {
  it('makes no order: sealed with a secret that we do not know', async () => {
    const { harness, backup } = await world();
    await paidByCard(harness, '40.00');
    await restoreFrom(harness, backup);
    const metadataSeal = createMetadataSeal(['another-secret-that-nobody-here-knows-0123']);
    const ledger = { ...harness.ledger, metadataSeal };
    const report = await reconcile(ledger, { sinceMs: DAY_MS, fix: true, bothWays: false, rebuild: true });
    expect(report.findings).toMatchObject([
      { kind: 'SESSION', fixed: false, next: 'BY_HAND', detail: 'its metadata is not as we wrote it' },
      { kind: 'PAYMENT', fixed: false, next: 'BY_HAND' },
    ]);
    expect(await harness.entries('t_1', 'u_1')).toEqual([]);
  });

  it('is still believed with a secret that has been rotated since', async () => {
    const { harness, backup } = await world();
    const { orderId } = await paidByCard(harness, '40.00');
    await restoreFrom(harness, backup);
    const metadataSeal = createMetadataSeal([
      'a-new-secret-that-seals-from-now-on-0123456789',
      'a-test-secret-for-metadata-0123456789abcdef',
    ]);
    const ledger = { ...harness.ledger, metadataSeal };
    await reconcile(ledger, { sinceMs: DAY_MS, fix: true, bothWays: false, rebuild: true });
    expect(await standing(harness, orderId)).toEqual(['PAID', '40', '40', '0', '0']);
  });

  it.each([
    ['another amount', { h_amount: '4000', h_l1: '*1*4000' }, 'its metadata is not as we wrote it'],
    ['another account', { order_id: 'u_2/01Q9GD6E00CXBABCWF138R4VG2' }, 'its metadata is not as we wrote it'],
  ])('makes no order: %s', async (_name, changes, detail) => {
    const { harness, backup } = await world();
    await paidByCard(harness, '40.00');
    await restoreFrom(harness, backup);
    const { provider } = harness.ledger;
    const listSessions: typeof provider.listSessions = async (page) => {
      const listed = await provider.listSessions(page);
      if (listed.kind !== 'DONE') return listed;
      const items = listed.value.items.map((session) => ({
        ...session,
        metadata: { ...session.metadata, written: { ...session.metadata.written, ...changes } },
      }));
      return { kind: 'DONE', value: { ...listed.value, items } };
    };
    const ledger = { ...harness.ledger, provider: { ...provider, listSessions } };
    const report = await reconcile(ledger, { sinceMs: DAY_MS, fix: true, bothWays: false, rebuild: true });
    expect(report.findings[0]).toMatchObject({ kind: 'SESSION', next: 'BY_HAND', detail });
    expect(await harness.entries('t_1', 'u_1')).toEqual([]);
  });

  it('makes no order of a session over another amount, though the seal is ours', async () => {
    const { harness, backup } = await world();
    await paidByCard(harness, '40.00');
    await restoreFrom(harness, backup);
    const { provider } = harness.ledger;
    const listSessions: typeof provider.listSessions = async (page) => {
      const listed = await provider.listSessions(page);
      if (listed.kind !== 'DONE') return listed;
      const items = listed.value.items.map((session) => ({ ...session, amountMinor: 40 }));
      return { kind: 'DONE', value: { ...listed.value, items } };
    };
    const ledger = { ...harness.ledger, provider: { ...provider, listSessions } };
    const report = await reconcile(ledger, { sinceMs: DAY_MS, fix: true, bothWays: false, rebuild: true });
    expect(report.findings[0]).toMatchObject({
      kind: 'SESSION',
      detail: 'another amount than its metadata says',
    });
    expect(await harness.entries('t_1', 'u_1')).toEqual([]);
  });
});
