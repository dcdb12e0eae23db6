import { describe, expect, test } from 'vitest';
import { eventReader } from '../../../../src/provider/stripe/event-mapping.ts';
import {
  readProviderDispute,
  readProviderPayment,
  readProviderRefund,
  readProviderSession,
} from '../../../../src/provider/stripe/mapping.ts';
import {
  METADATA,
  ORDER_PATH,
  stripeDispute,
  stripeEvent,
  stripePayment,
  stripeRefund,
  stripeSession,
} from './stripe-objects.ts';

const readEvent = eventReader({ apiVersion: '2026-10-28.endive', account: undefined });

const FOREIGN = { kind: 'FOREIGN' };

describe('a session', () => {
  test('keeps our facts alone, the currency in upper case', () => {
    expect(readProviderSession(stripeSession())).toEqual({
      kind: 'READ',
      value: {
        sessionId: 'cs_test_1',
        status: 'open',
        paymentStatus: 'unpaid',
        url: 'https://checkout.stripe.com/c/pay/cs_test_1',
        expiresAtS: 1_800_001_800,
        createdS: 1_800_000_000,
        amountMinor: 500,
        currency: 'JPY',
        livemode: false,
        metadata: { tenant: 'demo', orderId: ORDER_PATH, attempt: 1 },
      },
    });
  });

  test('that is paid names its payment, expanded or not, and has no page', () => {
    const paid = { status: 'complete', payment_status: 'paid', url: null };
    const expected = { kind: 'READ', value: expect.objectContaining({ paymentId: 'pi_1' }) as unknown };
    expect(readProviderSession(stripeSession({ ...paid, payment_intent: 'pi_1' }))).toEqual(expected);
    expect(readProviderSession(stripeSession({ ...paid, payment_intent: stripePayment() }))).toEqual(
      expected,
    );
    const reading = readProviderSession(stripeSession(paid));
    expect(reading.kind === 'READ' && 'url' in reading.value).toBe(false);
  });

  test('of another mode is foreign, whatever else it lacks', () => {
    expect(readProviderSession(stripeSession({ mode: 'setup', amount_total: null, currency: null }))).toEqual(
      FOREIGN,
    );
    expect(readProviderSession(stripeSession({ mode: 'subscription' }))).toEqual(FOREIGN);
  });

  test.each([
    ['an amount that is no whole number', { amount_total: 500.5 }],
    ['a negative amount', { amount_total: -500 }],
    ['an amount past 2^53', { amount_total: 9_007_199_254_740_993 }],
    ['an amount as text', { amount_total: '500' }],
    ['an id that could leave its key', { id: 'cs#1' }],
    ['a page that is no web page', { url: 'javascript:alert(1)' }],
    ['another kind of object', { object: 'payment_intent' }],
  ])('with %s is unreadable', (_, fields) => {
    const field = Object.keys(fields)[0];
    expect(readProviderSession(stripeSession(fields))).toEqual({ kind: 'UNREADABLE', field });
  });
});

describe('a session of which Stripe says less, or more than we know,', () => {
  test.each([
    ['no amount', { amount_total: null }, 'amountMinor'],
    ['no currency', { currency: null }, 'currency'],
    ['no page', { url: null }, 'url'],
    [
      'a page whose address is longer than an order keeps',
      { url: `https://pay.example/${'x'.repeat(4_077)}` },
      'url',
    ],
  ])('with %s is read without it', (_, fields, missing) => {
    const reading = readProviderSession(stripeSession(fields));
    expect(reading.kind).toBe('READ');
    expect(reading.kind === 'READ' && missing in reading.value).toBe(false);
  });

  test.each([
    ['no status', { status: null }],
    ['a status that it adds', { status: 'paused' }],
    ["a status named like an object's own", { status: 'constructor' }],
  ])('with %s is neither open nor over', (_, fields) => {
    expect(readProviderSession(stripeSession(fields))).toMatchObject({
      kind: 'READ',
      value: { status: 'other' },
    });
  });

  test('with a payment status that it adds is unpaid: no money moves by it', () => {
    expect(
      readProviderSession(stripeSession({ status: 'complete', payment_status: 'partially_paid' })),
    ).toMatchObject({ kind: 'READ', value: { status: 'complete', paymentStatus: 'unpaid' } });
  });
});

