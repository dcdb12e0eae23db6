import { type Clock, epochS } from '../../src/ledger/kernel/clock.ts';
import { storeEvent } from './objects/event-store.ts';
import { OUTSIDE_CAUSE, type StoredEvent } from './objects/events.ts';
import { seededId } from './randomness.ts';
import type { Simulation, SimulationSettings } from './simulation.ts';
import type { State } from './state.ts';

export interface SimulationParts {
  readonly state: State;
  readonly settings: SimulationSettings;
  readonly clock: Clock;
  /** Told of every event once it is stored, to send its webhook. Answers whether one will be sent. */
  readonly onEvent: (event: StoredEvent) => void;
}

/** Makes the simulation that everything shares. */
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
