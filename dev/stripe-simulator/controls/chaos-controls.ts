import { z } from 'zod';
import { control, count, nothing } from './control.ts';
import { type DeliveryChaos, NO_CHAOS } from '../webhooks/delivery-chaos.ts';
import { invalidRequest, referenceMissing } from '../api/errors.ts';

const requestMatch = { count, method: z.enum(['GET', 'POST']).optional(), path: z.string().optional() };
const probability = z.number().min(0).max(1);

/** What happens to time, and to requests on their way in and out. */
export const requestControls = {
  /** Moves the simulator's clock forward; sessions and slips whose time has come expire. */
  advanceClock: control(z.strictObject({ ms: z.number().int().min(0) }), (input, { simulation, settle }) => {
    simulation.state.clockOffsetMs += input.ms;
    settle();
    return { nowS: simulation.nowS() };
  }),
  /** Answers the next requests with an error: before the effect, or after it (its caller can't know). */
  failNextRequests: control(
    z.strictObject({
      ...requestMatch,
      status: z.number().int().min(400).max(599),
      type: z.enum(['api_error', 'card_error', 'invalid_request_error']).default('api_error'),
      code: z.string().optional(),
      declineCode: z.string().optional(),
      message: z.string().optional(),
      when: z.enum(['before', 'after']).default('before'),
      stored: z.boolean().default(false),
    }),
    ({ count: times, method, path, when, stored, ...failure }, { requestChaos }) => {
      requestChaos.add({ kind: 'fail', method, path, when, stored, failure }, times);
      return {};
    },
  ),
  /** Breaks the connection of the next requests. The SDK sends a broken request once more by itself. */
  resetNextRequests: control(
    z.strictObject({ ...requestMatch, when: z.enum(['before', 'after']).default('after') }),
    ({ count: times, method, path, when }, { requestChaos }) => {
      requestChaos.add({ kind: 'reset', method, path, when }, times);
      return {};
    },
  ),
  /** Keeps back the answers of the next requests after their effect: for `ms`, or until `resumeResponses`. */
  delayNextResponses: control(
    z.strictObject({ ...requestMatch, ms: z.number().int().min(0).optional() }),
    ({ count: times, method, path, ms }, { requestChaos }) => {
      requestChaos.add({ kind: 'delay', method, path, ms }, times);
      return {};
    },
  ),
  /** Lets every answer go that is kept back. */
  resumeResponses: control(nothing, (_input, { requestChaos }) => ({ resumed: requestChaos.resume() })),
  /** How many answers are kept back now. */
  delayedResponses: control(nothing, (_input, { requestChaos }) => ({ waiting: requestChaos.waiting() })),
};

/** What happens to webhooks. */
export const webhookControls = {
  /** Sets how webhooks go wrong from now on; what is left out goes right. */
  setChaos: control(
    z.strictObject({
      loss: probability.optional(),
      duplicate: probability.optional(),
      reorder: probability.optional(),
      delay: probability.optional(),
      maxDelayMs: z.number().int().min(1).optional(),
    } satisfies Record<keyof DeliveryChaos, z.ZodType>),
    (input, { delivery }) => {
      const chaos = {
        loss: input.loss ?? NO_CHAOS.loss,
        duplicate: input.duplicate ?? NO_CHAOS.duplicate,
        reorder: input.reorder ?? NO_CHAOS.reorder,
        delay: input.delay ?? NO_CHAOS.delay,
        maxDelayMs: input.maxDelayMs ?? NO_CHAOS.maxDelayMs,
      };
      delivery.setChaos(chaos);
      return chaos;
    },
  ),
  /** Ends all chaos: every rule for requests, for refunds and for webhooks. What is held stays held. */
  calm: control(nothing, (_input, { simulation, requestChaos, delivery }) => {
    requestChaos.clear();
    simulation.refundRules.length = 0;
    delivery.setChaos(NO_CHAOS);
    return {};
  }),
  /** Switches webhooks off or on, or points them elsewhere. Events made while off are never sent. */
  setWebhooks: control(
    z.strictObject({ on: z.boolean().optional(), url: z.url().optional() }),
    (input, { delivery }) => {
      if (input.on !== undefined) delivery.setOn(input.on);
      if (input.url !== undefined) delivery.setUrl(input.url);
      return { on: delivery.isOn() };
    },
  ),
  /** Keeps webhooks back from now on. */
  hold: control(nothing, (_input, { delivery }) => {
    delivery.hold();
    return {};
  }),
  /** The ids of the events kept back, oldest first. */
  held: control(nothing, (_input, { delivery }) => ({ events: [...delivery.held()] })),
  /** Sends the named events in that order and keeps holding; without names, sends all and stops holding. */
  release: control(
    z.strictObject({ events: z.array(z.string()).optional() }).default({}),
    async (input, { delivery }) => ({
      sent: await (input.events === undefined ? delivery.releaseAll() : delivery.release(input.events)),
    }),
  ),
  /** Sends an event now, however often it was sent before: `copies` times in parallel. */
  deliver: control(
    z.strictObject({ event: z.string(), copies: count }),
    async (input, { simulation, delivery }) => {
      if (!simulation.state.events.has(input.event)) throw referenceMissing('event', input.event, 'event');
      return { sent: await delivery.sendNow(input.event, input.copies) };
    },
  ),
  /** Waits until no webhook is queued, under way or waiting for a retry. Refuses after the time-out. */
  idle: control(
    z.strictObject({ timeoutMs: z.number().int().min(1).default(10_000) }).default({ timeoutMs: 10_000 }),
    async (input, { delivery }) => {
      if (await delivery.idle(input.timeoutMs)) return { idle: true };
      throw invalidRequest('Webhooks are still waiting to be delivered.', { code: 'not_idle' });
    },
  ),
};
