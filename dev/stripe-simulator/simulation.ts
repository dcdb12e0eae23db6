import type { Cause, Emission } from './objects/events.ts';
import type { RefundRule } from './objects/refund-rules.ts';
import type { State } from './state.ts';

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
