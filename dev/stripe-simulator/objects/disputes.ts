import type Stripe from 'stripe';
import { z } from 'zod';
import { paidCharge } from './charges.ts';
import { invalidRequest, resourceMissing } from '../api/errors.ts';
import { listing } from '../api/parameters.ts';
import { referencedPaymentIntent } from './payment-intents.ts';
import type { Simulation } from '../simulation.ts';

export const disputeListing = z.strictObject({
  ...listing,
  charge: z.string().optional(),
  payment_intent: z.string().optional(),
} satisfies Partial<Record<keyof Stripe.DisputeListParams, z.ZodType>>);

export interface DisputeOpening {
  readonly paymentIntent: string;
  readonly amount?: number | undefined;
  /** An inquiry only asks; it takes no money and leaves the charge refundable. */
  readonly inquiry?: boolean | undefined;
  readonly reason?: string | undefined;
}

export type ClosedDisputeStatus = 'won' | 'lost' | 'warning_closed' | 'prevented';

export type OpenDisputeStatus = 'needs_response' | 'under_review' | 'warning_under_review';

const RESPONSE_DUE_S = 7 * 24 * 60 * 60;

/** The bank disputes a payment, or only inquires. A dispute takes its amount at once. */
export function openDispute(simulation: Simulation, opening: DisputeOpening): Stripe.Dispute {
  const intent = referencedPaymentIntent(simulation, opening.paymentIntent);
  const charge = paidCharge(simulation, intent);
  if (charge === undefined) throw invalidRequest('Only a payment that succeeded can be disputed.');
  const dispute = buildDispute(simulation, charge, opening);
  simulation.state.disputes.set(dispute.id, dispute);
  charge.disputed = true;
  simulation.emit({ type: 'charge.dispute.created', object: dispute });
  if (dispute.status === 'needs_response') {
    simulation.emit({ type: 'charge.dispute.funds_withdrawn', object: dispute });
  }
  return dispute;
}

/** Moves an open dispute on: evidence is under review, or an inquiry becomes a dispute that takes the money. */
export function updateDispute(simulation: Simulation, id: string, status: OpenDisputeStatus): Stripe.Dispute {
  const dispute = requireDispute(simulation, id);
  if (isClosed(dispute)) throw invalidRequest(`This dispute is closed: it is ${dispute.status}.`);
  const before = structuredClone(dispute);
  const escalates = isInquiry(before.status) && !isInquiry(status);
  dispute.status = status;
  dispute.is_charge_refundable = isInquiry(status);
  simulation.emit({ type: 'charge.dispute.updated', object: dispute, before });
  if (escalates) simulation.emit({ type: 'charge.dispute.funds_withdrawn', object: dispute });
  return dispute;
}

/** Closes a dispute. A lost one may still be won on appeal; nothing else that is closed changes again. */
export function closeDispute(
  simulation: Simulation,
  id: string,
  status: ClosedDisputeStatus,
): Stripe.Dispute {
  const dispute = requireDispute(simulation, id);
  const appealed = dispute.status === 'lost' && status === 'won';
  if (isClosed(dispute) && !appealed)
    throw invalidRequest(`This dispute is closed: it is ${dispute.status}.`);
  if (isInquiry(dispute.status) !== (status === 'warning_closed') && status !== 'prevented') {
    throw invalidRequest(`A dispute that is ${dispute.status} can't become ${status}.`);
  }
  const before = structuredClone(dispute);
  dispute.status = status;
  dispute.is_charge_refundable = status !== 'lost';
  simulation.emit({ type: 'charge.dispute.closed', object: dispute, before });
  if (status !== 'lost' && !isInquiry(before.status)) {
    simulation.emit({ type: 'charge.dispute.funds_reinstated', object: dispute });
  }
  return dispute;
}

/** Whether a dispute of the charge is open or lost. An inquiry, and whatever ended well, blocks nothing. */
export function blocksRefunds(simulation: Simulation, chargeId: string): boolean {
  return [...simulation.state.disputes.values()].some(
    (dispute) => dispute.charge === chargeId && !dispute.is_charge_refundable,
  );
}

export function requireDispute(simulation: Simulation, id: string): Stripe.Dispute {
  const dispute = simulation.state.disputes.get(id);
  if (dispute === undefined) throw resourceMissing('dispute', id);
  return dispute;
}

function isInquiry(status: string): boolean {
  return status === 'warning_needs_response' || status === 'warning_under_review';
}

function isClosed(dispute: Stripe.Dispute): boolean {
  return ['won', 'lost', 'warning_closed', 'prevented'].includes(dispute.status);
}

function buildDispute(
  simulation: Simulation,
  charge: Stripe.Charge,
  opening: DisputeOpening,
): Stripe.Dispute {
  const inquiry = opening.inquiry === true;
  return {
    id: simulation.newId('du'),
    object: 'dispute',
    amount: opening.amount ?? charge.amount,
    balance_transactions: [],
    charge: charge.id,
    created: simulation.nowS(),
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: noEvidence(),
    evidence_details: {
      due_by: simulation.nowS() + RESPONSE_DUE_S,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'not_submitted',
    },
    intended_submission_method: null,
    is_charge_refundable: inquiry,
    livemode: charge.livemode,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: opening.reason ?? 'fraudulent',
    status: inquiry ? 'warning_needs_response' : 'needs_response',
  };
}

function noEvidence(): Stripe.Dispute.Evidence {
  return {
    access_activity_log: null,
    billing_address: null,
    cancellation_policy: null,
    cancellation_policy_disclosure: null,
    cancellation_rebuttal: null,
    customer_communication: null,
    customer_email_address: null,
    customer_name: null,
    customer_purchase_ip: null,
    customer_signature: null,
    duplicate_charge_documentation: null,
    duplicate_charge_explanation: null,
    duplicate_charge_id: null,
    enhanced_evidence: {},
    product_description: null,
    receipt: null,
    refund_policy: null,
    refund_policy_disclosure: null,
    refund_refusal_explanation: null,
    service_date: null,
    service_documentation: null,
    shipping_address: null,
    shipping_carrier: null,
    shipping_date: null,
    shipping_documentation: null,
    shipping_tracking_number: null,
    uncategorized_file: null,
    uncategorized_text: null,
  };
}
