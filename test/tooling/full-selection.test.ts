import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { fullSelectionProblems, fullSelections } from '../../scripts/full-selection.ts';

const SCHEMA = `
  type Query { ok: Boolean }
  type Order { id: ID!  lines(first: Int, sort: String!): [Line!]!  parent: Order }
  type Line { name: String! }
  type Paid { order: Order!  balance: String! }
  type Refused { message: String! }
  union ChargeResult = Paid | Refused
  type Mutation { charge(key: ID!, note: String): ChargeResult!  ping: Boolean }
`;

describe('a full selection', () => {
  it('asks for every field of every member, with the arguments of the mutation and those that a field needs', () => {
    const document = fullSelections(buildSchema(SCHEMA), 3).get('charge');
    expect(document).toBe(
      'mutation Full_charge($Mutation_charge_key: ID!, $Mutation_charge_note: String, $Order_lines_sort: String!) { ' +
        'charge(key: $Mutation_charge_key, note: $Mutation_charge_note) { __typename ' +
        '... on Paid { __typename order { __typename id lines(sort: $Order_lines_sort) { __typename name } ' +
        'parent { __typename id } } balance } ' +
        '... on Refused { __typename message } } }',
    );
  });

  it('exists for a mutation without arguments or members', () => {
    expect(fullSelections(buildSchema(SCHEMA)).get('ping')).toBe('mutation Full_ping { ping }');
  });

  it('is valid where members agree', () => {
    expect(fullSelectionProblems(buildSchema(SCHEMA))).toEqual([]);
  });

  it('finds a field whose nullability differs between members of a union', () => {
    const schema = buildSchema(SCHEMA.replace('type Refused {', 'type Refused { balance: String '));
    expect(fullSelectionProblems(schema)).toEqual([
      expect.stringMatching(/^charge: Fields "balance" conflict because they return conflicting types/),
    ]);
  });

  it('finds a field whose type differs between members, below the union too', () => {
    const schema = buildSchema(
      SCHEMA.replace('type Refused {', 'type Other { id: Int! } type Refused { order: Other! '),
    );
    expect(fullSelectionProblems(schema)).toHaveLength(1);
  });

  it('is valid for every mutation of the public contract', () => {
    const contract = buildSchema(
      readFileSync(join(import.meta.dirname, '..', '..', 'contract.graphql'), 'utf8'),
    );
    expect(fullSelections(contract).size).toBe(13);
    expect(fullSelectionProblems(contract)).toEqual([]);
  });
});
