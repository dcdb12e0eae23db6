import { describe, expect, it, vi } from 'vitest';
import { decimal } from '../../../src/ledger/money.ts';
import type { Order } from '../../../src/ledger/orders/order.ts';
import { beginRefund, failRefund } from '../../../src/ledger/orders/refunds.ts';
import { dispute, newOrder, payment, refund, session, tell, withSessions } from './facts.ts';
import type { MemoryLedger } from './memory-ledger.ts';

import { type Ending, type Story, endings } from './story.ts';

/**
 * For each payment story every order of its events, with duplicates and with the same facts told again by other events,
 * ends alike (docs/DESIGN.md §8, "Order of arrival never matters").
 */

// Thousands of events a story: on a busy machine that takes longer than a test usually may.
vi.setConfig({ testTimeout: 60_000 });

type ProviderSetup = NonNullable<Story['provider']>;

const NOTHING_YET: Ending = {
  state: 'SESSION_CREATED',
  disputed: false,
  refundable: '0',
  refunded: '0',
  refundPending: '0',
  owed: '0',
  refunds: [],
  disputes: [],
  surplus: [],
  attempts: ['1 CLOSED'],
  slip: undefined,
  credited: 0,
  wallet: '0',
  sums: { stripe: '0', merchant: '0', receivable: '0', surplus: '0' },
};

const PAID: Ending = {
  ...NOTHING_YET,
  state: 'PAID',
  refundable: '500',
  credited: 1,
  sums: { stripe: '-500', merchant: '500', receivable: '0', surplus: '0' },
};

const order = withSessions(newOrder());
const unpaid = session(1, { paymentStatus: 'unpaid' });
const slip = { url: 'https://payments.stripe.test/slip', expiresAtS: 1_900_300_000 };
const waiting = payment(1, { status: 'requires_action', amountReceivedMinor: 0, slip });
const declined = payment(1, {
  status: 'requires_payment_method',
  amountReceivedMinor: 0,
  declineCode: 'insufficient_funds',
});

const completed = tell.session('completed', session(1));
const succeeded = tell.payment('succeeded', payment(1));
const paidFirst = [completed, succeeded];

/** Any payment that is asked for has succeeded, and belongs to its session. */
const provider: ProviderSetup = (state) => {
  for (const number of [1, 2]) {
    state.payments.set(`pi_${String(number)}`, payment(number));
    state.sessions.set(`cs_${String(number)}`, session(number));
  }
};

async function expectEnding(story: Partial<Story> & Pick<Story, 'events'>, ending: Ending): Promise<void> {
  expect(await endings({ order, provider, ...story })).toEqual([ending]);
}

