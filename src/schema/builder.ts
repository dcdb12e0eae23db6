import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import { type Permission, mayPerform } from '../auth/permissions.ts';
import type { RequestContext } from './context.ts';
import { forbidden } from './errors.ts';

interface SchemaTypes {
  Context: RequestContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    /** Plain notation; whoever makes one gives it its full scale. */
    Decimal: { Input: string; Output: string };
    /** Milliseconds since the epoch. */
    DateTime: { Input: number; Output: number };
    IdempotencyKey: { Input: string; Output: string };
  };
  AuthScopes: {
    /** The role may ever do this; if not, FORBIDDEN. What single objects are the viewer's is the operations' to say. */
    permission: Permission;
  };
}

/** What the arguments of a list take. */
export const PAGE_WORDS = {
  first: 'How many rows from the beginning, or from `after`: 1 to 100, 20 unless given.',
  after: 'A cursor of this list: the page begins behind it.',
  last: 'How many rows up to the end, or up to `before`: 1 to 100. Not together with `first` or `after`.',
  before: 'A cursor of this list: the page ends in front of it.',
} as const;

/** What every type and root field registers with. Fields are non-null unless they say otherwise. */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ScopeAuthPlugin, RelayPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  scopeAuth: {
    authScopes: ({ viewer }) => ({ permission: (permission) => mayPerform(viewer.role, permission) }),
    unauthorizedError: () => forbidden(),
    authorizeOnSubscribe: true,
  },
  // What is more than one field, such as a list of objects or what is read, says its own cost (costs.ts).
  complexity: { defaultListMultiplier: 10 },
  relay: {
    cursorType: 'String',
    clientMutationId: 'omit',
    nodesQueryOptions: false,
    edgesFieldOptions: {
      nullable: false,
      description: 'Its rows, in the order of the list.',
      // A connection's own cost counts its rows; without this they would be multiplied twice.
      complexity: { field: 1, multiplier: 1 },
    },
    nodeFieldOptions: { nullable: false, description: 'What stands there.' },
    cursorFieldOptions: { description: 'For `after` and `before`; opaque.' },
    firstArgOptions: { description: PAGE_WORDS.first },
    afterArgOptions: { description: PAGE_WORDS.after },
    lastArgOptions: { description: PAGE_WORDS.last },
    beforeArgOptions: { description: PAGE_WORDS.before },
    pageInfoTypeOptions: { description: 'Where a page stands in its list.' },
    pageInfoFieldOptions: { description: 'Where it stands in the list.' },
    hasNextPageFieldOptions: { description: 'Whether there is more after it.' },
    hasPreviousPageFieldOptions: { description: 'Whether there is more before it.' },
    startCursorFieldOptions: { description: 'For `before`. Null: nothing was read.' },
    endCursorFieldOptions: { description: 'For `after`. Null: nothing was read.' },
  },
});

/** The builder's own types, for helpers that take or give its references. */
export type BuilderTypes = (typeof builder)['$inferSchemaTypes'];
