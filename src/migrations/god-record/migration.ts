import type { Migration } from '../migration.ts';

/** One customer item held profile, balances, points and credits together: it becomes PROFILE and BALANCE#… items. */
export const GOD_RECORD: Migration = {
  id: 'god-record',
  title: 'The God record: CUSTOMER → PROFILE, BALANCE#ECOPAY, BALANCE#POINT, BALANCE#JCREDIT',
  shape: {
    type: 'CUSTOMER',
    mark: 'moved_at',
    amounts: { ECOPAY: 'ecopay', POINT: 'point', JCREDIT: 'jcredit' },
    profile: { display_name: 'name', email: 'mail', phone_number: 'phone' },
    removal: 'ITEM',
  },
};
