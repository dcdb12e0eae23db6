import { randomUUID } from 'node:crypto';
import { createAdaptorServer, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import { type Clock, systemClock } from '../../src/ledger/kernel/clock.ts';
import { mountApi, type SimulatorHono } from './api/api.ts';
import { expireDueSessions } from './objects/checkout-sessions.ts';
import { mountControls } from './controls/control-routes.ts';
import { type Controls, createControls } from './controls/controls.ts';
import { mountPages } from './pages/page-routes.ts';
import { type DeliveryChaos, NO_CHAOS } from './webhooks/delivery-chaos.ts';
import { lapseDueVouchers } from './objects/paying.ts';
import { loadState, stateSaver } from './persistence.ts';
import { createRequestChaos } from './api/request-chaos.ts';
import { createSimulation } from './create-simulation.ts';
import type { StoredEvent } from './objects/events.ts';
import type { State } from './state.ts';
import { createWebhookDelivery } from './webhooks/webhook-delivery.ts';
import { webhookPost } from './webhooks/webhook-post.ts';

export interface StripeSimulatorOptions {
  /** The only API key it takes. */
  readonly secretKey: string;
  /** What webhooks are signed with, and the gateway verifies with. */
  readonly webhookSecret: string;
  /** Where webhooks go; without it none are sent until `setWebhooks` names a URL. */
  readonly webhookUrl?: string;
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  /** Any free port unless given. */
  readonly port?: number;
  /** Real time, by which signatures are dated. The simulator's own time is this plus what it was advanced by. */
  readonly clock?: Clock;
  /** Makes ids and chaos repeatable. Two simulators with one seed make the same ids. */
  readonly seed?: string;
  readonly livemode?: boolean;
  /** Where everything is kept, so that sessions outlive a restart; in memory alone unless given. */
  readonly stateFile?: string;
  /** Webhooks under way at once; 1 unless given, which keeps the order of events. */
  readonly webhookConcurrency?: number;
  /** How webhooks go wrong from the start; `setChaos` changes it. */
  readonly chaos?: Partial<DeliveryChaos>;
  /** Whether webhooks are sent from the start; true unless given, and `setWebhooks` changes it. */
  readonly webhooksOn?: boolean;
  /** Until the first retry of a webhook; each further one takes twice as long. 250 ms unless given. */
  readonly webhookFirstRetryMs?: number;
  /** How often a webhook is tried in all; 12 unless given. */
  readonly webhookMaxAttempts?: number;
  /** Takes one line per noteworthy happening: an event, a webhook given up. Ids and types alone. */
  readonly log?: (line: string) => void;
}

/** A running simulator: where it listens, how to end it, and every control as a method. */
export interface StripeSimulator extends Controls {
  readonly port: number;
  /** Where it answers, without a trailing slash. */
  readonly url: string;
  /** Every event so far, oldest first, as the events API has them. */
  readonly events: () => readonly StoredEvent[];
  /** Ends listening and sending, and writes the state where it is kept. Again is the same as once. */
  readonly close: () => Promise<void>;
}

/** How often sessions and slips are looked at for expiry while nobody calls. */
const SETTLE_INTERVAL_MS = 1000;

/**
 * Starts a simulator of Stripe's API for development and tests. Rejects where the port is taken or the state file
 * can't be read.
 */
export async function startStripeSimulator(options: StripeSimulatorOptions): Promise<StripeSimulator> {
  const host = options.host ?? '127.0.0.1';
  const state = await loadState(options.stateFile);
  const log = options.log ?? (() => undefined);
  const app: SimulatorHono = new Hono();
  app.onError((error, context) => {
    log(`a bug of the simulator: ${error.stack ?? error.message}`);
    return context.json({ error: { type: 'api_error', message: 'The simulator failed; see its log.' } }, 500);
  });
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false });
  const port = await listen(server, host, options.port ?? 0);
  const url = `http://${host}:${String(port)}`;
  const parts = assemble(options, log, state, url);
  mountApi(app, { ...parts, secretKey: options.secretKey, chaos: parts.requestChaos });
  const controls = createControls(parts);
  mountControls(app, controls);
  mountPages(app, parts);
  if (parts.delivery.isOn()) for (const id of state.undelivered) parts.delivery.enqueue(id);
  const settling = setInterval(parts.settle, SETTLE_INTERVAL_MS);
  settling.unref();
  const stop = async () => {
    clearInterval(settling);
    parts.requestChaos.clear();
    parts.delivery.close();
    await parts.save();
    await closed(server);
  };
  let closing: Promise<void> | undefined;
  return {
    ...controls,
    port,
    url,
    events: () => structuredClone([...state.events.values()]),
    close: () => {
      closing ??= stop();
      return closing;
    },
  };
}

function assemble(options: StripeSimulatorOptions, log: (line: string) => void, state: State, url: string) {
  const clock = options.clock ?? systemClock;
  const seed = options.seed ?? randomUUID();
  const save = stateSaver(state, options.stateFile);
  const saved = async (): Promise<boolean> => {
    try {
      await save();
      return true;
    } catch (error) {
      log(`the state could not be written: ${String(error)}`);
      return false;
    }
  };
  const post = webhookPost(state, options.webhookSecret, clock);
  const delivery = createWebhookDelivery({
    url: options.webhookUrl,
    on: options.webhooksOn ?? true,
    chaos: { ...NO_CHAOS, ...options.chaos },
    seed,
    concurrency: options.webhookConcurrency ?? 1,
    firstRetryMs: options.webhookFirstRetryMs ?? 250,
    maxAttempts: options.webhookMaxAttempts ?? 12,
    // What an endpoint was told must not be forgotten by a kill.
    post: async (...posting) => ((await saved()) ? await post(...posting) : 0),
    onDelivered: (id) => {
      const event = state.events.get(id);
      if (event !== undefined) event.pending_webhooks = 0;
      if (state.undelivered.delete(id)) void saved();
    },
    onAbandoned: (id, reason) => {
      state.undelivered.delete(id);
      void saved();
      log(`webhook ${id} given up: ${reason}`);
    },
  });
  const onEvent = (event: StoredEvent) => {
    log(`event ${event.id} ${event.type}`);
    if (!delivery.isOn()) return;
    event.pending_webhooks = 1;
    state.undelivered.add(event.id);
    delivery.enqueue(event.id);
  };
  const simulation = createSimulation({
    state,
    settings: { baseUrl: url, livemode: options.livemode ?? false, seed },
    clock,
    onEvent,
  });
  const settle = () => {
    expireDueSessions(simulation);
    lapseDueVouchers(simulation);
  };
  return { simulation, delivery, requestChaos: createRequestChaos(), settle, save };
}

function listen(server: ServerType, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function closed(server: ServerType): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => {
      if (error === undefined) resolve();
      else reject(error);
    });
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
}
