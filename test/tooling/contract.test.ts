import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { judge, parseAllowedMissing } from '../../scripts/check-contract.ts';
import { compareWithContract } from '../../scripts/contract.ts';

const CONTRACT = `
  interface Node { id: ID! }
  type Query { order(id: ID!): Order  orders(first: Int = 20): [Order!]! }
  type Order implements Node { id: ID!  state: State!  paidAt: String }
  enum State { CREATED PAID }
  type Ok { order: Order! }
  type No { message: String! }
  union Result = Ok | No
  input Charge { orderId: ID!  asset: String! = "ECOPAY" }
  type Mutation { charge(key: ID!, input: Charge!): Result! }
`;

function compareWith(from: string, to: string): ReturnType<typeof compareWithContract> {
  const changed = CONTRACT.replace(from, to);
  if (changed === CONTRACT) throw new Error(`The contract has no "${from}".`);
  return compareWithContract(buildSchema(CONTRACT), buildSchema(changed));
}

describe('a schema that breaks a client', () => {
  it.each([
    ['an output loosened to nullable', 'state: State!', 'state: State', 'Order.state is State, not State!.'],
    [
      'an output tightened to non-null',
      'paidAt: String',
      'paidAt: String!',
      'Order.paidAt is String!, not String.',
    ],
    ['a list whose members may be null', '[Order!]!', '[Order]!', 'Query.orders is [Order]!, not [Order!]!.'],
    ['an argument made optional', 'order(id: ID!)', 'order(id: ID)', 'Query.order(id:) is ID, not ID!.'],
    [
      'another default of an argument',
      'first: Int = 20',
      'first: Int = 50',
      'Query.orders(first:) defaults to 50, not 20.',
    ],
    [
      'no default of an argument',
      'first: Int = 20',
      'first: Int',
      'Query.orders(first:) defaults to nothing, not 20.',
    ],
    ['a default lost by an input', ' = "ECOPAY"', '', 'Charge.asset defaults to nothing, not "ECOPAY".'],
    [
      'a new required argument',
      'charge(key: ID!',
      'charge(key: ID!, shop: ID!',
      'Mutation.charge(shop:) is new and required.',
    ],
    ['a new required input', 'orderId: ID! ', 'orderId: ID!  shop: ID! ', 'Charge.shop is new and required.'],
    ['another kind of type', 'enum State { CREATED PAID }', 'scalar State', 'State is another kind of type.'],
  ])('is told: %s', (_, from, to, sentence) => {
    expect(compareWith(from, to)).toEqual({ breaking: [sentence], missing: [] });
  });
});

describe('a schema that is not complete', () => {
  it.each([
    ['field', ' paidAt: String', '', ['Order.paidAt']],
    ['argument', '(first: Int = 20)', '', ['Query.orders(first:)']],
    ['input field', 'orderId: ID! ', '', ['Charge.orderId']],
    ['enum value', 'CREATED PAID', 'CREATED', ['State.PAID']],
    ['union member', 'Ok | No', 'Ok', ['Result | No']],
    ['interface', 'Order implements Node', 'Order', ['Order implements Node']],
  ])('lacks by coordinate: %s', (_, from, to, missing) => {
    expect(compareWith(from, to)).toEqual({ breaking: [], missing });
  });

  it('lacks a whole type once, not each of its fields', () => {
    expect(
      compareWith('type No { message: String! }\n  union Result = Ok | No', 'union Result = Ok').missing,
    ).toEqual(['No', 'Result | No']);
  });
});

describe('a schema that adds', () => {
  it.each([
    ['an optional argument', 'order(id: ID!)', 'order(id: ID!, at: String)'],
    ['a required argument with a default', 'order(id: ID!)', 'order(id: ID!, at: String! = "now")'],
    ['a union member', 'Ok | No', 'Ok | No | Order'],
    ['an enum value', 'CREATED PAID', 'CREATED PAID LOST'],
    ['a field', 'type Ok {', 'type Ok { note: String '],
  ])('keeps the contract: %s', (_, from, to) => {
    expect(compareWith(from, to)).toEqual({ breaking: [], missing: [] });
  });
});

describe('the verdict', () => {
  const incomplete = CONTRACT.replace(' paidAt: String', '');

  it('fails on what is missing, and lists it', () => {
    expect(judge(CONTRACT, incomplete, new Set())).toEqual({
      passed: false,
      lines: ['missing: Order.paidAt'],
    });
  });

  it('passes what is named as missing for now, and still lists it', () => {
    const allowed = parseAllowedMissing('# later\n\n  Order.paidAt\n');
    expect(judge(CONTRACT, incomplete, allowed)).toEqual({
      passed: true,
      lines: ['missing (for now): Order.paidAt'],
    });
  });

  it('fails on a name that is no longer missing', () => {
    expect(judge(CONTRACT, CONTRACT, new Set(['Order.paidAt'])).passed).toBe(false);
  });

  it('fails on a breaking change, whatever may be missing', () => {
    const broken = CONTRACT.replace('state: State!', 'state: State');
    expect(judge(CONTRACT, broken, new Set(['Order.state'])).passed).toBe(false);
  });
});
