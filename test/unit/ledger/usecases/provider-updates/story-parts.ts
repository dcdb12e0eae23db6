import { expect } from 'vitest';
import { decimal } from '../../../../../src/ledger/kernel/money.ts';
import type { Order } from '../../../../../src/ledger/model/orders/order.ts';
import { type RefundChange, beginRefund } from '../../../../../src/ledger/model/orders/refunds.ts';
import type { refund } from './provider-objects.ts';
import { dispute, newOrder, payment, session, tell, withSessions } from './provider-objects.ts';
import { type Ending, type Story, endings } from './story.ts';

/** What payment stories are made of: an order with a session, what is told of it, and how it may end. */

export type ProviderSetup = NonNullable<Story['provider']>;

export const NOTHING_YET: Ending = {
  state: 'SESSION_CREATED',
  disputed: false,
  refundable: '0',
  refunded: '0',
  refundPending: '0',
  receivable: '0',
  refunds: [],
  disputes: [],
  overpayment: [],
  attempts: ['1 CLOSED'],
  voucher: undefined,
  credited: 0,
  wallet: '0',
  sums: { stripe: '0', merchant: '0', receivable: '0', overpayment: '0' },
};

export const PAID: Ending = {
  ...NOTHING_YET,
  state: 'PAID',
  refundable: '500',
  credited: 1,
  sums: { stripe: '-500', merchant: '500', receivable: '0', overpayment: '0' },
};

export const order = withSessions(newOrder());
export const unpaid = session(1, { paymentStatus: 'unpaid' });
export const voucher = { url: 'https://payments.stripe.test/slip', expiresAtS: 1_900_300_000 };
export const waiting = payment(1, { status: 'requires_action', amountReceivedMinor: 0, voucher });
export const declined = payment(1, {
  status: 'requires_payment_method',
  amountReceivedMinor: 0,
  declineCode: 'insufficient_funds',
});

export const completed = tell.session('completed', session(1));
export const succeeded = tell.payment('succeeded', payment(1));
export const paidFirst = [completed, succeeded];

/** Any payment that is asked for has succeeded, and belongs to its session. */
export const provider: ProviderSetup = (state) => {
  for (const number of [1, 2]) {
    state.payments.set(`pi_${String(number)}`, payment(number));
    state.sessions.set(`cs_${String(number)}`, session(number));
  }
};

export async function expectEnding(
  story: Partial<Story> & Pick<Story, 'events'>,
  ending: Ending,
): Promise<void> {
  expect(await endings({ order, provider, ...story })).toEqual([ending]);
}

export function claimed(paid: Order, refundId: string, amount: string): RefundChange {
  return beginRefund(
    paid,
    {
      tenant: paid.tenant,
      accountId: paid.accountId,
      orderId: paid.orderId,
      refundId,
      rev: 0,
      amount: decimal(amount),
      state: 'PENDING',
      source: 'REQUESTED',
      actor: 'cafe-office',
      createdAtMs: 0,
      paymentId: 'pi_1',
    },
    { actor: 'cafe-office', atMs: 0 },
    {
      owner: 'owner',
      leaseEndMs: 0,
      request: { principal: 'p', operation: 'refund', key: refundId },
      recordTtlS: 0,
    },
  );
}

export const ours = (refundId: string): { metadata: ReturnType<typeof refund>['metadata'] } => ({
  metadata: { tenant: 'demo', refundId },
});

/** The provider, where the dispute `du_1` stands so when it is asked for. */
export function now(status: Parameters<typeof dispute>[0]): ProviderSetup {
  return (state) => {
    provider(state);
    state.disputes.set('du_1', dispute(status));
  };
}

export const opened = [tell.dispute('created', dispute('open')), tell.dispute('updated', dispute('open'))];
export const won = tell.dispute('closed', dispute('won'));
export const lost = tell.dispute('closed', dispute('lost'));
