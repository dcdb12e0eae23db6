import { GraphQLNonNull, type GraphQLSchema } from 'graphql';
import './balance.ts';
import './entry.ts';
import './failures.ts';
import './merchant.ts';
import './order-payment.ts';
import './order-refunds.ts';
import './order-transition.ts';
import './order.ts';
import './product.ts';
import './proposal.ts';
import './scalars.ts';
import './step.ts';
import './viewer.ts';
import './wallet.ts';
import './webhook-event.ts';
import '../resolvers/root-fields.ts';
import { builder } from './builder.ts';

builder.queryType({ description: 'What can be read. What is not yours is null.' });
builder.mutationType({
  description:
    'What can be done. A document takes one mutation with an `idempotencyKey`; none runs over a socket.',
});
builder.subscriptionType({
  description:
    'What can be watched, over graphql-ws or Server-Sent Events. Each sends until its token expires.',
});

export interface SchemaOptions {
  /** `required` makes every idempotency key non-null; `optional` is for rolling out to old clients (docs/DESIGN.md §5.9). */
  readonly idempotencyKeyPhase: 'required' | 'optional';
}

export function createSchema({ idempotencyKeyPhase }: SchemaOptions): GraphQLSchema {
  const schema = builder.toSchema();
  if (idempotencyKeyPhase === 'required') requireKeys(schema);
  return schema;
}

/** Resolvers take a key that may be absent; whether clients may leave it out is a matter of the phase alone. */
function requireKeys(schema: GraphQLSchema): void {
  for (const { args } of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    for (const argument of args) {
      if (argument.name === IDEMPOTENCY_KEY && !(argument.type instanceof GraphQLNonNull))
        argument.type = new GraphQLNonNull(argument.type);
    }
  }
}

const IDEMPOTENCY_KEY = 'idempotencyKey';

/** What schema.graphql prints. */
export const schema = createSchema({ idempotencyKeyPhase: 'required' });
