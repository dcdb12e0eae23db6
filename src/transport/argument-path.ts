import {
  type ASTNode,
  type DocumentNode,
  type GraphQLError,
  Kind,
  type ValueNode,
  parse,
  visit,
} from 'graphql';

/**
 * The argument that an error about the request is about, by its place below its field: `['input', 'amount']`, as
 * `InvalidInput` names it from the input on. Undefined where it is about none. It is found in the document once more, since
 * GraphQL's errors name a node without its parents. Names and positions alone: no value is repeated.
 * @param message without the values that GraphQL quotes in it
 */
export function argumentPathOf(
  { nodes }: Pick<GraphQLError, 'nodes'>,
  message: string,
): readonly string[] | undefined {
  const node = nodes?.[0];
  if (node?.loc === undefined) return undefined;
  const { start, end, source } = node.loc;
  const document = parse(source);
  if (node.kind !== Kind.VARIABLE_DEFINITION)
    return pathTo(document, ({ kind, loc }) => kind === node.kind && loc?.start === start && loc.end === end);
  const name = node.variable.name.value;
  const path = pathTo(document, (one) => one.kind === Kind.VARIABLE && one.name.value === name);
  return path && [...path, ...pathInVariable(message)];
}

/** What is wrong within the value of a variable: `Variable "$i" is invalid at "i.items[2].sku": …`. */
function pathInVariable(message: string): readonly string[] {
  const place = /^Variable "\$\w+" is invalid at "\w+([\w.[\]]*)": /.exec(message)?.[1];
  return place?.match(/\w+/g) ?? [];
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
