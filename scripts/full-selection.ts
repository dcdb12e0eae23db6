import {
  buildSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isAbstractType,
  isListType,
  isRequiredArgument,
  parse,
  validate,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type GraphQLObjectType,
} from 'graphql';
import { committedSchema, runAsProgram } from './generated-file.ts';

/**
 * A client that asks for everything must be able to: fields of one name have to agree in every member of a union, since GraphQL
 * refuses to merge `balance: Balance!` of one member with `balance: Balance` of another. Run alone, this validates schema.graphql.
 */

/** How deep below a result: deep enough for result → order → refunds, timeline, steps → their fields. */
const MAX_DEPTH = 5;

/** For every mutation, the document that selects every field of every member, without aliases, by the mutation's name. */
export function fullSelections(schema: GraphQLSchema, maxDepth = MAX_DEPTH): ReadonlyMap<string, string> {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  return new Map(fields.map((field) => [field.name, documentFor(schema, field, maxDepth)]));
}

/** What GraphQL has to say against the full selections, one line each. */
export function fullSelectionProblems(schema: GraphQLSchema, maxDepth = MAX_DEPTH): readonly string[] {
  return [...fullSelections(schema, maxDepth)].flatMap(([mutation, document]) =>
    validate(schema, parse(document)).map((error) => `${mutation}: ${error.message}`),
  );
}

function documentFor(schema: GraphQLSchema, field: GraphQLField<unknown, unknown>, maxDepth: number): string {
  const variables = new Map<string, string>();
  const room = { depth: maxDepth, inOrderList: false };
  const selection = selectField(schema, field, 'Mutation', room, variables, () => true);
  const declarations = [...variables].map(([name, type]) => `$${name}: ${type}`);
  const head = declarations.length === 0 ? '' : `(${declarations.join(', ')})`;
  return `mutation Full_${field.name}${head} { ${selection ?? ''} }`;
}

/** How much further a selection may go: how deep, and whether it stands in a list of an order, where none may follow. */
interface Room {
  readonly depth: number;
  readonly inOrderList: boolean;
}

/** Undefined for a field that can't be selected without going deeper than allowed, or that the gateway refuses there. */
function selectField(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  owner: string,
  { depth, inOrderList }: Room,
  variables: Map<string, string>,
  takes: (argument: GraphQLArgument) => boolean,
): string | undefined {
  const type = getNamedType(field.type);
  const isOrderList = owner === 'Order' && isListType(getNullableType(field.type));
  if ((isCompositeType(type) && depth === 0) || (inOrderList && isOrderList)) return undefined;
  const given = field.args.filter(takes).map((argument) => {
    const variable = `${owner}_${field.name}_${argument.name}`;
    variables.set(variable, String(argument.type));
    return `${argument.name}: $${variable}`;
  });
  const below = { depth: depth - 1, inOrderList: inOrderList || isOrderList };
  const call = given.length === 0 ? field.name : `${field.name}(${given.join(', ')})`;
  return isCompositeType(type) ? `${call} { ${selectType(schema, type, below, variables)} }` : call;
}

function selectType(
  schema: GraphQLSchema,
  type: GraphQLCompositeType,
  room: Room,
  variables: Map<string, string>,
): string {
  const fieldsOf = (object: GraphQLObjectType): string[] =>
    Object.values(object.getFields()).flatMap(
      (field) => selectField(schema, field, object.name, room, variables, isRequiredArgument) ?? [],
    );
  if (!isAbstractType(type)) return ['__typename', ...fieldsOf(type)].join(' ');
  const members = schema
    .getPossibleTypes(type)
    .map((member) => `... on ${member.name} { ${['__typename', ...fieldsOf(member)].join(' ')} }`);
  return ['__typename', ...members].join(' ');
}

await runAsProgram(import.meta, async () => {
  const schema = buildSchema(await committedSchema());
  const problems = fullSelectionProblems(schema);
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log(`${fullSelections(schema).size} mutations can be selected in full.`);
  return problems.length === 0;
});
