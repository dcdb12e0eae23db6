import { z } from 'zod';
import { DEVELOPMENT_STRIPE_SECRET_KEY } from '../../src/config/config.ts';

/** The simulator's controls as requests, so that a demo drives one that runs in another process. */
export interface SimulatorControls {
  /** `POST /_simulator/<name>`; throws an Error with its answer unless it is 2xx. */
  readonly call: (name: string, input: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** The ids of the events whose webhooks are held back, oldest first. */
  readonly heldEvents: () => Promise<readonly string[]>;
  /** The id of the newest refund, as its API lists it. */
  readonly newestRefund: () => Promise<string>;
}

const refundsSchema = z.object({ data: z.tuple([z.object({ id: z.string() })]) });
const heldSchema = z.object({ events: z.array(z.string()) });

export function createSimulatorControls(simulatorUrl: string): SimulatorControls {
  const call = async (name: string, input: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const response = await fetch(`${simulatorUrl}/_simulator/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`The simulator answered ${String(response.status)} to ${name}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  return {
    call,
    heldEvents: async () => heldSchema.parse(await call('held', {})).events,
    newestRefund: async () => {
      const response = await fetch(`${simulatorUrl}/v1/refunds?limit=1`, {
        headers: { authorization: `Bearer ${DEVELOPMENT_STRIPE_SECRET_KEY}` },
      });
      return refundsSchema.parse(await response.json()).data[0].id;
    },
  };
}
