import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import {
  ChargeDocument,
  EntriesDocument,
  MerchantsDocument,
  NodeDocument,
  RefundDocument,
  ViewerDocument,
} from '../../support/generated/documents.ts';
import {
  ADMIN,
  ALICE,
  BOB,
  FOREIGN_ADMIN,
  FOREIGN_ALICE,
  type Gateway,
  type Principal,
  SELLER,
  dataOf,
  startGateway,
} from '../../support/gateway.ts';
import { fund, openOrder, putProduct } from './money.ts';

let gateway: Gateway;
const ids: Record<string, string> = {};
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
  await fund(gateway, ALICE, '50.00');
  const product = await putProduct(gateway, 'coffee', '4.80');
  const order = await openOrder(gateway, ALICE, '20.00');
  const charge = await gateway.run(ALICE, ChargeDocument, {
    key: 'pay',
    input: { orderId: order, asset: 'ECOPAY' },
  });
  expect(dataOf(charge).charge.__typename).toBe('ChargeSuccess');
  const { refund } = dataOf(
    await gateway.run(SELLER, RefundDocument, {
      key: 'give-back',
      input: { orderId: order, amount: '5.00' },
    }),
  );
  if (refund.__typename !== 'RefundSuccess') throw new Error(refund.__typename);
  const { viewer } = dataOf(await gateway.run(ALICE, ViewerDocument));
  const entries = dataOf(await gateway.run(ALICE, EntriesDocument, {})).viewer.wallet?.entries?.edges;
  const { merchants } = dataOf(await gateway.run(ALICE, MerchantsDocument, {}));
  Object.assign(ids, {
    Order: order,
    Product: product,
    Refund: refund.refund.id,
    Wallet: viewer.wallet?.id,
    Balance: viewer.wallet?.balances[0]?.id,
    Entry: entries?.[0]?.node.id,
    Merchant: merchants[0]?.id,
  });
});
afterAll(() => gateway.close());

async function read(principal: Principal, id: string): Promise<unknown> {
  const answer = await gateway.run(principal, NodeDocument, { id });
  expect(answer.errors).toEqual([]);
  return answer.data?.node;
}

describe('node(id:)', () => {
  const kinds = ['Order', 'Product', 'Refund', 'Wallet', 'Balance', 'Entry', 'Merchant'];

  it.each(kinds)('gives the thing itself to whoever may see it: %s', async (kind) => {
    const id = ids[kind] ?? '';
    expect(await read(ALICE, id)).toEqual({ __typename: kind, id });
    expect(await read(ADMIN, id)).toEqual({ __typename: kind, id });
  });

  it.each(kinds)('is null to another tenant, whatever the names: %s', async (kind) => {
    const id = ids[kind] ?? '';
    expect(await read(FOREIGN_ALICE, id)).toBeNull();
    expect(await read(FOREIGN_ADMIN, id)).toBeNull();
  });

  it.each(['Order', 'Refund', 'Wallet', 'Balance', 'Entry'])(
    'is null to another customer: %s',
    async (kind) => {
      expect(await read(BOB, ids[kind] ?? '')).toBeNull();
    },
  );

  it.each(['Wallet', 'Balance', 'Entry'])('is null to a merchant: %s', async (kind) => {
    expect(await read(SELLER, ids[kind] ?? '')).toBeNull();
  });

  it.each([
    ['empty', ''],
    ['a word', 'nonsense'],
    ['another alphabet', Buffer.from('Wallet#t_1#alice').toString('base64')],
    ['padded', `${encodeNodeId('Wallet', 't_1', 'alice')}==`],
    ['of no type', Buffer.from('Secret#t_1#alice').toString('base64url')],
    ['of an inherited name', Buffer.from('constructor#t_1').toString('base64url')],
    ['with a part too many', encodeNodeId('Wallet', 't_1', 'alice', 'more')],
    ['with a part too few', encodeNodeId('Order', 't_1', 'alice')],
    ['of no order', encodeNodeId('Order', 't_1', 'alice', 'not-a-ulid')],
    ['of an order that is not there', encodeNodeId('Order', 't_1', 'alice', '01ARZ3NDEKTSV4RRFFQ69G5FAV')],
    ['with a number sign', encodeNodeId('Wallet', 't_1#demo', 'alice')],
    ['very long', 'A'.repeat(5_000)],
    ['no text', '\\u0000'],
  ])('is null for an id that is malformed or names nothing: %s', async (_, id) => {
    expect(await read(ALICE, id)).toBeNull();
  });
});
