import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  ALICE,
  BOB,
  type Gateway,
  type Principal,
  SELLER,
  TILL,
  dataOf,
  startGateway,
} from '../../support/gateway.ts';

/** An order's reference and metadata, as clients write and read them. */

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
});
afterAll(() => gateway.close());

const CREATE = `mutation($key: IdempotencyKey!, $input: CreateOrderInput!) {
  createOrder(idempotencyKey: $key, input: $input) {
    __typename
    ... on CreateOrderSuccess { order { id reference metadata { key value } } }
    ... on InvalidInput { issues { path code } } } }`;

interface Created {
  readonly createOrder: { readonly __typename: string; readonly order: { readonly id: string } };
}

async function create(principal: Principal, fields: object): Promise<Created['createOrder']> {
  const input = { merchantId: 'm_1', accountId: 'alice', amount: '5.00', description: 'd', ...fields };
  const variables = { key: gateway.key(), input };
  return dataOf(await gateway.run<Created, object>(principal, CREATE, variables)).createOrder;
}

describe('an order', () => {
  it.each([
    ['merchant', SELLER],
    ['terminal', TILL],
  ])('opened by a %s has its reference and metadata', async (_role, principal) => {
    const metadata = [
      { key: 'cart', value: 'c-77' },
      { key: 'a', value: 'b' },
    ];
    const { order } = await create(principal, { reference: 'INV-7', metadata });
    expect(order).toEqual({ id: order.id, reference: 'INV-7', metadata });
    const read = 'query($id: ID!) { order(id: $id) { reference metadata { key value } } }';
    for (const viewer of [ALICE, SELLER])
      expect(dataOf(await gateway.run<object, object>(viewer, read, { id: order.id }))).toEqual({
        order: { reference: 'INV-7', metadata },
      });
    expect(dataOf(await gateway.run<object, object>(BOB, read, { id: order.id }))).toEqual({ order: null });
  });

  it('without them has null and nothing', async () => {
    const { order } = await create(SELLER, {});
    expect(order).toEqual({ id: order.id, reference: null, metadata: [] });
  });

  it('is listed with its own metadata', async () => {
    await create(SELLER, { accountId: 'bob', reference: 'first', metadata: [{ key: 'n', value: '1' }] });
    await create(SELLER, { accountId: 'bob', reference: 'second' });
    await create(SELLER, { accountId: 'bob', reference: 'third', metadata: [{ key: 'n', value: '3' }] });
    const list = '{ orders { edges { node { reference metadata { value } } } } }';
    expect(dataOf(await gateway.run<object, never>(BOB, list))).toEqual({
      orders: {
        edges: [
          { node: { reference: 'third', metadata: [{ value: '3' }] } },
          { node: { reference: 'second', metadata: [] } },
          { node: { reference: 'first', metadata: [{ value: '1' }] } },
        ],
      },
    });
  });

  it('says by its path what is wrong with them', async () => {
    const metadata = [{ key: 'a b', value: 'c' }];
    expect(await create(SELLER, { reference: 'x'.repeat(65), metadata })).toEqual({
      __typename: 'InvalidInput',
      issues: [
        { path: ['reference'], code: 'too_large' },
        { path: ['metadata', '0', 'key'], code: 'bad_format' },
      ],
    });
  });
});
