import type { Migration } from '../migration.ts';

/** METRICS held points and credits beside the metrics themselves: they become BALANCE#POINT and BALANCE#JCREDIT. */
export const METRICS_SPLIT: Migration = {
  id: 'metrics-split',
  title: 'Embedded points and credits: METRICS → BALANCE#POINT, BALANCE#JCREDIT',
  shape: {
    type: 'METRICS',
    mark: 'split_at',
    amounts: { POINT: 'points', JCREDIT: 'jcredit' },
    profile: {},
    removal: 'ATTRIBUTES',
  },
};
