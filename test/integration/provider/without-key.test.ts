import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { sweepOrder } from '../../../src/ledger/usecases/provider-calls/sweep-order.ts';
import type { PaymentProvider, ProviderResult } from '../../../src/provider/port.ts';
import { merchant } from '../../support/harness.ts';
import { LEASE_MS, type ProviderHarness, applyEvents, makeProviderHarness, paidByCard } from './support.ts';

/** While keys are optional, a refund that sends none is known by its content (docs/DESIGN.md §5.9). */

const WINDOW_S = 300;

let harness: ProviderHarness;
beforeEach(async () => {
  harness = await makeProviderHarness({ idempotencyKeyPhase: 'optional', contentKeyWindowS: WINDOW_S });
});
afterEach(async () => {
  await harness.stop();
});

/** The provider from whose answers about refunds nobody learns anything, while its requests may well have arrived. */
function withoutAnswers(provider: PaymentProvider, arrive: boolean): PaymentProvider {
  const unknown = { kind: 'UNKNOWN', reason: 'timeout' } as const;
  return {
    ...provider,
    createRefund: async (request): Promise<ProviderResult<never>> => {
      if (arrive) await provider.createRefund(request);
      return unknown;
    },
    listRefunds: () => Promise.resolve(unknown),
  };
}

async function refundsAtProvider(): Promise<readonly [string, number][]> {
  const listed = await harness.ledger.provider.listRefunds({ limit: 100 });
  if (listed.kind !== 'DONE') throw new Error(`no refunds: ${listed.kind}`);
  return listed.value.items.map(({ status, amountMinor }) => [status, amountMinor]);
}

describe.each([
  ['arrived', true],
  ['never arrived', false],
])('a refund without a key whose answer was lost, and that %s', (_name, arrives) => {
  it('is the same refund however late its client asks again, until its outcome is known', async () => {
    const { id, orderId } = await paidByCard(harness, '100.00');
    const ask = (ledger: Ledger) =>
      refund(ledger, merchant('m_1'), undefined, { orderId: id, amount: '5.00' });
    const provider = withoutAnswers(harness.ledger.provider, arrives);
    const cutOff = { ...harness.ledger, provider };
    const first = await ask(cutOff);
    expect(first.kind).toBe('ProviderUnavailable');
    await harness.advance((WINDOW_S + 1) * 1000);
    expect((await ask(cutOff)).kind).toBe('ProviderUnavailable');
    await harness.advance((WINDOW_S + 1) * 1000);
    expect((await ask(harness.ledger)).kind).toBe('RefundSuccess');
    await applyEvents(harness);

    const order = await harness.order('t_1', 'u_1', orderId);
    const refunds = await harness.refunds('t_1', 'u_1', orderId);
    expect(refunds.map(({ state }) => state)).toEqual(['SUCCEEDED']);
    expect(order.refundClaims).toEqual([]);
    expect(order.refunded.toFixed()).toBe('5');
    expect(await refundsAtProvider()).toEqual([['succeeded', 500]]);
  });

  it('that the sweeper settles answers whoever asks within the window after that, and is a new one later', async () => {
    const { id, orderId } = await paidByCard(harness, '100.00');
    const ask = (ledger: Ledger) =>
      refund(ledger, merchant('m_1'), undefined, { orderId: id, amount: '5.00' });
    await ask({ ...harness.ledger, provider: withoutAnswers(harness.ledger.provider, arrives) });
    await harness.advance(3_600_000 + LEASE_MS);
    await sweepOrder(harness.ledger, { tenant: 't_1', accountId: 'u_1', orderId });
    await harness.advance(WINDOW_S * 1000);
    expect(await ask(harness.ledger)).toMatchObject({ kind: 'RefundSuccess', replayed: true });
    expect(await refundsAtProvider()).toEqual([['succeeded', 500]]);
    await harness.advance(1_000);
    expect(await ask(harness.ledger)).toMatchObject({ kind: 'RefundSuccess', replayed: false });
    expect(await refundsAtProvider()).toEqual([
      ['succeeded', 500],
      ['succeeded', 500],
    ]);
  });
});

it("a refund without a key that its event settled is told of within the window, and is nobody else's answer later", async () => {
  const { id } = await paidByCard(harness, '100.00');
  const ask = (ledger: Ledger) => refund(ledger, merchant('m_1'), undefined, { orderId: id, amount: '5.00' });
  await ask({ ...harness.ledger, provider: withoutAnswers(harness.ledger.provider, true) });
  await applyEvents(harness);
  await harness.advance((WINDOW_S + 1) * 1000);
  expect(await ask(harness.ledger)).toMatchObject({ kind: 'ProviderUnavailable' });
  expect(await ask(harness.ledger)).toMatchObject({ kind: 'RefundSuccess', replayed: false });
  expect(await refundsAtProvider()).toEqual([
    ['succeeded', 500],
    ['succeeded', 500],
  ]);
});

it('a refund without a key whose event comes late is told of within the window after that event', async () => {
  const { id } = await paidByCard(harness, '100.00');
  const ask = (ledger: Ledger) => refund(ledger, merchant('m_1'), undefined, { orderId: id, amount: '5.00' });
  const cutOff = { ...harness.ledger, provider: withoutAnswers(harness.ledger.provider, true) };
  await ask(cutOff);
  await harness.advance((WINDOW_S + 1) * 1000);
  await ask(cutOff);
  await applyEvents(harness);
  await harness.advance(WINDOW_S * 1000);
  expect(await ask(harness.ledger)).toMatchObject({ kind: 'RefundSuccess' });
  expect(await ask(harness.ledger)).toMatchObject({ kind: 'RefundSuccess', replayed: true });
  expect(await refundsAtProvider()).toEqual([['succeeded', 500]]);
});
