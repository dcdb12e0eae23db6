import type { Answered } from '../../ledger/outcomes.ts';
import { builder } from '../builder.ts';
import { IdempotencyKeyReused, InvalidInput, NotFound, Throttled, TransactionConflict } from '../failures.ts';
import { OrderType } from '../refs.ts';
import { ORDER_NOW, REPLAYED, outcomeOrder } from './outcome-fields.ts';

const CreateOrderSuccess = builder.objectRef<Answered<'CreateOrderSuccess'>>('CreateOrderSuccess').implement({
  description:
    'It is done, now or by an earlier request with the same key. What it names is shown as it is now.',
  fields: (t) => ({
    order: t.field({ type: OrderType, description: ORDER_NOW, resolve: outcomeOrder }),
    replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
  }),
});

export const CreateOrderResult = builder.unionType('CreateOrderResult', {
  description:
    'What came of `createOrder`. More members may come: one that a client does not know is an unknown outcome.',
  types: [CreateOrderSuccess, IdempotencyKeyReused, TransactionConflict, Throttled, InvalidInput, NotFound],
  resolveType: ({ kind }) => kind,
});
