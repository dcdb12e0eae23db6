import type { SimulatorHono } from './api.ts';
import type { Simulation } from './simulation.ts';

export interface PageParts {
  readonly simulation: Simulation;
  readonly settle: () => void;
  readonly save: () => Promise<void>;
}

export function mountPages(app: SimulatorHono, parts: PageParts): void {
  app.get('/', (context) => context.text(String(parts.simulation.state.sessions.size)));
}