describe('a purchase', () => {
  it('paid by card', () => expectEnding({ events: [completed, succeeded] }, PAID));

  it('declined, then paid', () =>
    expectEnding({ events: [tell.payment('payment_failed', declined), completed, succeeded] }, PAID));

  it('paid at a convenience store', () =>
    expectEnding(
      {
        events: [
          tell.payment('requires_action', waiting),
          tell.session('completed', unpaid),
          succeeded,
          tell.session('async_payment_succeeded', session(1)),
        ],
      },
      PAID,
    ));

  it('waiting at a convenience store', () =>
    expectEnding(
      {
        events: [tell.payment('requires_action', waiting), tell.session('completed', unpaid)],
        provider: (state) => state.sessions.set('cs_1', unpaid),
      },
      { ...NOTHING_YET, state: 'PENDING_PAYMENT', slip: slip.url },
    ));

  it('waiting at a convenience store with a second slip: the one that the provider shows now', () => {
    const second = { ...waiting, slip: { ...slip, url: 'https://payments.stripe.test/second' } };
    return expectEnding(
      {
        events: [
          tell.payment('requires_action', waiting),
          tell.session('completed', unpaid),
          tell.payment('requires_action', second),
        ],
        provider: (state) => {
          state.sessions.set('cs_1', unpaid);
          state.payments.set('pi_1', second);
        },
      },
      { ...NOTHING_YET, state: 'PENDING_PAYMENT', slip: second.slip.url },
    );
  });

  it('never paid at the convenience store', () =>
    expectEnding(
      {
        events: [
          tell.payment('requires_action', waiting),
          tell.session('completed', unpaid),
          tell.payment('payment_failed', declined),
          tell.session('async_payment_failed', unpaid),
        ],
        provider: (state) => state.sessions.set('cs_1', unpaid),
      },
      { ...NOTHING_YET, state: 'FAILED' },
    ));

  it('whose payment is canceled', () =>
    expectEnding(
      {
        events: [
          tell.payment('requires_action', waiting),
          tell.session('completed', unpaid),
          tell.payment('canceled', { ...waiting, status: 'canceled' }),
        ],
        provider: (state) => state.sessions.set('cs_1', unpaid),
      },
      { ...NOTHING_YET, state: 'FAILED' },
    ));

  it('whose payment is canceled while its session can still be paid: it waits for the session', () =>
    expectEnding(
      {
        events: [
          tell.payment('payment_failed', declined),
          tell.payment('canceled', { ...declined, status: 'canceled' }),
        ],
        provider: (state) =>
          state.sessions.set('cs_1', session(1, { status: 'open', paymentStatus: 'unpaid' })),
      },
      { ...NOTHING_YET, state: 'SESSION_CREATED', attempts: ['1 OPEN'] },
    ));

  it('whose session expires, and with it the payment', () => {
    const expired = session(1, { status: 'expired', paymentStatus: 'unpaid' });
    return expectEnding(
      {
        events: [
          tell.payment('payment_failed', declined),
          tell.session('expired', expired),
          tell.payment('canceled', { ...declined, status: 'canceled' }),
        ],
        provider: (state) => state.sessions.set('cs_1', expired),
      },
      { ...NOTHING_YET, state: 'EXPIRED' },
    );
  });

  it('expired, then paid after all', () =>
    expectEnding(
      {
        events: [
          tell.session('expired', session(1, { status: 'expired', paymentStatus: 'unpaid' })),
          completed,
          succeeded,
        ],
      },
      PAID,
    ));

  it('paid on an earlier attempt while a later one is open, which then expires', () =>
    expectEnding(
      {
        order: withSessions(newOrder(), 2),
        events: [
          tell.session('expired', session(1, { status: 'expired', paymentStatus: 'unpaid' })),
          completed,
          succeeded,
          tell.session('expired', session(2, { status: 'expired', paymentStatus: 'unpaid' })),
        ],
      },
      { ...PAID, attempts: ['1 CLOSED', '2 CLOSED'] },
    ));

  it('paid twice', () =>
    expectEnding(
      {
        order: withSessions(newOrder(), 2),
        events: [
          completed,
          succeeded,
          tell.session('completed', session(2)),
          tell.payment('succeeded', payment(2)),
        ],
      },
      {
        ...PAID,
        attempts: ['1 CLOSED', '2 CLOSED'],
        surplus: ['500 0'],
        sums: { stripe: '-1000', merchant: '500', receivable: '0', surplus: '500' },
      },
    ));
});

/** A refund that an operation of ours has claimed, and asked the provider for. */
function claimRefund(refundId: string, amount: string): NonNullable<Story['then']> {
  return (memory, paid) => {
    memory.put(claimed(paid, refundId, amount));
  };
}

function claimed(paid: Order, refundId: string, amount: string): Order {
  return beginRefund(
    paid,
    {
      refundId,
      amount: decimal(amount),
      state: 'PENDING',
      source: 'REQUESTED',
      actor: 'cafe-office',
      createdAtMs: 0,
      tries: 0,
      paymentId: 'pi_1',
      claim: {
        owner: 'owner',
        leaseEndMs: 0,
        marker: { principal: 'p', operation: 'refund', key: refundId },
        markerTtlS: 0,
      },
    },
    { actor: 'cafe-office', atMs: 0 },
  );
}

const ours = (refundId: string): { metadata: ReturnType<typeof refund>['metadata'] } => ({
  metadata: { tenant: 'demo', refundId },
});

