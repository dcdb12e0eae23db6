import type { Migration } from '../../src/migrations/legacy-record.ts';
import { followMigrations } from '../../src/migrations/migrating-table.ts';
import { COUNTS_FOR_MS } from '../../src/migrations/state.ts';
import { type Direction, type MigrationStepResult, takeStep } from '../../src/migrations/steps.ts';
import { type Toolkit, readStates } from '../../src/migrations/toolkit.ts';
import { type MigrationView, createMigrationView } from '../../src/migrations/view.ts';
import type { Ledger } from '../../src/ledger/usecases/runtime/ledger.ts';
import type { Harness } from './harness.ts';

/** One gateway as far as migrations go: a ledger that acts on the phase it read last. */
export interface Gateway {
  readonly ledger: Ledger;
  readonly view: MigrationView;
}

export async function startGateway({ ledger }: Pick<Harness, 'ledger'>): Promise<Gateway> {
  const { clock, ids } = ledger;
  const view = createMigrationView({ ...ledger, clock, ids });
  await view.refresh();
  return { view, ledger: { ...ledger, ...followMigrations(ledger, view, ids) } };
}

export function toolkitOf({ ledger }: Pick<Harness, 'ledger'>): Toolkit {
  const { store, transactor, clock, ids } = ledger;
  return { table: { store, transactor }, clock, ids, operator: 'operator', wait: () => Promise.resolve() };
}

/**
 * Takes a step that must be possible, and lets the gateways see it one after the other. The one that begins a migration
 * is taken as if it was a minute ago, so that nobody has to wait before the next.
 */
export async function step(
  toolkit: Toolkit,
  migration: Migration,
  direction: Direction,
  gateways: readonly Gateway[],
): Promise<string> {
  const hasBegun = (await readStates(toolkit.table.store)).some(({ id }) => id === migration.id);
  const clock = { nowMs: () => toolkit.clock.nowMs() - (hasBegun ? 0 : COUNTS_FOR_MS) };
  const result: MigrationStepResult = await takeStep({ ...toolkit, clock }, migration, direction);
  if (result.kind !== 'TAKEN') throw new Error(`the step was refused: ${JSON.stringify(result)}`);
  for (const { view } of gateways) await view.refresh();
  return result.state.phase;
}