describe('metadata', () => {
  test.each([
    ['none', null, {}],
    ['absent', undefined, {}],
    ['ours', METADATA, { tenant: 'demo', orderId: ORDER_PATH, attempt: 1 }],
    ["another integration's", { order_id: '4711', customer: 'alice@example.com', cart: 'x' }, {}],
    ['an email as an account', { order_id: 'alice@example.com/01ARZ3NDEKTSV4RRFFQ69G5FAV' }, {}],
    ['a path that goes on', { order_id: `${ORDER_PATH}/more` }, {}],
    ["a prefix of the table's own", { tenant: 'stripe' }, {}],
    ['an attempt that is no number', { tenant: 'demo', attempt: '0x1' }, { tenant: 'demo' }],
    ['attempt 0', { tenant: 'demo', attempt: '0' }, { tenant: 'demo' }],
    ['a value that is no text', { tenant: 7, refund_id: 'refund-1' }, { refundId: 'refund-1' }],
  ])('%s', (_, given, metadata) => {
    expect(readProviderPayment(stripePayment({ metadata: given }))).toMatchObject({
      kind: 'READ',
      value: { metadata },
    });
    const reading = readProviderPayment(stripePayment({ metadata: given }));
    expect(reading.kind === 'READ' && reading.value.metadata).toEqual(metadata);
  });
});

describe('a payment', () => {
  test('keeps our facts alone', () => {
    expect(readProviderPayment(stripePayment())).toEqual({
      kind: 'READ',
      value: {
        paymentId: 'pi_1',
        status: 'succeeded',
        amountMinor: 500,
        amountReceivedMinor: 500,
        currency: 'JPY',
        livemode: false,
        createdS: 1_800_000_000,
        metadata: { tenant: 'demo', orderId: ORDER_PATH, attempt: 1 },
      },
    });
  });

  test.each([
    ['processing', 'processing'],
    ['requires_action', 'requires_action'],
    ['requires_payment_method', 'requires_payment_method'],
    ['canceled', 'canceled'],
    ['requires_capture', 'other'],
    ['a_status_of_next_year', 'other'],
  ])('in status %s is %s', (given, status) => {
    expect(readProviderPayment(stripePayment({ status: given }))).toMatchObject({ value: { status } });
  });

  test.each([
    ['the decline code', { code: 'card_declined', decline_code: 'insufficient_funds' }, 'insufficient_funds'],
    ['the code where there is none', { code: 'expired_card' }, 'expired_card'],
    ['nothing that might be text', { code: 'Card of Alice', message: 'Alice has no money' }, undefined],
  ])('that was declined keeps %s', (_, error, declineCode) => {
    const reading = readProviderPayment(stripePayment({ last_payment_error: error }));
    expect(reading.kind === 'READ' ? reading.value.declineCode : 'unread').toBe(declineCode);
  });

  const voucher = { hosted_voucher_url: 'https://payments.stripe.com/voucher/1', number: '123' };

  test.each([
    ['konbini', 'konbini_display_details', { ...voucher, expires_at: 1_800_100_000 }, 1_800_100_000],
    ['boleto', 'boleto_display_details', { ...voucher, expires_at: 1_800_100_000 }, 1_800_100_000],
    ['multibanco', 'multibanco_display_details', { ...voucher, expires_at: null }, undefined],
    ['oxxo', 'oxxo_display_details', { ...voucher, expires_after: 1_800_100_000 }, 1_800_100_000],
    [
      'a bank transfer',
      'display_bank_transfer_instructions',
      { hosted_instructions_url: 'https://payments.stripe.com/voucher/1', amount_remaining: 500 },
      undefined,
    ],
  ])('that waits for %s has a slip', (_, type, details, expiresAtS) => {
    const reading = readProviderPayment(
      stripePayment({ status: 'requires_action', next_action: { type, [type]: details } }),
    );
    expect(reading.kind === 'READ' ? reading.value.voucher : 'unread').toEqual({
      url: 'https://payments.stripe.com/voucher/1',
      ...(expiresAtS === undefined ? {} : { expiresAtS }),
    });
  });

  test.each([
    [
      'a redirect for 3-D Secure',
      { type: 'redirect_to_url', redirect_to_url: { url: 'https://bank.example' } },
    ],
    ['3-D Secure in the SDK', { type: 'use_stripe_sdk', use_stripe_sdk: { stripe_js: 'https://x.example' } }],
    [
      'a slip without a page yet',
      {
        type: 'konbini_display_details',
        konbini_display_details: { hosted_voucher_url: null, expires_at: 1 },
      },
    ],
    [
      'a slip that is no web page',
      {
        type: 'konbini_display_details',
        konbini_display_details: { hosted_voucher_url: 'javascript:alert(1)', expires_at: 1 },
      },
    ],
    ['no action', null],
  ])('that waits for %s has none', (_, next_action) => {
    const reading = readProviderPayment(stripePayment({ status: 'requires_action', next_action }));
    expect(reading.kind === 'READ' && 'slip' in reading.value).toBe(false);
    expect(reading.kind).toBe('READ');
  });

  test('in a currency of three decimals keeps the integer as it came', () => {
    expect(
      readProviderPayment(stripePayment({ amount: 18_600, amount_received: 18_600, currency: 'kwd' })),
    ).toMatchObject({ value: { amountMinor: 18_600, amountReceivedMinor: 18_600, currency: 'KWD' } });
  });
});

