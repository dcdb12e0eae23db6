import { z } from 'zod';
import type { RequestChaos } from '../api/request-chaos.ts';
import type { Simulation } from '../simulation.ts';
import type { WebhookDelivery } from '../webhooks/webhook-delivery.ts';

export interface ControlParts {
  readonly simulation: Simulation;
  readonly requestChaos: RequestChaos;
  readonly delivery: WebhookDelivery;
  /** Brings sessions and slips up to simulated time. */
  readonly settle: () => void;
  readonly save: () => Promise<void>;
}

/** A thing that can be done to the simulator from outside Stripe's API: what it takes, and what it does. */
export interface Control<S extends z.ZodType, R> {
  readonly input: S;
  readonly run: (input: z.output<S>, parts: ControlParts) => R;
}

export function control<S extends z.ZodType, R>(input: S, run: Control<S, R>['run']): Control<S, R> {
  return { input, run };
}

/** What a control takes that takes nothing. */
export const nothing = z.strictObject({}).default({});

/** How many times, requests or copies; one unless given. */
export const count = z.number().int().min(1).default(1);
