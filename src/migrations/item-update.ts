import {
  type AttributeInput,
  type AttributeValue,
  toAttribute,
  toAttributes,
} from '../ledger/kernel/attributes.ts';
import { integer } from '../ledger/kernel/integers.ts';
import type { ItemKey } from '../ledger/kernel/keys.ts';
import type { Condition, ItemRole, PlannedItem } from '../ledger/items/plan.ts';
import { noClauses, updateExpression } from '../ledger/model/record-changes.ts';

/** Gathers what a transaction does to one item of an account, and on which conditions: all of them must hold. */
export class ItemUpdate {
  readonly clauses = noClauses();
  readonly conditions: string[] = [];
  readonly #role: ItemRole;
  readonly #key: Record<string, AttributeValue>;

  constructor(role: ItemRole, key: ItemKey) {
    this.#role = role;
    this.#key = toAttributes({ ...key });
  }

  /** The placeholder of an attribute. */
  name(attribute: string, alias = attribute): string {
    this.clauses.names[`#${alias}`] = attribute;
    return `#${alias}`;
  }

  /** The placeholder of a value. */
  value(alias: string, value: AttributeInput): string {
    this.clauses.values[`:${alias}`] = toAttribute(value);
    return `:${alias}`;
  }

  add(attribute: string, value: AttributeInput, alias = attribute): void {
    this.clauses.adds.push(`${this.name(attribute)} ${this.value(alias, value)}`);
  }

  /** Every write of a record counts itself, so that nobody moves what they didn't read. */
  countWrite(): void {
    this.add('writes', integer(1), 'one');
  }

  asUpdate(): PlannedItem {
    const UpdateExpression = updateExpression(this.clauses);
    return { role: this.#role, item: { Update: { Key: this.#key, UpdateExpression, ...this.#condition() } } };
  }

  /** Only looks at the item. */
  asCheck(): PlannedItem {
    return { role: this.#role, item: { ConditionCheck: { Key: this.#key, ...this.#condition() } } };
  }

  asDelete(): PlannedItem {
    return { role: this.#role, item: { Delete: { Key: this.#key, ...this.#condition() } } };
  }

  #condition(): Required<Condition> {
    return {
      ConditionExpression: this.conditions.join(' AND '),
      ExpressionAttributeNames: this.clauses.names,
      ExpressionAttributeValues: this.clauses.values,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
  }
}
