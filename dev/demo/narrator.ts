import type { SeenTransition } from './gateway-client.ts';

/** Prints a demo: numbered steps, what happened under each, and whether it was what had to happen. */
export interface Narrator {
  readonly step: (title: string) => void;
  readonly tell: (text: string) => void;
  /** Prints a fact that has to hold, and remembers if it doesn't. */
  readonly check: (holds: boolean, frozenField: string) => void;
  readonly transitions: (seen: readonly SeenTransition[]) => void;
  /** How many facts did not hold. */
  readonly failures: () => number;
}

export function createNarrator(print: (line: string) => void): Narrator {
  let steps = 0;
  let failures = 0;
  return {
    step: (title) => {
      steps += 1;
      print(`\n${String(steps).padStart(2)}. ${title}`);
    },
    tell: (text) => {
      print(`      ${text}`);
    },
    check: (holds, frozenField) => {
      if (!holds) failures += 1;
      print(`    ${holds ? '✓' : '✗ NOT'} ${frozenField}`);
    },
    transitions: (seen) => {
      for (const { version, from, to, cause } of seen) {
        const move = from === null || from === to ? to : `${from} → ${to}`;
        print(`      v${String(version)}  ${move.padEnd(34)} ${cause}`);
      }
    },
    failures: () => failures,
  };
}
