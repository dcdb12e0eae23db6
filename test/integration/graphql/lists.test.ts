import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  EntriesDocument,
  type EntriesQueryVariables,
  MerchantsDocument,
  OrdersDocument,
  type OrdersQueryVariables,
} from '../../support/generated/documents.ts';
import {
  ADMIN,
  ALICE,
  BOB,
  type Gateway,
  OTHER_SELLER,
  type Principal,
  SELLER,
  TILL,
  codesOf,
  dataOf,
  startGateway,
} from '../../support/gateway.ts';
import { fund, openOrder, putProduct } from './money.ts';

let gateway: Gateway;
/** Seven orders, the newest first, a second apart; all of alice's at m_1 but the third-newest, which is bob's. */
let newestFirst: readonly string[];
let firstMs: number;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
  firstMs = gateway.clock.nowMs();
  const opened: string[] = [];
  for (let index = 0; index < 7; index += 1) {
    opened.push(await openOrder(gateway, index === 4 ? BOB : ALICE, `${String(index + 1)}.00`));
    gateway.clock.advance(1_000);
  }
  newestFirst = opened.reverse();
});
afterAll(() => gateway.close());

interface Listed {
  readonly ids: readonly string[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

async function list(principal: Principal, variables: OrdersQueryVariables = {}): Promise<Listed | null> {
  const { orders } = dataOf(await gateway.run(principal, OrdersDocument, variables));
  return orders === null ? null : { ids: orders.edges.map(({ node }) => node.id), ...orders.pageInfo };
}

async function pages(principal: Principal, variables: OrdersQueryVariables): Promise<readonly string[][]> {
  const seen: string[][] = [];
  let after: string | null = null;
  for (let page = 0; page < 10; page += 1) {
    const listed: Listed | null = await list(principal, { ...variables, after });
    if (listed === null) throw new Error('no list');
    seen.push([...listed.ids]);
    if (!listed.hasNextPage) return seen;
    after = listed.endCursor;
  }
  throw new Error('no end');
}

const alices = (): readonly string[] => newestFirst.filter((_, index) => index !== 2);

describe('orders', () => {
  it("are the customer's own, newest first", async () => {
    expect((await list(ALICE))?.ids).toEqual(alices());
    expect((await list(BOB))?.ids).toEqual([newestFirst[2]]);
  });

  it("are the merchant's, to its office and its till, and nobody else's", async () => {
    expect((await list(SELLER))?.ids).toEqual(newestFirst);
    expect((await list(TILL))?.ids).toEqual(newestFirst);
    expect((await list(OTHER_SELLER))?.ids).toEqual([]);
  });

  it.each([
    ['of a customer', ALICE, alices],
    ['of a merchant', SELLER, () => newestFirst],
  ])('come in pages forwards and backwards: %s', async (_, principal, all) => {
    expect((await pages(principal, { first: 3 })).flat()).toEqual(all());
    const first = await list(principal, { first: 3 });
    expect(first).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const second = await list(principal, { first: 3, after: first?.endCursor ?? null });
    expect(second?.ids).toEqual(all().slice(3, 6));
    const back = await list(principal, { last: 2, before: second?.startCursor ?? null });
    expect(back?.ids).toEqual(all().slice(1, 3));
    expect(back).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    const oldest = await list(principal, { last: 2 });
    expect(oldest?.ids).toEqual(all().slice(-2));
    expect(oldest).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  });

  it.each([
    ['of a customer', ALICE],
    ['of a merchant', SELLER],
  ])('may be asked for by when they were opened: %s', async (_, principal) => {
    const filter = {
      createdFrom: new Date(firstMs + 1_000).toISOString(),
      createdBefore: new Date(firstMs + 3_000).toISOString(),
    };
    expect((await list(principal, { filter }))?.ids).toEqual(newestFirst.slice(4, 6));
  });

  it.each([
    ['of a customer', ALICE],
    ['of a merchant', SELLER],
  ])('end where what was asked for ends: %s', async (_, principal) => {
    const future = { createdFrom: new Date(firstMs + 86_400_000).toISOString() };
    expect(await list(principal, { first: 2, filter: future })).toMatchObject({
      ids: [],
      hasNextPage: false,
    });
    const since = { createdFrom: new Date(firstMs + 5_000).toISOString() };
    expect(await list(principal, { first: 2, filter: since })).toMatchObject({
      ids: newestFirst.slice(0, 2),
      hasNextPage: false,
    });
    const until = { createdBefore: new Date(firstMs + 2_000).toISOString() };
    const oldest = newestFirst.slice(5);
    expect(await list(principal, { last: 1, filter: until })).toMatchObject({
      ids: oldest.slice(1),
      hasPreviousPage: true,
    });
    expect(await list(principal, { last: 2, filter: until })).toMatchObject({
      ids: oldest,
      hasPreviousPage: false,
    });
  });

  it.each([
    ['of a customer', ALICE],
    ['of a merchant', SELLER],
  ])('are none where nothing lies between the two instants: %s', async (_, principal) => {
    const at = (ms: number): string => new Date(ms).toISOString();
    const ranges = [
      { createdFrom: at(firstMs + 2_000), createdBefore: at(firstMs + 2_000) },
      { createdFrom: at(firstMs + 3_000), createdBefore: at(firstMs + 1_000) },
      { createdBefore: '1960-01-01T00:00:00.000Z' },
    ];
    for (const filter of ranges) {
      expect(await list(principal, { first: 2, filter })).toMatchObject({ ids: [], hasNextPage: false });
      expect(await list(principal, { last: 2, filter })).toMatchObject({ ids: [], hasPreviousPage: false });
    }
  });

  it.each([
    ['of a customer', ALICE],
    ['of a merchant', SELLER],
  ])('may be asked for by instants that leave the cursor outside: %s', async (_, principal) => {
    const third = await list(principal, { first: 3 });
    const cursor = third?.endCursor ?? null;
    const newer = { createdFrom: new Date(firstMs + 5_000).toISOString() };
    expect((await list(principal, { first: 9, after: cursor, filter: newer }))?.ids).toEqual([]);
    expect((await list(principal, { last: 9, before: cursor, filter: newer }))?.ids).toEqual(
      newestFirst.slice(0, 2),
    );
    const older = { createdBefore: new Date(firstMs + 2_000).toISOString() };
    expect((await list(principal, { first: 9, after: cursor, filter: older }))?.ids).toEqual(
      newestFirst.slice(5),
    );
    expect((await list(principal, { last: 9, before: cursor, filter: older }))?.ids).toEqual([]);
  });

  it.each([
    ['of a customer', ALICE],
    ['of a merchant', SELLER],
  ])('may be asked for by state: a page is filled, and none is missed: %s', async (_, principal) => {
    await gateway.run(
      ALICE,
      `mutation { cancelOrder(idempotencyKey: "cancel", input: { orderId: "${newestFirst[5] ?? ''}" }) { __typename } }`,
    );
    expect(await pages(principal, { first: 1, filter: { state: 'CANCELED' } })).toEqual([[newestFirst[5]]]);
  });

  it("are an admin's by account or by merchant, and BAD_REQUEST by neither", async () => {
    expect((await list(ADMIN, { filter: { accountId: 'bob' } }))?.ids).toEqual([newestFirst[2]]);
    expect((await list(ADMIN, { filter: { merchantId: 'm_1', accountId: 'bob' } }))?.ids).toEqual([
      newestFirst[2],
    ]);
    expect((await list(ADMIN, { filter: { merchantId: 'm_1' } }))?.ids).toEqual(newestFirst);
    expect(codesOf(await gateway.run(ADMIN, OrdersDocument, {}))).toEqual(['BAD_REQUEST']);
  });

  it("are null where they aren't the viewer's", async () => {
    expect(await list(ALICE, { filter: { accountId: 'bob' } })).toBeNull();
    expect(await list(SELLER, { filter: { merchantId: 'm_2' } })).toBeNull();
    expect(await list(ADMIN, { filter: { accountId: 'no id#' } })).toBeNull();
  });

  it.each<[string, OrdersQueryVariables]>([
    ['none', { first: 0 }],
    ['fewer than none', { first: -1 }],
    ['more than a hundred', { last: 101 }],
    ['both directions', { first: 1, last: 1 }],
    ['a cursor that is none', { after: 'nonsense' }],
    ["another list's cursor", { after: Buffer.from('["a","b","c","d"]').toString('base64url') }],
  ])('are refused as BAD_REQUEST: %s', async (_, variables) => {
    expect(codesOf(await gateway.run(ALICE, OrdersDocument, variables))).toEqual(['BAD_REQUEST']);
  });

  it('take no other list by a cursor that was made for it', async () => {
    const own = await list(BOB, { first: 1 });
    const there = await list(ALICE, { first: 10, after: own?.endCursor ?? null });
    expect(there?.ids).toEqual(newestFirst.slice(3));
  });
});

describe("a wallet's entries", () => {
  async function entries(variables: EntriesQueryVariables): Promise<readonly string[] | undefined> {
    const { viewer } = dataOf(await gateway.run(ALICE, EntriesDocument, variables));
    return viewer.wallet?.entries?.edges.map(({ node }) => node.changes[0]?.amount ?? '');
  }

  it('are newest first, come in pages, and can be asked for by asset', async () => {
    for (const amount of ['1.00', '2.00', '3.00']) await fund(gateway, ALICE, amount);
    expect(await entries({})).toEqual(['3.00', '2.00', '1.00']);
    expect(await entries({ first: 2 })).toEqual(['3.00', '2.00']);
    expect(await entries({ last: 2 })).toEqual(['2.00', '1.00']);
    expect(await entries({ asset: 'ECOPAY' })).toEqual(['3.00', '2.00', '1.00']);
    expect(await entries({ asset: 'POINT' })).toEqual([]);
    expect(codesOf(await gateway.run(ALICE, EntriesDocument, { asset: 'NOPE' }))).toEqual(['BAD_REQUEST']);
  });
});

describe("a merchant's products", () => {
  it('are in the order of their SKUs, and come in pages', async () => {
    for (const sku of ['tea', 'coffee', 'toast']) await putProduct(gateway, sku, '4.80');
    const skus = async (variables: OrdersQueryVariables): Promise<readonly string[] | undefined> => {
      const { merchants } = dataOf(await gateway.run(ALICE, MerchantsDocument, variables));
      return merchants[0]?.products.edges.map(({ node }) => node.sku);
    };
    expect(await skus({})).toEqual(['coffee', 'tea', 'toast']);
    expect(await skus({ first: 2 })).toEqual(['coffee', 'tea']);
    expect(await skus({ last: 1 })).toEqual(['toast']);
  });
});
