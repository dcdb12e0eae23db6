import {
  DEFAULT_PAGE_SIZE,
  type Page,
  type PageRequest,
  PageRequestError,
} from '../ledger/operations/pages.ts';
import { builder } from './builder.ts';
import { badRequest } from './errors.ts';
import { EntryType, OrderType, ProductType, StepType, WebhookEventType } from './refs.ts';

const A_PAGE =
  'A page of a list (Relay). A filtered page may be short, even empty: `pageInfo` says whether there is more.';
const AN_EDGE = 'A row of a page, and where it stands in the list.';

export const OrderEdge = builder.edgeObject({ name: 'OrderEdge', description: AN_EDGE, type: OrderType });
export const OrderConnection = builder.connectionObject(
  { name: 'OrderConnection', description: A_PAGE, type: OrderType },
  OrderEdge,
);
export const EntryEdge = builder.edgeObject({ name: 'EntryEdge', description: AN_EDGE, type: EntryType });
export const EntryConnection = builder.connectionObject(
  { name: 'EntryConnection', description: A_PAGE, type: EntryType },
  EntryEdge,
);
export const ProductEdge = builder.edgeObject({
  name: 'ProductEdge',
  description: AN_EDGE,
  type: ProductType,
});
export const ProductConnection = builder.connectionObject(
  { name: 'ProductConnection', description: A_PAGE, type: ProductType },
  ProductEdge,
);
export const StepEdge = builder.edgeObject({ name: 'StepEdge', description: AN_EDGE, type: StepType });
export const StepConnection = builder.connectionObject(
  { name: 'StepConnection', description: A_PAGE, type: StepType },
  StepEdge,
);
export const WebhookEventEdge = builder.edgeObject({
  name: 'WebhookEventEdge',
  description: AN_EDGE,
  type: WebhookEventType,
});
export const WebhookEventConnection = builder.connectionObject(
  { name: 'WebhookEventConnection', description: A_PAGE, type: WebhookEventType },
  WebhookEventEdge,
);

/** The arguments of a list as GraphQL gives them: absent and null are the same. */
export interface PageArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

export function pageRequest({ first, after, last, before }: PageArguments): PageRequest {
  return {
    first: first ?? undefined,
    after: after ?? undefined,
    last: last ?? undefined,
    before: before ?? undefined,
  };
}

/** What a list costs before it is read: a row for each that may come. */
export function listCost({ first, last }: PageArguments): {
  readonly field: number;
  readonly multiplier: number;
} {
  return { field: 1, multiplier: Math.max(first ?? last ?? DEFAULT_PAGE_SIZE, 1) };
}

/** A page as a Relay connection. Arguments that make no page are the client's fault: BAD_REQUEST. */
export async function connectionOf<Row>(
  read: () => Promise<Page<Row> | undefined>,
): Promise<Connection<Row> | null> {
  try {
    const page = await read();
    return page === undefined ? null : toConnection(page);
  } catch (error) {
    if (error instanceof PageRequestError) throw badRequest(`Bad list arguments: ${error.message}.`);
    throw error;
  }
}

interface Connection<Row> {
  readonly edges: { readonly cursor: string; readonly node: Row }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

function toConnection<Row>(page: Page<Row>): Connection<Row> {
  const { rows, hasNextPage, hasPreviousPage, startCursor = null, endCursor = null } = page;
  return {
    edges: rows.map(({ row, cursor }) => ({ cursor, node: row })),
    pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor },
  };
}
