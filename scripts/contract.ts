import {
  astFromValue,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  print,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';

/**
 * How a schema differs from the public contract where a client would notice.
 * `missing` are schema coordinates that aren't there yet; `breaking` are sentences about what is there and is wrong.
 */
export interface ContractDifferences {
  readonly breaking: readonly string[];
  readonly missing: readonly string[];
}

type Fielded = GraphQLObjectType | GraphQLInterfaceType;
type InputValue = GraphQLArgument | GraphQLInputField;

interface Findings {
  readonly breaking: string[];
  readonly missing: string[];
}

/**
 * Compares every type, field, argument, default, enum value, union member and interface of the contract with the schema.
 * The schema may hold more, but nothing that a client must send. Nullability has to be the same both ways: graphql-js'
 * `findBreakingChanges` calls an output field tightened to non-null harmless, but a client generated from it would differ.
 */
export function compareWithContract(contract: GraphQLSchema, schema: GraphQLSchema): ContractDifferences {
  const findings: Findings = { breaking: [], missing: [] };
  for (const expected of Object.values(contract.getTypeMap())) {
    if (isIntrospectionType(expected) || isSpecifiedScalarType(expected)) continue;
    const actual = schema.getType(expected.name);
    if (actual === undefined) findings.missing.push(expected.name);
    else compareTypes(expected, actual, findings);
  }
  return findings;
}

function compareTypes(expected: GraphQLNamedType, actual: GraphQLNamedType, findings: Findings): void {
  if (
    (isObjectType(expected) && isObjectType(actual)) ||
    (isInterfaceType(expected) && isInterfaceType(actual))
  ) {
    compareFields(expected, actual, findings);
    addMissing(
      expected.name,
      ' implements ',
      names(expected.getInterfaces()),
      names(actual.getInterfaces()),
      findings,
    );
  } else if (isInputObjectType(expected) && isInputObjectType(actual)) {
    const [wanted, found] = [Object.values(expected.getFields()), Object.values(actual.getFields())];
    compareInputValues(wanted, found, (name) => `${expected.name}.${name}`, findings);
  } else if (isEnumType(expected) && isEnumType(actual)) {
    addMissing(expected.name, '.', names(expected.getValues()), names(actual.getValues()), findings);
  } else if (isUnionType(expected) && isUnionType(actual)) {
    addMissing(expected.name, ' | ', names(expected.getTypes()), names(actual.getTypes()), findings);
  } else if (expected.constructor !== actual.constructor) {
    findings.breaking.push(`${expected.name} is another kind of type.`);
  }
}

function compareFields(expected: Fielded, actual: Fielded, findings: Findings): void {
  const fields = actual.getFields();
  for (const wanted of Object.values(expected.getFields())) {
    const coordinate = `${expected.name}.${wanted.name}`;
    const found = fields[wanted.name];
    if (found === undefined) {
      findings.missing.push(coordinate);
      continue;
    }
    compareTypeText(coordinate, String(wanted.type), String(found.type), findings);
    compareInputValues(wanted.args, found.args, (name) => `${coordinate}(${name}:)`, findings);
  }
}

function compareInputValues(
  expected: readonly InputValue[],
  actual: readonly InputValue[],
  coordinateOf: (name: string) => string,
  findings: Findings,
): void {
  for (const wanted of expected) {
    const coordinate = coordinateOf(wanted.name);
    const found = actual.find(({ name }) => name === wanted.name);
    if (found === undefined) {
      findings.missing.push(coordinate);
      continue;
    }
    compareTypeText(coordinate, String(wanted.type), String(found.type), findings);
    const [before, after] = [defaultText(wanted), defaultText(found)];
    if (before !== after) findings.breaking.push(`${coordinate} defaults to ${after}, not ${before}.`);
  }
  for (const found of actual) {
    const added = !expected.some(({ name }) => name === found.name);
    if (added && isRequired(found))
      findings.breaking.push(`${coordinateOf(found.name)} is new and required.`);
  }
}

function compareTypeText(coordinate: string, expected: string, actual: string, findings: Findings): void {
  if (expected !== actual) findings.breaking.push(`${coordinate} is ${actual}, not ${expected}.`);
}

function isRequired({ type, defaultValue }: InputValue): boolean {
  return isNonNullType(type) && defaultValue === undefined;
}

function defaultText({ defaultValue, type }: InputValue): string {
  if (defaultValue === undefined) return 'nothing';
  const ast = astFromValue(defaultValue, type);
  return ast === null || ast === undefined ? 'nothing' : print(ast);
}

function names(named: readonly { readonly name: string }[]): readonly string[] {
  return named.map(({ name }) => name);
}

function addMissing(
  owner: string,
  separator: string,
  expected: readonly string[],
  actual: readonly string[],
  findings: Findings,
): void {
  for (const name of expected) {
    if (!actual.includes(name)) findings.missing.push(`${owner}${separator}${name}`);
  }
}
