import {
  type ASTNode,
  type DocumentNode,
  type GraphQLError,
  Kind,
  type Source,
  type ValueNode,
  type VariableDefinitionNode,
  parse,
  visit,
} from 'graphql';

/**
 * The argument that an error about the request is about, by its place below its field: `['input', 'amount']`, as
 * `InvalidInput` names it from the input on. Undefined where it is about none. It is found in the document once more, since
 * GraphQL's errors name a node without its parents. Names and positions alone: no value is repeated.
 */
export function argumentPathOf({ nodes }: Pick<GraphQLError, 'nodes'>): readonly string[] | undefined {
  const node = nodes?.[0];
  if (node?.loc === undefined) return undefined;
  if (node.kind === Kind.VARIABLE_DEFINITION) return argumentOfVariable(node, []);
  const { start, end, source } = node.loc;
  return pathTo(
    documentOf(source),
    ({ kind, loc }) => kind === node.kind && loc?.start === start && loc.end === end,
  );
}

/** The argument that a variable is given to, and the path within its value. */
export function argumentOfVariable(
  { variable: { name }, loc }: VariableDefinitionNode,
  within: readonly string[],
): readonly string[] | undefined {
  if (loc === undefined) return undefined;
  const path = pathTo(
    documentOf(loc.source),
    (one) => one.kind === Kind.VARIABLE && one.name.value === name.value,
  );
  return path && [...path, ...within];
}

const documents = new WeakMap<Source, DocumentNode>();

/** The document of a source that was parsed before: a document may have many errors, and is read once for all of them. */
function documentOf(source: Source): DocumentNode {
  const known = documents.get(source);
  if (known !== undefined) return known;
  const document = parse(source);
  documents.set(source, document);
  return document;
}

/** The names and indexes from an argument to the first node that is it. */
function pathTo(document: DocumentNode, isIt: (node: ASTNode) => boolean): readonly string[] | undefined {
  let found: readonly string[] | undefined;
  visit(document, {
    Argument: (argument) => {
      const inner = isIt(argument) ? [] : pathWithin(argument.value, isIt);
      if (inner !== undefined) found ??= [argument.name.value, ...inner];
      return false;
    },
  });
  return found;
}

function pathWithin(value: ValueNode, isIt: (node: ASTNode) => boolean): readonly string[] | undefined {
  if (isIt(value)) return [];
  const parts: readonly (readonly [string, ASTNode, ValueNode])[] =
    value.kind === Kind.OBJECT
      ? value.fields.map((field) => [field.name.value, field, field.value])
      : value.kind === Kind.LIST
        ? value.values.map((item, index) => [String(index), item, item])
        : [];
  for (const [name, node, inner] of parts) {
    const path = isIt(node) ? [] : pathWithin(inner, isIt);
    if (path !== undefined) return [name, ...path];
  }
  return undefined;
}
