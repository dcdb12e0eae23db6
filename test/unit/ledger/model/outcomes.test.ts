import { describe, expect, it } from 'vitest';
import { toAttributes } from '../../../../src/ledger/kernel/attributes.ts';
import { ORDER_STATES } from '../../../../src/ledger/model/orders/order-states.ts';
import {
  FAILURE_KINDS,
  type Failure,
  type RetryAdvice,
  type Stored,
  readStored,
  retryAdvice,
  storedAttributes,
} from '../../../../src/ledger/model/outcomes.ts';

const order = { accountId: 'alice', orderId: 'o', replayed: false };

const proposal = { accountId: 'alice', proposalId: 'p', replayed: false };

const ADVICE: readonly (readonly [Failure, RetryAdvice])[] = [
  [
    { kind: 'InsufficientBalance', asset: 'ECOPAY', required: '2', available: '1', replayed: false },
    'NEW_KEY',
  ],
  [{ kind: 'CapExceeded', asset: 'ECOPAY', cap: '2', room: '1', replayed: true }, 'NEW_KEY'],
  [{ kind: 'OrderNotPayable', state: 'PAID', ...order }, 'NEVER'],
  [{ kind: 'OrderNotRefundable', state: 'CREATED', ...order }, 'NEW_KEY'],
  [{ kind: 'OrderNotCancelable', state: 'CONFIRMED', ...order }, 'NEVER'],
  [{ kind: 'OrderDisputed', replayed: false }, 'NEW_KEY'],
  [{ kind: 'RefundExceedsRefundable', refundable: '1', replayed: false }, 'NEW_KEY'],
  [{ kind: 'ProviderRefused', code: 'card_declined', replayed: false }, 'NEW_KEY'],
  [{ kind: 'ProposalNotOpen', state: 'APPROVED', ...proposal }, 'NEVER'],
  [{ kind: 'SecondAdminRequired', ...proposal }, 'NEVER'],
  [{ kind: 'IdempotencyKeyReused' }, 'NEVER'],
  [{ kind: 'IdempotencyInProgress', retryAfterMs: 1 }, 'SAME_KEY'],
  [{ kind: 'TransactionConflict', retryAfterMs: 1 }, 'SAME_KEY'],
  [{ kind: 'Throttled', retryAfterMs: 1 }, 'SAME_KEY'],
  [{ kind: 'ProviderUnavailable', retryAfterMs: 1 }, 'SAME_KEY'],
  [{ kind: 'NotFound' }, 'NEVER'],
  [{ kind: 'InvalidInput', issues: [] }, 'NEVER'],
];

describe('what a client should do after a failure', () => {
  it('is said for every failure there is', () => {
    expect(ADVICE.map(([failure]) => failure.kind)).toEqual([...FAILURE_KINDS]);
    for (const [failure, advice] of ADVICE) expect(retryAdvice(failure), failure.kind).toBe(advice);
  });

  it('is NEVER once an order is paid or closed, and a new key while it may still become payable', () => {
    const never = (
      kind: 'OrderNotPayable' | 'OrderNotCancelable' | 'OrderNotRefundable',
    ): readonly string[] =>
      ORDER_STATES.filter((state) => retryAdvice({ kind, state, ...order }) === 'NEVER');
    expect(never('OrderNotPayable')).toEqual(['PAID', 'CONFIRMED', 'CANCELED', 'REFUNDED']);
    expect(never('OrderNotCancelable')).toEqual(['PAID', 'CONFIRMED', 'CANCELED', 'REFUNDED']);
    expect(never('OrderNotRefundable')).toEqual(['CANCELED', 'REFUNDED']);
  });
});

describe('a frozen outcome', () => {
  const outcomes: readonly Stored[] = [
    { kind: 'CreateOrderSuccess', accountId: 'alice', orderId: 'o' },
    { kind: 'ChargeSuccess', accountId: 'alice', orderId: 'o', entryId: 'e', asset: 'ECOPAY' },
    { kind: 'CheckoutSuccess', accountId: 'alice', orderId: 'o' },
    { kind: 'TopUpSuccess', accountId: 'alice', orderId: 'o', asset: 'ECOPAY' },
    { kind: 'TopUpSuccess', accountId: 'alice', orderId: 'o', asset: 'ECOPAY', entryId: 'e' },
    { kind: 'RefundSuccess', accountId: 'alice', orderId: 'o', refundId: 'r' },
    { kind: 'RefundSuccess', accountId: 'alice', orderId: 'o', refundId: 'r', entryId: 'e', asset: 'ECOPAY' },
    { kind: 'CancelOrderSuccess', accountId: 'alice', orderId: 'o' },
    { kind: 'AdjustBalanceSuccess', accountId: 'alice', asset: 'POINT', entryId: 'e' },
    { kind: 'PendingApproval', accountId: 'alice', proposalId: 'p' },
    { kind: 'ApproveSuccess', accountId: 'alice', proposalId: 'p', asset: 'POINT', entryId: 'e' },
    { kind: 'RejectProposalSuccess', accountId: 'alice', proposalId: 'p' },
    { kind: 'ProposalNotOpen', accountId: 'alice', proposalId: 'p', state: 'EXPIRED' },
    { kind: 'SecondAdminRequired', accountId: 'alice', proposalId: 'p' },
    { kind: 'InsufficientBalance', asset: 'ECOPAY', required: '2.00', available: '1.00' },
    { kind: 'CapExceeded', asset: 'ECOPAY', cap: '2', room: '0' },
    { kind: 'OrderNotPayable', accountId: 'alice', orderId: 'o', state: 'PAID' },
    { kind: 'OrderNotRefundable', accountId: 'alice', orderId: 'o', state: 'CREATED' },
    { kind: 'OrderNotCancelable', accountId: 'alice', orderId: 'o', state: 'PAID' },
    { kind: 'OrderDisputed' },
    { kind: 'RefundExceedsRefundable', refundable: '1.00' },
    { kind: 'ProviderRefused', code: 'card_declined' },
  ];

  it('reads back as it was', () => {
    for (const outcome of outcomes) {
      expect(readStored(toAttributes(storedAttributes(outcome)))).toEqual(outcome);
    }
  });

  it('is malformed without one of its facts, and unknown by another name', () => {
    expect(() => readStored({ kind: { S: 'ChargeSuccess' }, accountId: { S: 'alice' } })).toThrow('orderId');
    expect(() => readStored({ kind: { S: 'Throttled' } })).toThrow('unknown stored outcome');
    expect(() => readStored({ kind: { S: 'constructor' } })).toThrow('unknown stored outcome');
  });
});
