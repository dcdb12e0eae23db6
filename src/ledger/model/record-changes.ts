import { type AttributeValue, toAttribute } from '../kernel/attributes.ts';
import type { AccountRef } from '../kernel/keys.ts';
import type { Decimal } from '../kernel/money.ts';

/*
 * What a planned item changes of an account's record, apart from how the table keeps it. Whatever has to write the same
 * change to another shape of the record (src/migrations/) reads this and never takes an expression apart.
 */

/** What must hold of a balance before a change of it. */
export type BalanceBound =
  /** Enough is there; a balance that isn't there has nothing. */
  | { readonly kind: 'AT_LEAST'; readonly amount: Decimal }
  /** There is room; a balance that isn't there has all of it. */
  | { readonly kind: 'AT_MOST'; readonly amount: Decimal }
  /** It is still what was read. */
  | { readonly kind: 'EXACTLY'; readonly amount: Decimal };

/** Moves a balance by `net`. */
export interface BalanceChange extends AccountRef {
  readonly kind: 'BALANCE';
  readonly asset: string;
  readonly net: Decimal;
  readonly bound?: BalanceBound;
  readonly atMs: number;
}

/** Looks at a balance without moving it. */
export interface BalanceCheck extends AccountRef {
  readonly kind: 'BALANCE_CHECK';
  readonly asset: string;
  readonly bound: BalanceBound;
}

export interface MetricsChange extends AccountRef {
  readonly kind: 'METRICS';
  readonly charged: Decimal;
  readonly co2Kg: Decimal;
  readonly atMs: number;
}

/** Empties a field; a field that isn't given stays as it is. */
export const CLEAR = { kind: 'CLEAR' } as const;
export type FieldChange = string | typeof CLEAR;

export const PROFILE_FIELDS = ['display_name', 'email', 'phone_number'] as const;
export type ProfileField = (typeof PROFILE_FIELDS)[number];
export type ProfileFields = Readonly<Partial<Record<ProfileField, FieldChange>>>;

export interface ProfileChange extends AccountRef {
  readonly kind: 'PROFILE';
  readonly fields: ProfileFields;
  readonly atMs: number;
}

export type RecordChange = BalanceChange | BalanceCheck | MetricsChange | ProfileChange;

/** A bound as a condition. `name` and `value` are the placeholders of the balance and of the bound. */
export function boundCondition({ kind }: BalanceBound, name: string, value: string): string {
  switch (kind) {
    case 'AT_LEAST':
      return `${name} >= ${value}`;
    case 'AT_MOST':
      return `attribute_not_exists(${name}) OR ${name} <= ${value}`;
    case 'EXACTLY':
      return `${name} = ${value}`;
  }
}

/** What the condition of `boundCondition` says of a balance as it stood; undefined: there is none. */
export function boundHolds({ kind, amount }: BalanceBound, balance: Decimal | undefined): boolean {
  switch (kind) {
    case 'AT_LEAST':
      return balance?.gte(amount) ?? false;
    case 'AT_MOST':
      return balance?.lte(amount) ?? true;
    case 'EXACTLY':
      return balance?.eq(amount) ?? false;
  }
}

/** The clauses of an update expression and what their placeholders stand for. */
export interface UpdateClauses {
  readonly sets: string[];
  readonly removes: string[];
  readonly adds: string[];
  readonly names: Record<string, string>;
  readonly values: Record<string, AttributeValue>;
}

export function noClauses(): UpdateClauses {
  return { sets: [], removes: [], adds: [], names: {}, values: {} };
}

/** Sets what is given and removes what is to be cleared. */
export function addFieldChanges(
  clauses: UpdateClauses,
  fields: Readonly<Record<string, FieldChange | undefined>>,
): void {
  for (const [attribute, change] of Object.entries(fields)) {
    if (change === undefined) continue;
    clauses.names[`#${attribute}`] = attribute;
    if (typeof change === 'string') {
      clauses.sets.push(`#${attribute} = :${attribute}`);
      clauses.values[`:${attribute}`] = toAttribute(change);
    } else clauses.removes.push(`#${attribute}`);
  }
}

/** The update expression of clauses, in the order that DynamoDB documents. */
export function updateExpression({ sets, removes, adds }: UpdateClauses): string {
  return [
    ...(sets.length === 0 ? [] : [`SET ${sets.join(', ')}`]),
    ...(removes.length === 0 ? [] : [`REMOVE ${removes.join(', ')}`]),
    ...(adds.length === 0 ? [] : [`ADD ${adds.join(', ')}`]),
  ].join(' ');
}
