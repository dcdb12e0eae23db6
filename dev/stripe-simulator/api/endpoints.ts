import { z } from 'zod';
import { sessionCreation, sessionExpiry, sessionListing } from '../objects/checkout-session-parameters.ts';
import {
  checkSessionCreation,
  createSession,
  expireSession,
  requireSession,
} from '../objects/checkout-sessions.ts';
import { disputeListing, requireDispute } from '../objects/disputes.ts';
import { resourceMissing } from './errors.ts';
import { findEvent, keptEvents } from '../objects/event-store.ts';
import { expanded } from './expansion.ts';
import type { FormRecord } from './form-decoding.ts';
import { pageOf } from './lists.ts';
import { list, listing, parseParameters, retrieval } from './parameters.ts';
import { requirePaymentIntent } from '../objects/payment-intents.ts';
import {
  checkRefundCreation,
  createRefund,
  refundCreation,
  refundListing,
  requireRefund,
} from '../objects/refunds.ts';
import type { Simulation } from '../simulation.ts';

/** One operation of Stripe's API. */
export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** The path, with `:id` for an object's id. */
  readonly path: string;
  /**
   * Reads and judges the parameters, throwing refusals that no key is bound to, and gives what to run:
   * from there on every outcome, a refusal too, is bound to the request's key.
   */
  readonly prepare: (simulation: Simulation, parameters: FormRecord, id: string) => () => object;
}

interface Definition<S extends z.ZodType> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly parameters: S;
  readonly check?: (simulation: Simulation, input: z.output<S>) => void;
  readonly run: (simulation: Simulation, input: z.output<S>, id: string) => object;
}

function endpoint<S extends z.ZodType<{ expand?: string[] | undefined }>>(
  definition: Definition<S>,
): Endpoint {
  return {
    method: definition.method,
    path: definition.path,
    prepare: (simulation, parameters, id) => {
      const input = parseParameters(definition.parameters, parameters);
      definition.check?.(simulation, input);
      return () => expanded(simulation, definition.run(simulation, input, id), input.expand);
    },
  };
}

/** Of a list filter left out, or equal to the value an object has. */
function matches(wanted: string | undefined, value: unknown): boolean {
  return wanted === undefined || wanted === value;
}

const CHECKOUT_SESSIONS: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/v1/checkout/sessions',
    parameters: sessionCreation,
    check: checkSessionCreation,
    run: createSession,
  }),
  endpoint({
    method: 'GET',
    path: '/v1/checkout/sessions/:id',
    parameters: retrieval,
    run: (simulation, _input, id) => requireSession(simulation, id),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/checkout/sessions',
    parameters: sessionListing,
    run: ({ state }, input) => {
      const sessions = [...state.sessions.values()].filter(
        (session) =>
          matches(input.payment_intent, session.payment_intent) && matches(input.status, session.status),
      );
      return pageOf('/v1/checkout/sessions', sessions, input);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/v1/checkout/sessions/:id/expire',
    parameters: sessionExpiry,
    run: (simulation, _input, id) => expireSession(simulation, id),
  }),
];

const PAYMENT_INTENTS: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/v1/payment_intents/:id',
    parameters: z.strictObject({ ...retrieval.shape, client_secret: z.string().optional() }),
    run: (simulation, _input, id) => requirePaymentIntent(simulation, id),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/payment_intents',
    parameters: z.strictObject(listing),
    run: ({ state }, input) => pageOf('/v1/payment_intents', [...state.paymentIntents.values()], input),
  }),
];

const REFUNDS: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/v1/refunds',
    parameters: refundCreation,
    check: (_simulation, input) => {
      checkRefundCreation(input);
    },
    run: (simulation, input) => createRefund(simulation, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/refunds/:id',
    parameters: retrieval,
    run: (simulation, _input, id) => requireRefund(simulation, id),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/refunds',
    parameters: refundListing,
    run: ({ state }, input) => {
      const refunds = [...state.refunds.values()].filter(
        (refund) =>
          matches(input.payment_intent, refund.payment_intent) && matches(input.charge, refund.charge),
      );
      return pageOf('/v1/refunds', refunds, input);
    },
  }),
];

const DISPUTES: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/v1/disputes/:id',
    parameters: retrieval,
    run: (simulation, _input, id) => requireDispute(simulation, id),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/disputes',
    parameters: disputeListing,
    run: ({ state }, input) => {
      const disputes = [...state.disputes.values()].filter(
        (dispute) =>
          matches(input.payment_intent, dispute.payment_intent) && matches(input.charge, dispute.charge),
      );
      return pageOf('/v1/disputes', disputes, input);
    },
  }),
];

const eventListing = z.strictObject({
  ...listing,
  type: z.string().optional(),
  types: list(z.string())
    .refine((types) => types.length <= 20, 'takes at most 20 types')
    .optional(),
});

const EVENTS: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/v1/events/:id',
    parameters: retrieval,
    run: (simulation, _input, id) => {
      const event = findEvent(simulation, id);
      if (event === undefined) throw resourceMissing('event', id);
      return event;
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/events',
    parameters: eventListing,
    run: (simulation, input) => {
      const types = input.type === undefined ? input.types : [input.type];
      return pageOf('/v1/events', keptEvents(simulation, types), input);
    },
  }),
];

const CHARGES: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/v1/charges/:id',
    parameters: retrieval,
    run: ({ state }, _input, id) => {
      const charge = state.charges.get(id);
      if (charge === undefined) throw resourceMissing('charge', id);
      return charge;
    },
  }),
];

/** Everything the simulator answers under `/v1`. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...CHECKOUT_SESSIONS,
  ...PAYMENT_INTENTS,
  ...CHARGES,
  ...REFUNDS,
  ...DISPUTES,
  ...EVENTS,
];
