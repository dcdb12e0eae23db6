import { type Page, type PageRequest, PageRequestError } from '../ledger/usecases/runtime/pages.ts';
import { type BuilderTypes, builder } from './builder.ts';
import type { PageArguments } from './costs.ts';
import { badRequest } from './errors.ts';
import { EntryType, OrderType, ProductType, ProposalType, StepType, WebhookEventType } from './refs.ts';

const A_PAGE =
  'A page of a list (Relay). A filtered page may be short, even empty: `pageInfo` says whether there is more.';
const AN_EDGE = 'A row of a page, and where it stands in the list.';

/** The connection of a type, with its edges. */
function connectionType<Shape>(name: string, type: PothosSchemaTypes.ObjectRef<BuilderTypes, Shape>) {
  return builder.connectionObject(
    { name: `${name}Connection`, description: A_PAGE, type },
    { name: `${name}Edge`, description: AN_EDGE },
  );
}

export const OrderConnection = connectionType('Order', OrderType);
export const EntryConnection = connectionType('Entry', EntryType);
export const ProductConnection = connectionType('Product', ProductType);
export const ProposalConnection = connectionType('Proposal', ProposalType);
export const StepConnection = connectionType('Step', StepType);
export const WebhookEventConnection = connectionType('WebhookEvent', WebhookEventType);

interface Connection<Row> {
  readonly edges: { readonly cursor: string; readonly node: Row }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

/** A page as a Relay connection; null where there is none. Arguments that make no page are the client's fault: BAD_REQUEST. */
export async function connectionOf<Row>(
  { first, after, last, before }: PageArguments,
  read: (request: PageRequest) => Promise<Page<Row> | undefined>,
): Promise<Connection<Row> | null> {
  try {
    const page = await read({
      first: first ?? undefined,
      after: after ?? undefined,
      last: last ?? undefined,
      before: before ?? undefined,
    });
    if (page === undefined) return null;
    const { rows, hasNextPage, hasPreviousPage, startCursor = null, endCursor = null } = page;
    return {
      edges: rows.map(({ row, cursor }) => ({ cursor, node: row })),
      pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor },
    };
  } catch (error) {
    if (error instanceof PageRequestError) throw badRequest(`Bad list arguments: ${error.message}.`);
    throw error;
  }
}
