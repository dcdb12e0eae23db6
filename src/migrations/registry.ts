import { GOD_RECORD } from './god-record/migration.ts';
import { METRICS_SPLIT } from './metrics-split/migration.ts';
import type { Migration } from './migration.ts';

/** Every migration that this code knows, oldest first. One whose table holds no state of it doesn't apply there. */
export const MIGRATIONS: readonly Migration[] = [GOD_RECORD, METRICS_SPLIT];

export function migrationOf(id: string): Migration | undefined {
  return MIGRATIONS.find((migration) => migration.id === id);
}