describe('a refund', () => {
  test('keeps our facts alone', () => {
    expect(
      readProviderRefund(stripeRefund({ status: 'failed', failure_reason: 'expired_or_canceled_card' })),
    ).toEqual({
      kind: 'READ',
      value: {
        providerRefundId: 're_1',
        paymentId: 'pi_1',
        status: 'failed',
        amountMinor: 200,
        currency: 'JPY',
        createdS: 1_800_000_100,
        failureReason: 'expired_or_canceled_card',
        metadata: { tenant: 'demo', orderId: ORDER_PATH, refundId: 'refund-1' },
      },
    });
  });

  test.each([
    ['succeeded', 'succeeded'],
    ['failed', 'failed'],
    ['canceled', 'failed'],
    ['pending', 'pending'],
    ['requires_action', 'pending'],
    ['a_status_of_next_year', 'pending'],
    ['constructor', 'pending'],
    [null, 'pending'],
  ])('in status %s is %s', (given, status) => {
    expect(readProviderRefund(stripeRefund({ status: given }))).toMatchObject({ value: { status } });
  });

  test('without a payment intent is foreign', () => {
    expect(readProviderRefund(stripeRefund({ payment_intent: null }))).toEqual(FOREIGN);
  });
});

describe('a dispute', () => {
  test('keeps our facts alone', () => {
    expect(readProviderDispute(stripeDispute())).toEqual({
      kind: 'READ',
      value: {
        disputeId: 'du_1',
        paymentId: 'pi_1',
        status: 'open',
        amountMinor: 500,
        currency: 'JPY',
        livemode: false,
        createdS: 1_800_000_200,
      },
    });
  });

  test.each([
    [{ due_by: 1_900_000_000, has_evidence: false }, 1_900_000_000],
    [{ due_by: null }, undefined],
    [null, undefined],
    [{ due_by: 'tomorrow' }, undefined],
  ])('says until when it can be answered, where that can be read: %j', (evidence_details, dueByS) => {
    const reading = readProviderDispute(stripeDispute({ evidence_details, reason: 'fraudulent' }));
    expect(reading).toEqual({
      kind: 'READ',
      value: expect.objectContaining({ disputeId: 'du_1', reason: 'fraudulent' }) as unknown,
    });
    expect(reading.kind === 'READ' ? reading.value.dueByS : null).toBe(dueByS);
  });

  test.each([
    ['warning_needs_response', 'inquiry'],
    ['warning_under_review', 'inquiry'],
    ['warning_closed', 'cleared'],
    ['prevented', 'cleared'],
    ['needs_response', 'open'],
    ['under_review', 'open'],
    ['appeal_needs_response', 'open'],
    ['appeal_under_review', 'open'],
    ['a_status_of_next_year', 'open'],
    ['lost', 'lost'],
    ['won', 'won'],
  ])('in status %s is %s', (given, status) => {
    expect(readProviderDispute(stripeDispute({ status: given }))).toMatchObject({ value: { status } });
  });

  test('without a payment intent is foreign', () => {
    expect(readProviderDispute(stripeDispute({ payment_intent: null }))).toEqual(FOREIGN);
  });
});

