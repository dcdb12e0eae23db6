import { builder } from './builder.ts';

/** A node found by its id says itself what it is. */
export interface NodeShape {
  readonly __typename: string;
}

export const Node = builder.interfaceRef<NodeShape | object>('Node').implement({
  description: 'Whatever `node(id:)` finds.',
  resolveType: (node) => ('__typename' in node ? node.__typename : undefined),
  fields: (t) => ({
    id: t.id({
      description: 'For `node(id:)`; opaque, and the same for good.',
      resolve: () => {
        throw new TypeError('every node type makes its own id');
      },
    }),
  }),
});
