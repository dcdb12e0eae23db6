import type { FieldMap, OutputShape, ParentShape } from '@pothos/core';
import type { Entry } from '../ledger/model/entries/entry.ts';
import type { BalanceRef, EntryRef, OrderRef, ProposalRef } from '../ledger/kernel/keys.ts';
import type { Balance } from '../ledger/usecases/queries/read-wallets.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import type { Answered, StoredKind } from '../ledger/model/outcomes.ts';
import type { Proposal } from '../ledger/model/proposal.ts';
import { type BuilderTypes, builder } from './builder.ts';
import type { RequestContext } from './context.ts';
import { present } from './present.ts';
import { BalanceType, EntryType, OrderType, ProposalType } from './refs.ts';

/** The type of an outcome; its name in the schema is the `kind` of the outcome. */
type OutcomeRef = PothosSchemaTypes.ObjectRef<BuilderTypes, { readonly kind: string }>;

/** The union of all that a mutation may answer. An operation that answers anything else doesn't compile against it. */
export function resultUnion<Success extends OutcomeRef, Failure extends OutcomeRef>(
  mutation: string,
  success: Success,
  failures: readonly Failure[],
): PothosSchemaTypes.UnionRef<
  BuilderTypes,
  OutputShape<BuilderTypes, Success | Failure>,
  ParentShape<BuilderTypes, Success | Failure>
> {
  return builder.unionType(`${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Result`, {
    description: `What came of \`${mutation}\`. More members may come: one that a client does not know is an unknown outcome.`,
    types: [success, ...failures],
    resolveType: ({ kind }) => kind,
  });
}

type Successes = {
  readonly [Kind in Extract<StoredKind, `${string}Success` | 'PendingApproval'>]: Answered<Kind>;
};

/** The success of a guarded mutation: what `fields` say, and whether it is the answer to an earlier request. */
export function guardedSuccess<Kind extends keyof Successes>(
  kind: Kind,
  fields: (t: PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, Successes[Kind]>) => FieldMap,
  description = 'It is done, now or by an earlier request with the same key. What it names is shown as it is now.',
): PothosSchemaTypes.ObjectRef<BuilderTypes, Successes[Kind]> {
  return builder.objectRef<Successes[Kind]>(kind).implement({
    description,
    fields: (t) => ({
      ...fields(t),
      replayed: t.boolean({
        description: 'This is the stored outcome of an earlier request with the same key.',
        resolve: ({ replayed }) => replayed,
      }),
    }),
  });
}

/*
 * An outcome holds ids. What they name is read live: after the commit, and only where it is selected (docs/DESIGN.md
 * §5.7). Its tenant is the viewer's, since the idempotency record that froze it is. These are fields of a success,
 * and their resolvers.
 */

export async function outcomeOrder(
  { accountId, orderId }: Omit<OrderRef, 'tenant'>,
  _args: unknown,
  { load, viewer }: RequestContext,
): Promise<Order> {
  return present(await load.order({ tenant: viewer.tenant, accountId, orderId }), "an outcome's order");
}

export async function outcomeProposal(
  { accountId, proposalId }: Omit<ProposalRef, 'tenant'>,
  _args: unknown,
  { load, viewer }: RequestContext,
): Promise<Proposal> {
  const ref = { tenant: viewer.tenant, accountId, proposalId };
  return present(await load.proposal(ref), "an outcome's proposal");
}

async function outcomeEntry(
  { accountId, entryId }: Omit<EntryRef, 'tenant'>,
  _args: unknown,
  { load, viewer }: RequestContext,
): Promise<Entry> {
  return present(await load.ownEntry({ tenant: viewer.tenant, accountId, entryId }), "an outcome's entry");
}

/** Null where what happened has made no entry yet. */
function outcomeEntryIfAny(
  { accountId, entryId }: { readonly accountId: string; readonly entryId?: string },
  args: unknown,
  context: RequestContext,
): Promise<Entry> | null {
  return entryId === undefined ? null : outcomeEntry({ accountId, entryId }, args, context);
}

async function outcomeBalance(
  { accountId, asset }: Omit<BalanceRef, 'tenant'>,
  _args: unknown,
  { load, viewer }: RequestContext,
): Promise<Balance> {
  return present(await load.balance({ tenant: viewer.tenant, accountId, asset }), "an outcome's balance");
}

export const ORDER_NOW = {
  type: OrderType,
  description: 'The order, as it is now.',
  resolve: outcomeOrder,
} as const;
export const ENTRY_OF_OPERATION = {
  type: EntryType,
  description: 'What it booked.',
  resolve: outcomeEntry,
} as const;
/** Each use says when there is none. */
export const ENTRY_IF_ANY = { type: EntryType, nullable: true, resolve: outcomeEntryIfAny } as const;
export const PROPOSAL_NOW = {
  type: ProposalType,
  description: 'As it is now, on a replay too.',
  resolve: outcomeProposal,
} as const;
export const BALANCE_NOW = {
  type: BalanceType,
  description: 'As it is now, on a replay too.',
  resolve: outcomeBalance,
} as const;
