import { readFile, readdir } from 'node:fs/promises';
import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  isEnumType,
  isInputObjectType,
  isRequiredInputField,
  parse,
  parseType,
  specifiedRules,
  validate,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { customerTabs } from '../../../dev/demo/customer-tabs.ts';
import { roleTabs } from '../../../dev/demo/role-tabs.ts';
import { schema } from '../../../src/schema/schema.ts';
import { DEFAULT_DOCUMENT_LIMITS } from '../../../src/transport/document-limits.ts';
import { flatOrderLists } from '../../../src/transport/document-rules.ts';
import { customer, TEST_TENANTS } from '../../support/harness.ts';

const DOCUMENTS = 'test/support/documents';
const tokens = { customer: 'c', merchant: 'm', terminal: 't', admin: 'a' };
const seeded = { toCharge: 'o1', toRefund: 'o2' };

/** Every operation that a client of ours sends, with the fragments that it may need. */
async function honestDocuments(): Promise<readonly string[]> {
  const names = await readdir(DOCUMENTS);
  const shared = await Promise.all(names.map((name) => readFile(`${DOCUMENTS}/${name}`, 'utf8')));
  const tabs = [
    ...customerTabs('http://localhost:4000', 'token'),
    ...roleTabs(tokens as never, seeded as never),
  ].map(({ query }) => query);
  return [shared.join('\n'), await readFile('test/client-example/operations.graphql', 'utf8'), ...tabs];
}

const SCALARS: Readonly<Record<string, unknown>> = {
  Int: 20,
  DateTime: '2026-01-01T00:00:00Z',
  Boolean: true,
};

/** Some value that a variable of the type may have. */
function sampleOf(type: TypeNode): unknown {
  if (type.kind === Kind.NON_NULL_TYPE) return sampleOf(type.type);
  if (type.kind === Kind.LIST_TYPE) return [sampleOf(type.type)];
  const named = schema.getType(type.name.value);
  if (isEnumType(named)) return named.getValues()[0]?.name;
  if (!isInputObjectType(named)) return SCALARS[type.name.value] ?? '1';
  const required = Object.values(named.getFields()).filter(isRequiredInputField);
  return Object.fromEntries(required.map((field) => [field.name, sampleOf(parseType(String(field.type)))]));
}

/** What an operation costs at the demo's tenant. */
function costOf(text: string, operation: OperationDefinitionNode): number {
  const document = parse(text);
  const definitions = document.definitions.filter(
    (definition) =>
      definition.kind !== Kind.OPERATION_DEFINITION || definition.name?.value === operation.name?.value,
  );
  const ctx = { viewer: customer('alice', 'demo'), ledger: { tenants: TEST_TENANTS } };
  // What stands in the variables costs nothing; they only have to be there.
  const variables = Object.fromEntries(
    (operation.variableDefinitions ?? []).map(({ variable, type }) => [variable.name.value, sampleOf(type)]),
  );
  return complexityFromQuery({ ...document, definitions }, { schema, ctx, variables }).complexity;
}

describe('what clients of ours send', () => {
  it('is within the limits, by real bounds', async () => {
    const costs = (await honestDocuments()).flatMap((text) => {
      const document = parse(text);
      const problems = validate(schema, document, [...specifiedRules, flatOrderLists]);
      expect(problems).toEqual([]);
      return document.definitions.flatMap((definition) =>
        definition.kind === Kind.OPERATION_DEFINITION ? [costOf(text, definition)] : [],
      );
    });
    expect(costs.length).toBeGreaterThan(30);
    expect(Math.max(...costs)).toBeLessThan(DEFAULT_DOCUMENT_LIMITS.maxCost / 2);
  });
});

describe('the cost of lists', () => {
  const cost = (text: string): number => {
    const [operation] = parse(text).definitions;
    return operation?.kind === Kind.OPERATION_DEFINITION ? costOf(text, operation) : Number.NaN;
  };

  it('is what they can hold', () => {
    const ofOrder = (fields: string): number =>
      cost(`{ order(id: "x") { ${fields} } }`) - cost('{ order(id: "x") { id } }') + 1;
    expect(ofOrder('timeline { version }')).toBe(301);
    expect(ofOrder('refunds { id }')).toBe(101);
    expect(ofOrder('lines { name }')).toBe(100);
    expect(cost('{ merchants { name } }')).toBe(2);
    expect(cost('{ orders(first: 100) { edges { node { id } } } }')).toBeGreaterThanOrEqual(300);
  });
});
