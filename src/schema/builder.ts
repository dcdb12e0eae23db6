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

/** What every type and root field registers with. Fields are non-null unless they say otherwise. */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ScopeAuthPlugin, RelayPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  scopeAuth: {
    authScopes: ({ viewer }) => ({ permission: (permission) => mayPerform(viewer.role, permission) }),
    unauthorizedError: () => forbidden(),
    authorizeOnSubscribe: true,
  },
  // Plain lists are parts of an item that is read anyway; what is read row by row says its own cost.
  complexity: { defaultListMultiplier: 3 },
  relay: {
    cursorType: 'String',
    clientMutationId: 'omit',
    nodesQueryOptions: false,
    // A connection's own cost counts its rows; without this they would be multiplied twice.
    edgesFieldOptions: { nullable: false, complexity: { field: 1, multiplier: 1 } },
    nodeFieldOptions: { nullable: false },
  },
});
