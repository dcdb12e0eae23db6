import type { StoredItem } from '../ledger/kernel/attributes.ts';
import { groupBy } from '../ledger/kernel/group-by.ts';
import { integer } from '../ledger/kernel/integers.ts';
import { type AccountRef, type ItemKey, balanceKey } from '../ledger/kernel/keys.ts';
import { ZERO } from '../ledger/kernel/money.ts';
import type { ItemRole, Plan, PlannedItem } from '../ledger/items/plan.ts';
import {
  PROFILE_FIELDS,
  type RecordChange,
  addFieldChanges,
  boundCondition,
  boundHolds,
} from '../ledger/model/record-changes.ts';
import { ItemUpdate } from './item-update.ts';
import {
  type Migration,
  asNewItem,
  concerns,
  hasMoved,
  heldAmount,
  heldAttributes,
  isRecord,
  legacyKey,
  legacyRole,
} from './legacy-record.ts';
import type { PhasePolicy } from './phases.ts';

/**
 * How a record's old shape takes part in a transaction.
 * LEGACY_ONLY: it hasn't moved; what must hold of its balances is judged here. DUAL_WRITE: it has moved and is written in
 * both shapes; the new one judges. CREATE_BOTH: there is none yet; it is made as one that has moved.
 */
export type LegacyPart = 'LEGACY_ONLY' | 'DUAL_WRITE' | 'CREATE_BOTH';

/** What a plan changes of one account's record. */
type Changes = readonly [RecordChange, ...RecordChange[]];

interface WrittenRecord {
  readonly changes: Changes;
  readonly part: LegacyPart;
}

/** A plan for both shapes, with what it takes to read its refusal as one of the plan that it was made of. */
export interface Rewritten {
  readonly plan: Plan;
  readonly parts: ReadonlyMap<ItemRole, WrittenRecord>;
}

/** The records that a plan changes, by the keys of their old shape. Empty: the plan doesn't concern the migration. */
export function recordsOf(migration: Migration, plan: Plan): readonly ItemKey[] {
  return groups(migration, plan).map(([account]) => legacyKey(migration, account));
}

/**
 * The same plan written to the shapes in which each record is now.
 * @param records the old shapes as read, in the order of `recordsOf`; of a phase that needn't look, none
 */
export function rewrite(
  migration: Migration,
  policy: PhasePolicy,
  plan: Plan,
  records: readonly (StoredItem | undefined)[],
): Rewritten {
  const parts = new Map<ItemRole, WrittenRecord>();
  const legacy = groups(migration, plan).flatMap((changes, index) => {
    const [account] = changes;
    const part = partOf(migration, policy, records[index]);
    parts.set(legacyRole(account), { changes, part });
    return legacyWrite(migration, account, changes, part);
  });
  const kept = plan.items.filter(({ role, change }) => {
    if (change === undefined || !concerns(migration, change)) return true;
    // The METRICS item is the record itself: its metrics are in the write of the old shape.
    return parts.get(legacyRole(change))?.part !== 'LEGACY_ONLY' && role !== 'metrics';
  });
  return { plan: { ...plan, items: [...kept, ...legacy] }, parts };
}

function partOf(
  migration: Migration,
  { writes, creates }: PhasePolicy,
  record: StoredItem | undefined,
): LegacyPart {
  if (writes === 'OLD') return 'LEGACY_ONLY';
  if (!isRecord(migration, record)) return creates === 'BOTH' ? 'CREATE_BOTH' : 'LEGACY_ONLY';
  return hasMoved(migration, record) ? 'DUAL_WRITE' : 'LEGACY_ONLY';
}

function groups(migration: Migration, { items }: Plan): readonly Changes[] {
  const changes = items.flatMap(({ change }) =>
    change !== undefined && concerns(migration, change) ? [change] : [],
  );
  return [...groupBy(changes, legacyRole).values()];
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
    const record = parts.get(role);
    if (record === undefined) {
      own.set(role, old);
      continue;
    }
    const refused = record.part === 'LEGACY_ONLY' ? refusedBalances(migration, record, old) : [];
    if (refused.length === 0) return undefined;
    for (const [balance, item] of refused) own.set(balance, item);
  }
  return own;
}