describe('a refund of a purchase', () => {
  it('in two parts', () => {
    const one = refund('re_1', 200, 'succeeded', ours('rf_a'));
    const other = refund('re_2', 300, 'succeeded', ours('rf_b'));
    return expectEnding(
      {
        first: paidFirst,
        then: (memory, paid) => {
          memory.put(claimed(claimed(paid, 'rf_a', '200'), 'rf_b', '300'));
        },
        events: [
          tell.refund('created', { ...one, status: 'pending' }),
          tell.refund('updated', one),
          tell.refund('created', other),
          tell.chargeRefunded(),
        ],
        provider: (state) => {
          state.refunds.set('re_1', one).set('re_2', other);
        },
      },
      {
        ...PAID,
        state: 'REFUNDED',
        refundable: '0',
        refunded: '500',
        refunds: ['rf_a SUCCEEDED 200', 'rf_b SUCCEEDED 300'],
        sums: { stripe: '0', merchant: '0', receivable: '0', surplus: '0' },
      },
    );
  });

  it('that the provider made twice for one of ours: the second is a fact of its own', () =>
    expectEnding(
      {
        first: paidFirst,
        then: (memory, paid) => {
          const asked = claimed(paid, 'rf_a', '200');
          memory.put({
            ...asked,
            refunds: asked.refunds.map((one) => ({ ...one, providerRefundId: 're_1' })),
          });
        },
        events: [
          tell.refund('updated', refund('re_1', 200, 'succeeded', ours('rf_a'))),
          tell.refund('created', refund('re_2', 200, 'succeeded', ours('rf_a'))),
        ],
      },
      {
        ...PAID,
        refundable: '100',
        refunded: '400',
        refunds: ['re_2 SUCCEEDED 200', 'rf_a SUCCEEDED 200'],
        sums: { stripe: '-100', merchant: '100', receivable: '0', surplus: '0' },
      },
    ));

  it('that was released as never made, and that the provider has after all: a fact of its own', () =>
    expectEnding(
      {
        first: paidFirst,
        then: (memory, paid) => {
          const what = { actor: 'cafe-office', atMs: 0 };
          const failed = failRefund(claimed(paid, 'rf_a', '200'), 'rf_a', { failureReason: 'refused' }, what);
          memory.put(failed);
        },
        events: [
          tell.refund('created', refund('re_1', 200, 'pending', ours('rf_a'))),
          tell.refund('updated', refund('re_1', 200, 'succeeded', ours('rf_a'))),
        ],
      },
      {
        ...PAID,
        refundable: '300',
        refunded: '200',
        refunds: ['re_1 SUCCEEDED 200', 'rf_a FAILED 200'],
        sums: { stripe: '-300', merchant: '300', receivable: '0', surplus: '0' },
      },
    ));

  it.each(['pending', 'succeeded'] as const)('that fails after it was %s', (before) =>
    expectEnding(
      {
        first: paidFirst,
        then: claimRefund('rf_a', '500'),
        events: [
          tell.refund('created', refund('re_1', 500, 'pending', ours('rf_a'))),
          tell.refund('updated', refund('re_1', 500, before, ours('rf_a'))),
          tell.refund('failed', refund('re_1', 500, 'failed', ours('rf_a'))),
        ],
      },
      { ...PAID, refunds: ['rf_a FAILED 500'] },
    ),
  );

  it('made in the dashboard, told before its payment', () =>
    expectEnding(
      {
        events: [
          completed,
          tell.refund('created', refund('re_1', 200, 'pending')),
          tell.refund('updated', refund('re_1', 200, 'succeeded')),
          tell.chargeRefunded(),
        ],
        provider: (state) => {
          provider(state);
          state.refunds.set('re_1', refund('re_1', 200, 'succeeded'));
        },
      },
      {
        ...PAID,
        refundable: '300',
        refunded: '200',
        refunds: ['re_1 SUCCEEDED 200'],
        sums: { stripe: '-300', merchant: '300', receivable: '0', surplus: '0' },
      },
    ));

  it('made in the dashboard beyond what was refundable', () =>
    expectEnding(
      {
        first: paidFirst,
        then: claimRefund('rf_a', '400'),
        events: [
          tell.refund('created', refund('re_9', 500, 'succeeded')),
          tell.refund('created', refund('re_1', 400, 'pending', ours('rf_a'))),
          tell.refund('failed', refund('re_1', 400, 'failed', ours('rf_a'))),
        ],
      },
      {
        ...PAID,
        state: 'REFUNDED',
        refundable: '0',
        refunded: '500',
        refunds: ['re_9 SUCCEEDED 500', 'rf_a FAILED 400'],
        sums: { stripe: '0', merchant: '0', receivable: '0', surplus: '0' },
      },
    ));

  it('of a surplus payment, which fails in the end', () => {
    const surplusRefund = (status: 'pending' | 'succeeded' | 'failed') =>
      refund('re_1', 500, status, { paymentId: 'pi_2' });
    return expectEnding(
      {
        order: withSessions(newOrder(), 2),
        first: [...paidFirst, tell.session('completed', session(2))],
        events: [
          tell.refund('created', surplusRefund('pending')),
          tell.refund('updated', surplusRefund('succeeded')),
          tell.refund('failed', surplusRefund('failed')),
        ],
      },
      {
        ...PAID,
        attempts: ['1 CLOSED', '2 CLOSED'],
        surplus: ['500 0'],
        sums: { stripe: '-1000', merchant: '500', receivable: '0', surplus: '500' },
      },
    );
  });
});

