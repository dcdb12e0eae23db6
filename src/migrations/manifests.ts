import type { Migration } from './legacy-record.ts';

/** One customer item held profile, balances, points and credits together: it becomes PROFILE and BALANCE#… items. */
export const GOD_RECORD: Migration = {
  id: 'god-record',
  title: 'The God record: CUSTOMER → PROFILE, BALANCE#ECOPAY, BALANCE#POINT, BALANCE#JCREDIT',
  type: 'CUSTOMER',
  mark: 'moved_at',
  amounts: { ECOPAY: 'ecopay', POINT: 'point', JCREDIT: 'jcredit' },
  profile: { display_name: 'name', email: 'mail', phone_number: 'phone' },
  removal: 'ITEM',
};

/** METRICS held points and credits beside the metrics themselves: they become BALANCE#POINT and BALANCE#JCREDIT. */
export const METRICS_SPLIT: Migration = {
  id: 'metrics-split',
  title: 'Embedded points and credits: METRICS → BALANCE#POINT, BALANCE#JCREDIT',
  type: 'METRICS',
  mark: 'split_at',
  amounts: { POINT: 'points', JCREDIT: 'jcredit' },
  profile: {},
  removal: 'ATTRIBUTES',
};

/** Every migration that this code knows, oldest first. It applies only to a table that holds a state of it. */
export const MIGRATIONS: readonly Migration[] = [GOD_RECORD, METRICS_SPLIT];

export function migrationOf(id: string): Migration | undefined {
  return MIGRATIONS.find((migration) => migration.id === id);
}
