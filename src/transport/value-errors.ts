import {
  GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  Kind,
  type ValidationContext,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  type VariableDefinitionNode,
  getNamedType,
  getOperationAST,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  typeFromAST,
} from 'graphql';
import { argumentOfVariable } from './argument-path.ts';
import type { Execution } from './responses.ts';

/*
 * What is wrong with the values of a request. GraphQL's own messages quote them, and a client may have put an email, a phone
 * number or a token where it doesn't belong (docs/DESIGN.md I6). So these messages are made from the types and from where the
 * value is: nothing in them is a value, or a key, of the client's.
 */

/** How many errors about values are told of one request. */
const MAX_PROBLEMS = 10;

/** The errors of the variables of the chosen operation. GraphQL itself then finds only those that were not given. */
export function variableErrors({
  schema,
  document,
  operationName,
  variableValues,
}: Execution): readonly GraphQLError[] {
  const operation = getOperationAST(document, operationName);
  // Without a name GraphQL says that one is needed; it would repeat one that is wrong.
  if (operation === null || operation === undefined)
    return typeof operationName === 'string'
      ? [new GraphQLError('The document has no operation of the name that is given.')]
      : [];
  if (isDeeper(variableValues, MAX_VARIABLE_DEPTH))
    return [new GraphQLError(`The variables are more than ${String(MAX_VARIABLE_DEPTH)} levels deep.`)];
  const errors: GraphQLError[] = [];
  for (const definition of operation.variableDefinitions ?? []) {
    const type = typeFromAST(schema, definition.type);
    const value = variableValues?.[definition.variable.name.value];
    if (value === undefined || value === null || !isInputType(type)) continue;
    for (const problem of problemsOf(value, type, [])) {
      errors.push(variableError(definition, problem));
      if (errors.length === MAX_PROBLEMS) return errors;
    }
  }
  return errors;
}

/** More than any input has. Beyond some thousands of levels what copies or prints a value fails, also one that is never used. */
const MAX_VARIABLE_DEPTH = 32;

/** Level by level, as the value may be deeper than calls can be. */
function isDeeper(value: unknown, max: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= max; depth += 1) {
    level = level.flatMap((one): readonly unknown[] =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}

interface Problem {
  /** Names of fields that the type has, and indexes. */
  readonly path: readonly (string | number)[];
  readonly what: string;
}

function variableError(definition: VariableDefinitionNode, { path, what }: Problem): GraphQLError {
  const name = definition.variable.name.value;
  const steps = path.map((step) => (typeof step === 'number' ? `[${String(step)}]` : `.${step}`));
  const place = path.length === 0 ? '' : ` at "${name}${steps.join('')}"`;
  const argument = argumentOfVariable(definition, path.map(String));
  return new GraphQLError(`Variable "$${name}" is invalid${place}: ${what}`, {
    nodes: definition,
    extensions: { argument },
  });
}

function* problemsOf(
  value: unknown,
  type: GraphQLInputType,
  path: Problem['path'],
): Generator<Problem, void, undefined> {
  if (value === null || value === undefined) {
    if (isNonNullType(type)) yield { path, what: expected(type) };
  } else if (isNonNullType(type)) {
    yield* problemsOf(value, type.ofType, path);
  } else if (isListType(type)) {
    // One value counts as a list of it.
    if (!Array.isArray(value)) yield* problemsOf(value, type.ofType, path);
    else for (const [index, item] of value.entries()) yield* problemsOf(item, type.ofType, [...path, index]);
  } else if (isInputObjectType(type)) {
    if (typeof value !== 'object' || Array.isArray(value)) yield { path, what: expected(type) };
    else yield* problemsInObject(new Map(Object.entries(value)), type, path);
  } else {
    const what = problemOfLeaf(() => type.parseValue(value), type);
    if (what !== undefined) yield { path, what };
  }
}

function* problemsInObject(
  values: ReadonlyMap<string, unknown>,
  type: GraphQLInputObjectType,
  path: Problem['path'],
): Generator<Problem, void, undefined> {
  const fields = type.getFields();
  for (const field of Object.values(fields)) {
    const value = values.get(field.name);
    if (value !== undefined || field.defaultValue === undefined)
      yield* problemsOf(value, field.type, [...path, field.name]);
  }
  if ([...values.keys()].some((key) => !Object.hasOwn(fields, key)))
    yield { path, what: `A field is not defined by type "${type.name}".` };
}

function problemOfLeaf(read: () => unknown, type: GraphQLInputType): string | undefined {
  try {
    return read() === undefined ? expected(type) : undefined;
  } catch (error) {
    return error instanceof GraphQLError && isOurs(error) ? error.message : expected(type);
  }
}

function expected(type: GraphQLInputType): string {
  return `Expected a value of type "${String(type)}".`;
}

/** Our scalars say what they take, and no value. */
function isOurs({ extensions }: GraphQLError): boolean {
  return extensions['code'] === 'BAD_REQUEST';
}

/** GraphQL's rule about the values in a document, with our messages where its own quote one. */
export const literalsOfTheirType: ValidationRule = (context) => {
  const reportError = (error: GraphQLError): void => {
    const node = error.nodes?.[0];
    const type = context.getInputType();
    const isAboutFields =
      node?.kind === Kind.OBJECT_FIELD ||
      (node?.kind === Kind.OBJECT && isInputObjectType(type && getNamedType(type)));
    const isPlain = isOurs(error) || isAboutFields || type === null || type === undefined;
    context.reportError(isPlain ? error : new GraphQLError(expected(type), { nodes: error.nodes ?? null }));
  };
  // It is the context in all but this.
  return ValuesOfCorrectTypeRule(
    Object.create(context, { reportError: { value: reportError } }) as ValidationContext,
  );
};