function now(status: Parameters<typeof dispute>[0]): ProviderSetup {
  return (state) => {
    provider(state);
    state.disputes.set('du_1', dispute(status));
  };
}

const opened = [tell.dispute('created', dispute('open')), tell.dispute('updated', dispute('open'))];
const won = tell.dispute('closed', dispute('won'));
const lost = tell.dispute('closed', dispute('lost'));

describe('a dispute of a purchase', () => {
  it('won, told before its payment', () =>
    expectEnding(
      { events: [succeeded, ...opened, won], provider: now('won') },
      { ...PAID, disputes: ['du_1 won 500 false'] },
    ));

  it('lost, told before its payment', () =>
    expectEnding(
      { events: [succeeded, ...opened, lost], provider: now('lost') },
      {
        ...PAID,
        disputed: true,
        disputes: ['du_1 lost 500 true'],
        sums: { stripe: '0', merchant: '0', receivable: '0', surplus: '0' },
      },
    ));

  it('won after it was lost', () =>
    expectEnding(
      { events: [...opened, lost, won], provider: now('won') },
      { ...PAID, disputes: ['du_1 won 500 false'] },
    ));

  it('won after it was lost, over another amount by then: what was booked comes back', () =>
    expectEnding(
      {
        events: [...opened, lost, tell.dispute('closed', dispute('won', { amountMinor: 300 }))],
        provider: (state) => {
          provider(state);
          state.disputes.set('du_1', dispute('won', { amountMinor: 300 }));
        },
      },
      { ...PAID, disputes: ['du_1 won 300 false'] },
    ));

  it('over another amount than at first, while it is open', () =>
    expectEnding(
      {
        events: [
          succeeded,
          tell.dispute('created', dispute('open')),
          tell.dispute('updated', dispute('open', { amountMinor: 300 })),
        ],
        provider: (state) => {
          provider(state);
          state.disputes.set('du_1', dispute('open', { amountMinor: 300 }));
        },
      },
      { ...PAID, disputed: true, disputes: ['du_1 open 300 false'] },
    ));

  it('that was an inquiry only', () =>
    expectEnding(
      {
        events: [
          succeeded,
          tell.dispute('created', dispute('inquiry')),
          tell.dispute('closed', dispute('cleared')),
        ],
        provider: now('cleared'),
      },
      { ...PAID, disputes: ['du_1 cleared 500 false'] },
    ));

  it('of a surplus payment that is lost', () =>
    expectEnding(
      {
        order: withSessions(newOrder(), 2),
        first: [...paidFirst, tell.session('completed', session(2))],
        events: [
          tell.dispute('created', dispute('open', { paymentId: 'pi_2' })),
          tell.dispute('closed', dispute('lost', { paymentId: 'pi_2' })),
        ],
        provider: (state) => {
          provider(state);
          state.disputes.set('du_1', dispute('lost', { paymentId: 'pi_2' }));
        },
      },
      {
        ...PAID,
        attempts: ['1 CLOSED', '2 CLOSED'],
        surplus: ['500 0'],
        disputes: ['du_1 lost 500 true'],
        sums: { stripe: '-500', merchant: '500', receivable: '0', surplus: '0' },
      },
    ));
});

