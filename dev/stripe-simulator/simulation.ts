import type { Clock } from '../../src/ledger/clock.ts';
import { epochS } from '../../src/ledger/clock.ts';
import type { Emission, StoredEvent } from './events.ts';
import { storeEvent } from './events.ts';
import { seededId } from './randomness.ts';
import type { RefundRule } from './refund-rules.ts';
import type { State } from './state.ts';

/** The API request that caused an event, as the event names it; nulls for a customer or the dashboard. */
export interface Cause {
  readonly id: string | null;
  readonly idempotency_key: string | null;
}

export const OUTSIDE_CAUSE: Cause = { id: null, idempotency_key: null };

export interface SimulationSettings {
  /** Where pages are served, without a trailing slash. */
  readonly baseUrl: string;
  readonly livemode: boolean;
  readonly seed: string;
}

/** What every action of the simulator works on. `cause` differs per request, the rest is shared. */
export interface Simulation {
  readonly state: State;
  readonly settings: SimulationSettings;
  readonly cause: Cause;
  /** Rules for refunds to come, taken one by one. */
  readonly refundRules: RefundRule[];
  /** Simulated time in whole seconds since the epoch. */
  readonly nowS: () => number;
  readonly newId: (prefix: string) => string;
  readonly emit: (emission: Emission) => void;
}

export interface SimulationParts {
  readonly state: State;
  readonly settings: SimulationSettings;
  readonly clock: Clock;
  /** Told of every event once it is stored, to send its webhook. Answers whether one will be sent. */
  readonly onEvent: (event: StoredEvent) => void;
}

export function createSimulation(parts: SimulationParts): Simulation {
  const { state, settings, clock, onEvent } = parts;
  const simulation: Simulation = {
    state,
    settings,
    cause: OUTSIDE_CAUSE,
    refundRules: [],
    nowS: () => epochS(clock.nowMs() + state.clockOffsetMs),
    newId: (prefix) => {
      state.idsMade += 1;
      return seededId(settings.seed, prefix, state.idsMade);
    },
    emit: (emission) => {
      onEvent(storeEvent(simulation, emission));
    },
  };
  return simulation;
}

/** The same simulation, with its events attributed to one API request. */
export function causedBy(simulation: Simulation, cause: Cause): Simulation {
  const caused: Simulation = {
    ...simulation,
    cause,
    emit: (emission) => {
      simulation.emit({ ...emission, cause });
    },
  };
  return caused;
}
