import { createHash } from 'node:crypto';
import { keyInUse, keyReused } from './errors.ts';
import type { FormRecord } from './form-decoding.ts';
import type { Simulation } from '../simulation.ts';
import type { StoredResponse } from '../state.ts';

const FORGOTTEN_AFTER_S = 24 * 60 * 60;

/** Stripe's rules for `Idempotency-Key`: bound to its first parameters, replayed, refused while in flight. */
export interface Idempotency {
  /**
   * Claims a key for a request. Gives the stored answer if there is one, undefined if the request is to run.
   * Throws the refusal for a key used with other parameters (400) or still in flight (409).
   */
  readonly begin: (key: string, fingerprint: string) => StoredResponse | undefined;
  /** Binds the key to an answer. The key stays in flight until `release`. */
  readonly store: (key: string, response: StoredResponse) => void;
  readonly release: (key: string) => void;
}

export function createIdempotency(simulation: Simulation): Idempotency {
  const { responses } = simulation.state;
  const inFlight = new Map<string, string>();
  return {
    begin: (key, fingerprint) => {
      const running = inFlight.get(key);
      const stored = remembered(simulation, key);
      const bound = running ?? stored?.fingerprint;
      if (bound !== undefined && bound !== fingerprint) throw keyReused(key);
      if (running !== undefined) throw keyInUse();
      if (stored === undefined) inFlight.set(key, fingerprint);
      return stored;
    },
    store: (key, response) => {
      forgetOldest(simulation);
      // Anew at the end: the order of insertion is the order of age.
      responses.delete(key);
      responses.set(key, response);
    },
    release: (key) => {
      inFlight.delete(key);
    },
  };
}

/** What makes two requests the same: method, path and parameters, in whatever order these were sent. */
export function requestFingerprint(method: string, path: string, parameters: FormRecord): string {
  return createHash('sha256')
    .update(`${method} ${path} ${canonical(parameters)}`)
    .digest('hex');
}

function canonical(value: FormRecord | string): string {
  if (typeof value === 'string') return JSON.stringify(value);
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}

function remembered(simulation: Simulation, key: string): StoredResponse | undefined {
  const stored = simulation.state.responses.get(key);
  return stored === undefined || isForgotten(simulation, stored) ? undefined : stored;
}

function isForgotten(simulation: Simulation, stored: StoredResponse): boolean {
  return stored.createdS <= simulation.nowS() - FORGOTTEN_AFTER_S;
}

/** Drops the keys nobody is asked about any more, so that a long-lived state file doesn't grow for ever. */
function forgetOldest(simulation: Simulation): void {
  const { responses } = simulation.state;
  for (const [key, stored] of responses) {
    if (!isForgotten(simulation, stored)) return;
    responses.delete(key);
  }
}