describe.each([
  { left: 'all of the value', spent: '0', wallet: '500', taken: '0', owed: '0' },
  { left: 'half of the value', spent: '250', wallet: '250', taken: '0', owed: '250' },
  { left: 'none of the value', spent: '500', wallet: '0', taken: '0', owed: '500' },
])('a top-up with $left left', ({ spent, wallet, taken, owed }) => {
  const topUp = withSessions(newOrder('TOP_UP'));
  const stillThere: Ending = {
    ...PAID,
    wallet,
    sums: { stripe: '-500', merchant: '0', receivable: '0', surplus: '0' },
  };
  /** All 500 taken back: what the wallet lacks stands against the account. */
  const takenBack: Ending = {
    ...stillThere,
    wallet: taken,
    owed,
    sums: { stripe: '0', merchant: '0', receivable: owed === '0' ? '0' : `-${owed}`, surplus: '0' },
  };
  const base = { order: topUp, first: paidFirst, spent };

  it('credits once, and never again', () =>
    expectEnding({ ...base, events: [completed, succeeded, tell.session('completed', unpaid)] }, stillThere));

  it('refunded in the dashboard', () =>
    expectEnding(
      {
        ...base,
        events: [
          succeeded,
          tell.refund('created', refund('re_1', 500, 'pending')),
          tell.refund('updated', refund('re_1', 500, 'succeeded')),
        ],
      },
      {
        ...takenBack,
        state: 'REFUNDED',
        refundable: '0',
        refunded: '500',
        refunds: ['re_1 SUCCEEDED 500'],
      },
    ));

  it('refunded in the dashboard in two parts', () =>
    expectEnding(
      {
        ...base,
        events: [
          tell.refund('created', refund('re_1', 200, 'pending')),
          tell.refund('updated', refund('re_1', 200, 'succeeded')),
          tell.refund('created', refund('re_2', 300, 'succeeded')),
        ],
      },
      {
        ...takenBack,
        state: 'REFUNDED',
        refundable: '0',
        refunded: '500',
        refunds: ['re_1 SUCCEEDED 200', 're_2 SUCCEEDED 300'],
      },
    ));

  it('refunded in the dashboard, which fails after all', () =>
    expectEnding(
      {
        ...base,
        events: [
          tell.refund('created', refund('re_1', 500, 'pending')),
          tell.refund('updated', refund('re_1', 500, 'succeeded')),
          tell.refund('failed', refund('re_1', 500, 'failed')),
        ],
      },
      { ...stillThere, refunds: ['re_1 FAILED 500'] },
    ));

  it('disputed and lost', () =>
    expectEnding(
      { ...base, events: [...opened, lost], provider: now('lost') },
      { ...takenBack, disputed: true, disputes: ['du_1 lost 500 true'] },
    ));

  it('disputed, lost, and won after all', () =>
    expectEnding(
      { ...base, events: [...opened, lost, won], provider: now('won') },
      { ...stillThere, disputes: ['du_1 won 500 false'] },
    ));
});

describe('a refund of a top-up that we claimed', () => {
  const takeOut = (memory: MemoryLedger, paid: Order): void => {
    memory.entries.push({
      tenant: 'demo',
      accountId: 'alice',
      entryId: memory.ledger.ids.ulid(0),
      operation: 'REFUND',
      postings: [{ debit: 'wallet:alice', credit: 'stripe', asset: 'ECOPAY', amount: decimal('200') }],
      actor: 'root',
      atMs: 0,
    });
    memory.put(claimed(paid, 'rf_a', '200'));
  };
  const base = { order: withSessions(newOrder('TOP_UP')), first: paidFirst, then: takeOut };

  it('succeeds without taking anything more', () =>
    expectEnding(
      {
        ...base,
        events: [
          tell.refund('created', refund('re_1', 200, 'pending', ours('rf_a'))),
          tell.refund('updated', refund('re_1', 200, 'succeeded', ours('rf_a'))),
        ],
      },
      {
        ...PAID,
        wallet: '300',
        refundable: '300',
        refunded: '200',
        refunds: ['rf_a SUCCEEDED 200'],
        sums: { stripe: '-300', merchant: '0', receivable: '0', surplus: '0' },
      },
    ));

  it('puts the value back once when it fails', () =>
    expectEnding(
      {
        ...base,
        spent: '300',
        events: [
          tell.refund('created', refund('re_1', 200, 'pending', ours('rf_a'))),
          tell.refund('updated', refund('re_1', 200, 'succeeded', ours('rf_a'))),
          tell.refund('failed', refund('re_1', 200, 'failed', ours('rf_a'))),
        ],
      },
      {
        ...PAID,
        wallet: '200',
        refunds: ['rf_a FAILED 200'],
        sums: { stripe: '-500', merchant: '0', receivable: '0', surplus: '0' },
      },
    ));
});
