import type { FieldRef } from '@pothos/core';
import { type BuilderTypes, builder } from './builder.ts';
import type { RequestContext } from './context.ts';

const ID_WORDS = 'For `node(id:)`; opaque, and the same for good.';

/** A node found by its id says itself what it is. */
export interface NodeShape {
  readonly __typename: string;
}

export const Node = builder.interfaceRef<NodeShape | object>('Node').implement({
  description: 'Whatever `node(id:)` finds.',
  resolveType: (node) => ('__typename' in node ? node.__typename : undefined),
  fields: (t) => ({
    id: t.id({
      description: ID_WORDS,
      resolve: () => {
        throw new TypeError('every node type makes its own id');
      },
    }),
  }),
});

/** The id of a node type, by which `node(id:)` finds the node again. */
export function nodeId<Shape>(
  t: PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, Shape>,
  idOf: (node: Shape, context: RequestContext) => string,
): FieldRef<BuilderTypes, string> {
  return t.id({ description: ID_WORDS, resolve: (node, _args, context) => idOf(node, context) });
}
