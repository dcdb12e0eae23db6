import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import { orderKey } from '../../../src/ledger/kernel/keys.ts';
import { decodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { orderAttributes, readOrder } from '../../../src/ledger/items/order-item.ts';
import { ADMIN, ALICE, type Gateway, SELLER, startGateway } from '../../support/gateway.ts';
import { type BareSocket, bareSocket, fund, openOrder } from './support.ts';

/** Errors on a socket are those of HTTP: they repeat nothing of what was sent (I6), and tell nothing of our insides. */

const CANARY = 'alice@secret.example';

let gateway: Gateway;
let socket: BareSocket;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
  await fund(gateway, ADMIN, 'alice');
  socket = await bareSocket(gateway.graphqlUrl);
  socket.send({
    type: 'connection_init',
    payload: { authorization: `Bearer ${await gateway.token(ALICE)}` },
  });
  await socket.until(({ type }) => type === 'connection_ack');
});
afterAll(async () => {
  socket.socket.close();
  await gateway.close();
});

let sent = 0;
async function answerTo(payload: object): Promise<string> {
  const id = String((sent += 1));
  socket.send({ type: 'subscribe', id, payload });
  return JSON.stringify(await socket.until((message) => message.id === id && message.type !== 'complete'));
}

const WATCH =
  'subscription ($o: ID!, $v: Int! = 0) { orderTransitions(orderId: $o, afterVersion: $v) { version } }';

it.each([
  ['a variable of a subscription', { query: WATCH, variables: { o: 'x', v: CANARY } }],
  ['a variable of another kind', { query: WATCH, variables: { o: { a: CANARY } } }],
  [
    'a variable of a query',
    { query: 'query ($n: Int!) { orders(first: $n) { edges { cursor } } }', variables: { n: CANARY } },
  ],
  ['a value in the document', { query: `{ orders(first: "${CANARY}") { edges { cursor } } }` }],
  [
    'the name of an operation',
    { query: 'query A { __typename } query B { __typename }', operationName: CANARY },
  ],
])('does not repeat %s', async (_name, payload) => {
  const answer = await answerTo(payload);
  expect(answer).toContain('"BAD_REQUEST"');
  expect(answer).not.toContain(CANARY);
  expect(answer).not.toContain('"http"');
});

it.each([
  ['a subscription', WATCH],
  ['a query', 'query ($o: ID!) { order(id: $o) { state } }'],
])('says INTERNAL and an id where something of ours is broken: %s', async (_name, query) => {
  const orderId = await openOrder(gateway, SELLER, 'alice');
  const [tenant = '', accountId = '', id = ''] = decodeNodeId(orderId)?.parts ?? [];
  const { ledger } = gateway.server.app;
  const [item] = await ledger.store.get([orderKey({ tenant, accountId, orderId: id })]);
  const broken = {
    ...toAttributes(orderAttributes(readOrder(item ?? {}), ledger.settings)),
    state: { S: '?' },
  };
  await ledger.transactor.commit({
    token: ledger.ids.token(),
    items: [{ role: 'order', item: { Put: { Item: broken } } }],
    orders: [],
    entries: [],
  });
  const answer = await answerTo({ query, variables: { o: orderId } });
  expect(answer).toContain('"Internal error."');
  expect(answer).toContain('"code":"INTERNAL"');
  expect(answer).toMatch(/"requestId":"[0-9a-f-]{36}"/);
  expect(answer).not.toContain('malformed');
});