function refusedBalances(
  migration: Migration,
  { changes }: WrittenRecord,
  old: StoredItem | undefined,
): readonly (readonly [ItemRole, StoredItem | undefined])[] {
  if (old !== undefined && hasMoved(migration, old)) return [];
  return changes.flatMap((change) => {
    if (!('bound' in change)) return [];
    const held = old === undefined ? undefined : heldAmount(migration, old, change.asset);
    if (boundHolds(change.bound, held)) return [];
    return [[`balance:${change.asset}`, asNewItem(migration, balanceKey(change), old)] as const];
  });
}

/**
 * The changes of one account as one write of its record's old shape: none where nothing changes, a check where
 * something is only looked at. Its condition holds it to the part that it was given: a record that moves meanwhile
 * refuses it.
 */
export function legacyWrite(
  migration: Migration,
  account: AccountRef,
  changes: readonly RecordChange[],
  part: LegacyPart,
): readonly PlannedItem[] {
  const write = new ItemUpdate(legacyRole(account), legacyKey(migration, account));
  write.conditions.push(...partConditions(write, migration, part));
  let atMs: number | undefined;
  for (const change of changes) {
    if (part === 'LEGACY_ONLY' && 'bound' in change) {
      const attribute = attributeOf(migration, change.asset);
      const value = write.value(`bound_${attribute}`, change.bound.amount);
      write.conditions.push(`(${boundCondition(change.bound, write.name(attribute), value)})`);
    }
    if (change.kind === 'BALANCE_CHECK' || (part === 'DUAL_WRITE' && isEmpty(change))) continue;
    atMs = change.atMs;
    addChange(write, migration, change);
  }
  if (atMs === undefined) return part === 'LEGACY_ONLY' && changes.length > 0 ? [write.asCheck()] : [];
  write.clauses.sets.unshift(`${write.name('updated_at')} = ${write.value('at', integer(atMs))}`);
  if (part === 'CREATE_BOTH') write.clauses.sets.push('#mark = :at');
  write.countWrite();
  // A METRICS item has its metrics from the start, also where points made it.
  if (migration.type === 'METRICS' && !changes.some(({ kind }) => kind === 'METRICS')) {
    addMetrics(write, { charged: ZERO, co2Kg: ZERO });
  }
  return [write.asUpdate()];
}

function partConditions(write: ItemUpdate, migration: Migration, part: LegacyPart): readonly string[] {
  const mark = write.name(migration.mark, 'mark');
  if (part === 'DUAL_WRITE') return [`attribute_exists(${mark})`];
  const held = part === 'LEGACY_ONLY' ? [] : heldAttributes(migration).map((name) => write.name(name));
  return [mark, ...held].map((name) => `attribute_not_exists(${name})`);
}

function isEmpty(change: RecordChange): boolean {
  if (change.kind === 'BALANCE') return change.net.isZero();
  return change.kind === 'PROFILE' && Object.keys(change.fields).length === 0;
}

function addChange(
  write: ItemUpdate,
  migration: Migration,
  change: Exclude<RecordChange, { kind: 'BALANCE_CHECK' }>,
): void {
  if (change.kind === 'METRICS') addMetrics(write, change);
  else if (change.kind === 'BALANCE') write.add(attributeOf(migration, change.asset), change.net);
  else {
    for (const field of PROFILE_FIELDS) {
      const attribute = migration.profile[field];
      if (attribute !== undefined) addFieldChanges(write.clauses, { [attribute]: change.fields[field] });
    }
  }
}

type Metrics = Pick<Extract<RecordChange, { kind: 'METRICS' }>, 'charged' | 'co2Kg'>;

function addMetrics(write: ItemUpdate, { charged, co2Kg }: Metrics): void {
  write.add('charged_total', charged, 'charged');
  write.add('co2_reduction_kg', co2Kg, 'co2');
}

function attributeOf({ amounts }: Migration, asset: string): string {
  const attribute = amounts[asset];
  if (attribute === undefined) throw new RangeError('the record does not hold this asset');
  return attribute;
}
