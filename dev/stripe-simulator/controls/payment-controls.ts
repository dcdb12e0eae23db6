import { z } from 'zod';
import { expireSession } from '../objects/checkout-sessions.ts';
import { control, count } from './control.ts';
import { closeDispute, openDispute, updateDispute } from '../objects/disputes.ts';
import {
  completeAsyncPayment,
  declineCard,
  failAsyncPayment,
  payAgain,
  payByCard,
  requireAuthentication,
  startBankDebit,
  startCardProcessing,
  startKonbini,
} from '../objects/paying.ts';
import { cancelPaymentIntent } from '../objects/payment-intents.ts';
import { createRefund, settleRefund } from '../objects/refunds.ts';

const ofSession = z.strictObject({ session: z.string() });
const firstRefundStatus = z.enum(['succeeded', 'pending', 'requires_action', 'failed']);

/** What customers and banks do, outside Stripe's API. */
export const paymentControls = {
  /** The customer pays with a card that works; `evenIfExpired` lets it through after the session expired. */
  payByCard: control(
    z.strictObject({ session: z.string(), evenIfExpired: z.boolean().default(false) }),
    (input, { simulation }) => payByCard(simulation, input.session, input.evenIfExpired),
  ),
  /** The customer's card is declined; the session stays open. */
  declineCard: control(
    z.strictObject({ session: z.string(), declineCode: z.string().default('generic_decline') }),
    (input, { simulation }) => declineCard(simulation, input.session, input.declineCode),
  ),
  /** The customer's card asks for 3-D Secure; the session stays open. */
  requireAuthentication: control(ofSession, (input, { simulation }) =>
    requireAuthentication(simulation, input.session),
  ),
  /** The customer's payment is being processed; the session stays open until it succeeds. */
  startCardProcessing: control(ofSession, (input, { simulation }) =>
    startCardProcessing(simulation, input.session),
  ),
  /** The customer takes a slip to pay at a convenience store: session complete, unpaid. */
  startKonbini: control(ofSession, (input, { simulation }) => startKonbini(simulation, input.session)),
  /** The customer pays by a delayed method without a slip: session complete, payment processing. */
  startBankDebit: control(ofSession, (input, { simulation }) => startBankDebit(simulation, input.session)),
  /** The money of a waiting payment (konbini, bank debit) arrives. */
  completeAsyncPayment: control(ofSession, (input, { simulation }) =>
    completeAsyncPayment(simulation, input.session),
  ),
  /** A waiting payment (konbini, bank debit) fails. */
  failAsyncPayment: control(ofSession, (input, { simulation }) =>
    failAsyncPayment(simulation, input.session),
  ),
  /** A second, unlinked payment with the same metadata. */
  payAgain: control(ofSession, (input, { simulation }) => payAgain(simulation, input.session)),
  /** The session expires now. */
  expireSession: control(ofSession, (input, { simulation }) => expireSession(simulation, input.session)),
  /** A payment that waits is canceled in the dashboard. */
  cancelPaymentIntent: control(z.strictObject({ paymentIntent: z.string() }), (input, { simulation }) =>
    cancelPaymentIntent(simulation, input.paymentIntent, 'requested_by_customer'),
  ),
};

/** What the dashboard and the bank do to a payment afterwards. */
export const refundAndDisputeControls = {
  /** A refund made in Stripe's dashboard: without our metadata, and without a request. */
  dashboardRefund: control(
    z.strictObject({
      paymentIntent: z.string(),
      amount: z.number().int().min(1).optional(),
      status: firstRefundStatus.optional(),
    }),
    ({ paymentIntent, amount, status }, { simulation }) =>
      createRefund(simulation, { payment_intent: paymentIntent, amount, metadata: {} }, status),
  ),
  /** Settles a refund that waits, or makes one fail that had succeeded. */
  settleRefund: control(
    z.strictObject({
      refund: z.string(),
      status: z.enum(['succeeded', 'failed', 'canceled']),
      failureReason: z.string().optional(),
    }),
    (input, { simulation }) => settleRefund(simulation, input.refund, input.status, input.failureReason),
  ),
  /** How the next refunds begin, whoever makes them. */
  nextRefunds: control(z.strictObject({ status: firstRefundStatus, count }), (input, { simulation }) => {
    simulation.refundRules.push({ status: input.status, remaining: input.count });
    return { rules: simulation.refundRules.length };
  }),
  /** The bank disputes a payment, or inquires about it. */
  openDispute: control(
    z.strictObject({
      paymentIntent: z.string(),
      amount: z.number().int().min(1).optional(),
      inquiry: z.boolean().default(false),
      reason: z.string().optional(),
    }),
    (input, { simulation }) => openDispute(simulation, input),
  ),
  /** Moves an open dispute on; an inquiry that `needs_response` has become a dispute. */
  updateDispute: control(
    z.strictObject({
      dispute: z.string(),
      status: z.enum(['needs_response', 'under_review', 'warning_under_review']),
    }),
    (input, { simulation }) => updateDispute(simulation, input.dispute, input.status),
  ),
  /** Closes a dispute; a lost one may still be won. */
  closeDispute: control(
    z.strictObject({ dispute: z.string(), status: z.enum(['won', 'lost', 'warning_closed', 'prevented']) }),
    (input, { simulation }) => closeDispute(simulation, input.dispute, input.status),
  ),
};
