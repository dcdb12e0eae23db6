import { toAttribute, toAttributes } from '../ledger/kernel/attributes.ts';
import { integer } from '../ledger/kernel/integers.ts';
import type { AccountRef } from '../ledger/kernel/keys.ts';
import { ZERO } from '../ledger/kernel/money.ts';
import type { PlannedItem } from '../ledger/items/plan.ts';
import {
  type BalanceBound,
  type FieldChange,
  type ProfileChange,
  type RecordChange,
  type UpdateClauses,
  addFieldChanges,
  boundCondition,
  noClauses,
  updateExpression,
} from '../ledger/model/record-changes.ts';
import { heldAttributes } from './legacy-record.ts';
import { type LegacyShape, type Migration, legacyKey } from './migration.ts';

/**
 * How a record's old shape takes part in a transaction.
 * ALONE: it hasn't moved; what must hold of its balances is judged here. FOLLOW: it has moved; the new shape judges.
 * BORN: there is none yet; it is made as one that has moved.
 */
export type Part = 'ALONE' | 'FOLLOW' | 'BORN';

/**
 * The changes of one account as one write of its record's old shape: none where nothing changes, a check where something
 * is only looked at. Its condition holds it to the part that it was given: a record that moves meanwhile refuses it.
 */
export function mirror(
  migration: Migration,
  account: AccountRef,
  changes: readonly RecordChange[],
  part: Part,
): readonly PlannedItem[] {
  const { shape } = migration;
  const clauses = noClauses();
  const conditions = partConditions(shape, part, clauses.names);
  let atMs: number | undefined;
  for (const change of changes) {
    if (part === 'ALONE' && 'bound' in change) {
      conditions.push(`(${bound(shape, change.asset, change.bound, clauses)})`);
    }
    if (change.kind === 'BALANCE_CHECK' || (part === 'FOLLOW' && isEmpty(change))) continue;
    atMs = change.atMs;
    addChange(shape, change, clauses);
  }
  const Key = toAttributes({ ...legacyKey(migration, account) });
  const condition = {
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: clauses.names,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
  const role = legacyRole(migration, account);
  if (atMs === undefined) {
    if (part !== 'ALONE' || changes.length === 0) return [];
    return [
      { role, item: { ConditionCheck: { Key, ...condition, ExpressionAttributeValues: clauses.values } } },
    ];
  }
  addHousekeeping(shape, part, changes, atMs, clauses);
  return [
    {
      role,
      item: {
        Update: {
          Key,
          UpdateExpression: updateExpression(clauses),
          ...condition,
          ExpressionAttributeValues: clauses.values,
        },
      },
    },
  ];
}

/** By which role a transaction's old-shape item of an account is known. */
export function legacyRole(migration: Migration, account: AccountRef): `legacy:${string}` {
  return `legacy:${legacyKey(migration, account).uuid}`;
}

function partConditions(shape: LegacyShape, part: Part, names: Record<string, string>): string[] {
  names['#mark'] = shape.mark;
  switch (part) {
    case 'ALONE':
      return ['attribute_not_exists(#mark)'];
    case 'FOLLOW':
      return ['attribute_exists(#mark)'];
    case 'BORN':
      return ['#mark', ...heldAttributes(shape).map((attribute) => named(names, attribute))].map(
        (name) => `attribute_not_exists(${name})`,
      );
  }
}

function bound(shape: LegacyShape, asset: string, limit: BalanceBound, clauses: UpdateClauses): string {
  const attribute = attributeOf(shape, asset);
  const value = `:bound_${attribute}`;
  clauses.values[value] = toAttribute(limit.amount);
  return boundCondition(limit, named(clauses.names, attribute), value);
}

function isEmpty(change: RecordChange): boolean {
  if (change.kind === 'BALANCE') return change.net.isZero();
  return change.kind === 'PROFILE' && Object.keys(change.fields).length === 0;
}

function addChange(
  shape: LegacyShape,
  change: Exclude<RecordChange, { kind: 'BALANCE_CHECK' }>,
  clauses: UpdateClauses,
): void {
  switch (change.kind) {
    case 'BALANCE': {
      const attribute = attributeOf(shape, change.asset);
      clauses.adds.push(`${named(clauses.names, attribute)} :${attribute}`);
      clauses.values[`:${attribute}`] = toAttribute(change.net);
      return;
    }
    case 'PROFILE':
      addFieldChanges(clauses, legacyFields(shape, change));
      return;
    case 'METRICS':
      addMetrics(clauses, change);
  }
}

function legacyFields({ profile }: LegacyShape, { fields }: ProfileChange): Record<string, FieldChange> {
  const renamed: Record<string, FieldChange> = {};
  for (const [field, attribute] of Object.entries(profile)) {
    // Object.entries forgets that the names are the shape's own.
    const change = fields[field as keyof typeof fields];
    if (change !== undefined) renamed[attribute] = change;
  }
  return renamed;
}

type Metrics = Pick<Extract<RecordChange, { kind: 'METRICS' }>, 'charged' | 'co2Kg'>;

function addMetrics(clauses: UpdateClauses, { charged, co2Kg }: Metrics): void {
  clauses.adds.push('#charged_total :charged', '#co2_reduction_kg :co2');
  named(clauses.names, 'charged_total');
  named(clauses.names, 'co2_reduction_kg');
  clauses.values[':charged'] = toAttribute(charged);
  clauses.values[':co2'] = toAttribute(co2Kg);
}

/** What every write of a record does beside its changes: it counts itself, so that nobody moves what they didn't read. */
function addHousekeeping(
  shape: LegacyShape,
  part: Part,
  changes: readonly RecordChange[],
  atMs: number,
  clauses: UpdateClauses,
): void {
  clauses.sets.unshift(`${named(clauses.names, 'updated_at')} = :at`);
  clauses.adds.push(`${named(clauses.names, 'writes')} :one`);
  clauses.values[':at'] = toAttribute(integer(atMs));
  clauses.values[':one'] = { N: '1' };
  if (part === 'BORN') clauses.sets.push('#mark = :at');
  // A METRICS item has its metrics from the start, also where points made it.
  if (shape.type === 'METRICS' && !changes.some(({ kind }) => kind === 'METRICS')) {
    addMetrics(clauses, { charged: ZERO, co2Kg: ZERO });
  }
}

function attributeOf({ amounts }: LegacyShape, asset: string): string {
  const attribute = amounts[asset];
  if (attribute === undefined) throw new RangeError('the record does not hold this asset');
  return attribute;
}

function named(names: Record<string, string>, attribute: string): string {
  names[`#${attribute}`] = attribute;
  return `#${attribute}`;
}