describe('an event', () => {
  test.each([
    ['checkout.session.completed', stripeSession(), 'session'],
    ['checkout.session.async_payment_succeeded', stripeSession(), 'session'],
    ['checkout.session.async_payment_failed', stripeSession(), 'session'],
    ['checkout.session.expired', stripeSession(), 'session'],
    ['payment_intent.succeeded', stripePayment(), 'payment'],
    ['payment_intent.processing', stripePayment(), 'payment'],
    ['payment_intent.requires_action', stripePayment(), 'payment'],
    ['payment_intent.payment_failed', stripePayment(), 'payment'],
    ['payment_intent.canceled', stripePayment(), 'payment'],
    ['refund.created', stripeRefund(), 'refund'],
    ['refund.updated', stripeRefund(), 'refund'],
    ['refund.failed', stripeRefund(), 'refund'],
    ['charge.refunded', { object: 'charge', id: 'ch_1', payment_intent: 'pi_1', metadata: {} }, 'charge'],
    ['charge.dispute.created', stripeDispute(), 'dispute'],
    ['charge.dispute.updated', stripeDispute(), 'dispute'],
    ['charge.dispute.closed', stripeDispute(), 'dispute'],
    ['charge.dispute.funds_withdrawn', stripeDispute(), 'dispute'],
    ['charge.dispute.funds_reinstated', stripeDispute(), 'dispute'],
  ])('%s has an object of its kind', (type, object, kind) => {
    expect(readEvent(stripeEvent(type, object))).toMatchObject({
      kind: 'READ',
      value: { eventId: 'evt_1', type, createdS: 1_800_000_300, livemode: false, object: { kind } },
    });
  });

  test('of a refunded charge names its payment', () => {
    const charge = { object: 'charge', id: 'ch_1', payment_intent: 'pi_1', metadata: METADATA };
    expect(readEvent(stripeEvent('charge.refunded', charge))).toMatchObject({
      value: {
        object: {
          kind: 'charge',
          paymentId: 'pi_1',
          metadata: { tenant: 'demo', orderId: ORDER_PATH, attempt: 1 },
        },
      },
    });
  });

  test.each([
    ['a type without effect', 'payment_intent.partially_funded', { anything: true }],
    ['a type that is named like one of ours', 'charge.dispute.of_next_year', stripeDispute()],
    [
      'a setup session of another integration',
      'checkout.session.completed',
      stripeSession({ mode: 'setup' }),
    ],
  ])('of %s is other', (_, type, object) => {
    expect(readEvent(stripeEvent(type, object))).toMatchObject({
      kind: 'READ',
      value: { type, object: { kind: 'other' } },
    });
  });

  test('of an account is ours where that account is configured as ours, and of no other', () => {
    const read = eventReader({ apiVersion: '2026-10-28.endive', account: 'acct_1' });
    const leftAlone = (account: string | null): unknown => {
      const reading = read(stripeEvent('refund.created', stripeRefund(), { account }));
      return reading.kind === 'READ' ? (reading.value.leftAlone ?? reading.value.object.kind) : reading.kind;
    };
    expect([leftAlone('acct_1'), leftAlone(null), leftAlone('acct_2')]).toEqual([
      'refund',
      'refund',
      'account',
    ]);
  });

  test('keeps nothing of a person, a card or a secret', () => {
    const kept = [
      readEvent(stripeEvent('checkout.session.completed', stripeSession())),
      readEvent(stripeEvent('payment_intent.succeeded', stripePayment())),
      readEvent(stripeEvent('charge.dispute.created', stripeDispute())),
    ];
    expect(kept.every((reading) => reading.kind === 'READ')).toBe(true);
    expect(JSON.stringify(kept)).not.toMatch(/example\.com|secret|"Alice"/);
  });
});
