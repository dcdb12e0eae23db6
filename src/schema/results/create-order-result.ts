import type { Answered } from '../../ledger/outcomes.ts';
import { builder } from '../builder.ts';
import { IdempotencyKeyReused, InvalidInput, NotFound, Throttled, TransactionConflict } from '../failures.ts';
import { OrderType } from '../refs.ts';
import { REPLAYABLE, outcomeOrder } from './outcome-fields.ts';

const CreateOrderSuccess = builder.objectRef<Answered<'CreateOrderSuccess'>>('CreateOrderSuccess').implement({
  description: REPLAYABLE,
  fields: (t) => ({
    order: t.field({ type: OrderType, resolve: outcomeOrder }),
    replayed: t.exposeBoolean('replayed'),
  }),
});

export const CreateOrderResult = builder.unionType('CreateOrderResult', {
  types: [CreateOrderSuccess, IdempotencyKeyReused, TransactionConflict, Throttled, InvalidInput, NotFound],
  resolveType: ({ kind }) => kind,
});
