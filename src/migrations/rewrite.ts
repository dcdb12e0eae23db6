import type { StoredItem } from '../ledger/kernel/attributes.ts';
import { type AccountRef, type ItemKey, balanceKey } from '../ledger/kernel/keys.ts';
import type { ItemRole, Plan, PlannedItem } from '../ledger/items/plan.ts';
import { type RecordChange, boundHolds } from '../ledger/model/record-changes.ts';
import { asNewItem, concerns, hasMoved, heldAmount, isRecord } from './legacy-record.ts';
import { type Migration, legacyKey } from './migration.ts';
import { type Part, legacyRole, mirror } from './mirror.ts';
import type { Conduct } from './phases.ts';

/** What a plan changes of one account's record, and how the record's old shape takes part in it. */
interface Group {
  readonly account: AccountRef;
  readonly changes: readonly RecordChange[];
}

/** A plan for both shapes, with what it takes to read its refusal as one of the plan that it was made of. */
export interface Rewritten {
  readonly plan: Plan;
  readonly parts: ReadonlyMap<ItemRole, Group & { readonly part: Part }>;
}

/** The records that a plan changes, by the keys of their old shape. Empty: the plan doesn't concern the migration. */
export function recordsOf(migration: Migration, plan: Plan): readonly ItemKey[] {
  return groups(migration, plan).map(({ account }) => legacyKey(migration, account));
}

/**
 * The same plan written to the shapes in which each record is now.
 * @param records the old shapes as read, in the order of `recordsOf`; of a phase that needn't look, none
 */
export function rewrite(
  migration: Migration,
  conduct: Conduct,
  plan: Plan,
  records: readonly (StoredItem | undefined)[],
): Rewritten {
  const parts = new Map<ItemRole, Group & { readonly part: Part }>();
  const mirrored = groups(migration, plan).flatMap((group, index) => {
    const part = partOf(migration, conduct, records[index]);
    parts.set(legacyRole(migration, group.account), { ...group, part });
    return mirror(migration, group.account, group.changes, part);
  });
  const kept = plan.items.filter((planned) => {
    const role = roleFor(migration, planned);
    if (role === undefined) return true;
    // The METRICS item is the record itself: its metrics are in the mirror.
    return parts.get(role)?.part !== 'ALONE' && planned.role !== 'metrics';
  });
  return { plan: { ...plan, items: [...kept, ...mirrored] }, parts };
}

function partOf({ shape }: Migration, { writes, born }: Conduct, record: StoredItem | undefined): Part {
  if (writes === 'OLD') return 'ALONE';
  if (!isRecord(shape, record)) return born === 'BOTH' ? 'BORN' : 'ALONE';
  return hasMoved(shape, record) ? 'FOLLOW' : 'ALONE';
}

function roleFor(migration: Migration, { change }: PlannedItem): ItemRole | undefined {
  return change !== undefined && concerns(migration.shape, change)
    ? legacyRole(migration, change)
    : undefined;
}

function groups(migration: Migration, { items }: Plan): readonly Group[] {
  const found = new Map<string, { account: AccountRef; changes: RecordChange[] }>();
  for (const { change } of items) {
    if (change === undefined || !concerns(migration.shape, change)) continue;
    const { uuid } = legacyKey(migration, change);
    const group = found.get(uuid) ?? { account: change, changes: [] };
    group.changes.push(change);
    found.set(uuid, group);
  }
  return [...found.values()];
}

/**
 * Reads the refusal of a rewritten plan as one of the plan itself: which balances said no, as they stood. Undefined where
 * a record moved or came to be in the meantime: look again, and write again.
 */
export function refusalOf(
  migration: Migration,
  { parts }: Rewritten,
  failed: ReadonlyMap<ItemRole, StoredItem | undefined>,
): ReadonlyMap<ItemRole, StoredItem | undefined> | undefined {
  const own = new Map<ItemRole, StoredItem | undefined>();
  for (const [role, old] of failed) {
    const group = parts.get(role);
    if (group === undefined) {
      own.set(role, old);
      continue;
    }
    const refused = group.part === 'ALONE' ? refusedBalances(migration, group, old) : [];
    if (refused.length === 0) return undefined;
    for (const [balance, item] of refused) own.set(balance, item);
  }
  return own;
}

function refusedBalances(
  { shape }: Migration,
  { changes }: Group,
  old: StoredItem | undefined,
): readonly (readonly [ItemRole, StoredItem | undefined])[] {
  if (old !== undefined && hasMoved(shape, old)) return [];
  return changes.flatMap((change) => {
    if (!('bound' in change)) return [];
    const held = old === undefined ? undefined : heldAmount(shape, old, change.asset);
    if (boundHolds(change.bound, held)) return [];
    return [[`balance:${change.asset}`, asNewItem(shape, balanceKey(change), old)] as const];
  });
}
