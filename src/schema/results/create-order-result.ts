import type { Answered } from '../../ledger/outcomes.ts';
import { builder } from '../builder.ts';
import { IdempotencyKeyReused, InvalidInput, NotFound, Throttled, TransactionConflict } from '../failures.ts';
import { OrderType } from '../refs.ts';
import { outcomeOrder } from './outcome-fields.ts';

const CreateOrderSuccess = builder.objectRef<Answered<'CreateOrderSuccess'>>('CreateOrderSuccess').implement({
  description:
    '`replayed`: this is the stored outcome of an earlier request with the same key. Entities are read live.',
  fields: (t) => ({
    order: t.field({ type: OrderType, resolve: (outcome, _args, context) => outcomeOrder(outcome, context) }),
    replayed: t.exposeBoolean('replayed'),
  }),
});

export const CreateOrderResult = builder.unionType('CreateOrderResult', {
  types: [CreateOrderSuccess, IdempotencyKeyReused, TransactionConflict, Throttled, InvalidInput, NotFound],
  resolveType: ({ kind }) => kind,
});
