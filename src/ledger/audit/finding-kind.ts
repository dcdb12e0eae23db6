import type { AuditProblem } from './audit.ts';
import { digest } from '../kernel/fingerprint.ts';
import { PREFIX } from '../kernel/keys.ts';

/** What a finding is about, which says how it is mended (`MENDERS`). */
export const FINDING_KINDS = [
  'balance',
  'order-sum',
  'order-state',
  'order-metadata',
  'order-payment',
  'order-refund',
  'order-dispute',
  'order-overpayment',
  'order-reward',
  'entry-posting',
  'order-gone',
  'item-form',
  'item-stray',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** By how the name of what is off in an order begins; the first that fits. */
const OF_ORDERS: readonly (readonly [begins: RegExp, kind: FindingKind])[] = [
  [/^(refunded|refundPending|refundable|owed|refunds|refunds pending)$/, 'order-sum'],
  [/^state$/, 'order-state'],
  [/^metadata$/, 'order-metadata'],
  [/^(paid by entries|payment entries)$/, 'order-payment'],
  [/^dispute /, 'order-dispute'],
  [/^surplus /, 'order-overpayment'],
  [/^(POINT|METRIC)/, 'order-reward'],
  [/refund/, 'order-refund'],
];

export function findingKind({ item, what }: Pick<AuditProblem, 'item' | 'what'>): FindingKind {
  if (what === 'item') return 'item-form';
  if (what === 'account' && !item.startsWith(PREFIX.entry)) return 'item-stray';
  if (item.startsWith(PREFIX.balance) || item === 'METRICS') return 'balance';
  if (item.startsWith(PREFIX.order)) {
    const [, kind = 'item-form'] = OF_ORDERS.find(([begins]) => begins.test(what)) ?? [];
    return kind;
  }
  if (item.startsWith(PREFIX.metadata)) return 'order-metadata';
  return what === 'order' ? 'order-gone' : 'entry-posting';
}

/** The id of a finding: the same in every audit, as long as the same thing of the same item is off. */
export function findingId({ tenant, accountId, item, what }: AuditProblem): string {
  return `F-${digest(tenant, accountId, item, what).slice(0, 12)}`;
}
