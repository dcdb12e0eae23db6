import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ADMIN, ALICE, type Gateway, startGateway } from '../../support/gateway.ts';

/** I6: whatever a client puts where it doesn't belong, no error repeats it. */

const CANARY = 'alice@secret.example';
/** Numbers and names can't hold an @; a phone number is as personal. */
const NUMBER = '819012345678';
const NAME = 'alicesecret';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
});
afterAll(async () => {
  await gateway.close();
});

const UPDATE = 'mutation ($i: UpdateProfileInput!) { updateProfile(input: $i) { __typename } }';
const CHARGE =
  'mutation ($k: IdempotencyKey!, $i: ChargeInput!) { charge(idempotencyKey: $k, input: $i) { __typename } }';
const TOP_UP = 'mutation ($i: TopUpInput!) { topUp(idempotencyKey: "k", input: $i) { __typename } }';
const CREATE =
  'mutation ($i: CreateOrderInput!) { createOrder(idempotencyKey: "k", input: $i) { __typename } }';
const inProfile = (fields: string): string =>
  `mutation { updateProfile(input: { ${fields} }) { __typename } }`;

const BODIES: readonly (readonly [string, string])[] = [
  ['a field that the input has not', body(UPDATE, { i: { email: CANARY, foo: 1 } })],
  ['a number for a text', body(UPDATE, { i: { phoneNumber: Number(NUMBER) } })],
  ['a list for a text', body(UPDATE, { i: { email: [CANARY] } })],
  ['a text for an input', body(UPDATE, { i: CANARY })],
  ['a value that looks like a message', body(UPDATE, { i: { email: `${CANARY}"; Field "x`, foo: 1 } })],
  ['a field whose name is a value', body(UPDATE, { i: { [CANARY]: 1 } })],
  ['a nested value at a place', body(TOP_UP, { i: { amount: { of: CANARY }, method: 'CASH' } })],
  ['an amount that is none', body(TOP_UP, { i: { amount: CANARY, method: 'CASH' } })],
  ['an enum value that is none', body(TOP_UP, { i: { amount: '1', method: CANARY } })],
  [
    'an enum value that looks like a place',
    body(TOP_UP, { i: { amount: '1', method: `z at "a"; ${CANARY}` } }),
  ],
  [
    'a value that looks like a suggestion',
    body(CHARGE, { k: 'k', i: { orderId: [`${CANARY} Did you mean "a"?`] } }),
  ],
  ['a member of the body', JSON.stringify({ query: '{ __typename }', [CANARY]: 1 })],
  ['an item of a list', body(CREATE, { i: { merchantId: 'm_1', items: [CANARY] } })],
  ['a key that is none', body(CHARGE, { k: `${CANARY} `, i: { orderId: 'x' } })],
  ['a number in the document for a text', body(inProfile(`phoneNumber: ${NUMBER}`))],
  ['an enum in the document for a text', body(inProfile(`email: ${NAME}`))],
  ['an object in the document for a text', body(inProfile(`email: { a: "${CANARY}" }`))],
  [
    'a text in the document for an amount',
    body(
      `mutation { topUp(idempotencyKey: "k", input: { amount: "${CANARY}", method: CASH }) { __typename } }`,
    ),
  ],
  [
    'a text in the document for an enum',
    body(
      `mutation { topUp(idempotencyKey: "k", input: { amount: "1", method: "${CANARY}" }) { __typename } }`,
    ),
  ],
  [
    'an enum value in the document that is none',
    body(`mutation { topUp(idempotencyKey: "k", input: { amount: "1", method: ${NAME} }) { __typename } }`),
  ],
  ['a text where a name must be', body(`mutation { "${CANARY}" }`)],
  ['a block text where a name must be', body(`mutation { """${CANARY}""" }`)],
  ['an unquoted email', body(inProfile(`email: ${CANARY}`))],
  ['a number where a name must be', body(`mutation { ${NUMBER} }`)],
  ['a bad escape', body(`mutation { updateProfile(input: { email: "\\u{${NUMBER}}" }) { __typename } }`)],
  ['a body that is no JSON', `{"query":"${CANARY}`],
  ['a body that is no object', JSON.stringify(CANARY)],
  ['a body that is a list', JSON.stringify([{ query: CANARY }])],
  ['variables that are no object', JSON.stringify({ query: '{ __typename }', variables: CANARY })],
  ['an operation that there is not', JSON.stringify({ query: '{ __typename }', operationName: CANARY })],
];

function body(query: string, variables: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ query, variables });
}

describe('an error about the request', () => {
  it.each(BODIES)('does not repeat %s', async (_name, sent) => {
    for (const principal of [ALICE, ADMIN]) {
      const response = await gateway.post(principal, sent);
      const text = await response.text();
      expect(text).toContain('"errors"');
      expect(text).toContain('"BAD_REQUEST"');
      for (const secret of [CANARY, 'secret', NUMBER]) expect(text).not.toContain(secret);
      expect(text).not.toContain('originalError');
    }
  });

  it('names the argument that is wrong, by its path alone', async () => {
    const create = 'createOrder(idempotencyKey: "k", input: ';
    const input = '{ merchantId: "m_1", items: [{ sku: "a", quantity: 1 }, { sku: "b", quantity: "two" }] }';
    const items = [
      { sku: 'a', quantity: 1 },
      { sku: 'b', quantity: CANARY },
    ];
    for (const sent of [
      body(`mutation { ${create} ${input}) { __typename } }`),
      body(`mutation ($i: CreateOrderInput!) { ${create} $i) { __typename } }`, {
        i: { merchantId: 'm_1', items },
      }),
      body(
        `query Q($n: Int!) { __typename } mutation M($n: Int!) { ${create} { merchantId: "m_1", items: [{ sku: "a", quantity: 1 }, { sku: "b", quantity: $n }] }) { __typename } }`,
        { n: CANARY },
      ).replace('{', '{"operationName":"M",'),
    ]) {
      const answer = (await (await gateway.post(ALICE, sent)).json()) as {
        errors: { extensions: object }[];
      };
      expect(answer.errors.map(({ extensions }) => extensions)).toEqual([
        { code: 'BAD_REQUEST', argument: ['input', 'items', '1', 'quantity'] },
      ]);
    }
  });

  it('says what is wrong, and where', async () => {
    const messages = async (sent: string): Promise<readonly string[]> => {
      // GraphQL over HTTP answers with this and nothing else.
      const answer = (await (await gateway.post(ALICE, sent)).json()) as { errors: { message: string }[] };
      return answer.errors.map(({ message }) => message);
    };
    expect(await messages(body(UPDATE, { i: { email: [CANARY], foo: 1 } }))).toEqual([
      'Variable "$i" is invalid at "i.email": Expected a value of type "String".',
      'Variable "$i" is invalid: A field is not defined by type "UpdateProfileInput".',
    ]);
    expect(await messages(body(UPDATE, { i: { phoneNumber: 81 } }))).toEqual([
      'Variable "$i" is invalid at "i.phoneNumber": Expected a value of type "String".',
    ]);
    expect(await messages(body(TOP_UP, { i: { amount: 'x', method: 'CASH' } }))).toEqual([
      'Variable "$i" is invalid at "i.amount": Decimal takes a string in plain decimal notation of at most 38 digits, such as "1200" or "0.01".',
    ]);
    expect(await messages(body(inProfile('phoneNumber: 81')))).toEqual([
      'Expected a value of type "String".',
    ]);
    expect(await messages(body('mutation { "x" }'))).toEqual(['Syntax Error: Expected Name.']);
    expect(await messages('{"query":')).toEqual(['The body must be JSON in UTF-8.']);
  });
});

/** What once took seconds, by patterns over the text of a message. */
const SLOW: readonly (readonly [string, string])[] = [
  ['a suggestion, repeated', body(CHARGE, { k: 'k', i: { orderId: [' Did you mean '.repeat(9_000)] } })],
  ['the end of a message, repeated', body(CHARGE, { k: 'k', i: { orderId: ['cannot represent '.repeat(7_000)] } })],
  ['a key like a message', body(UPDATE, { i: { ['"Value "'.repeat(9_000)]: 1 } })],
  ['a place, repeated', body(UPDATE, { i: { email: [' at "a"; '.repeat(9_000)] } })],
  ['a find, repeated', body(`mutation { charge(idempotencyKey: "k", input: { orderId: [1, "${', found '.repeat(9_000)}"] }) { __typename } }`)],
  ['a text where a name must be', body(`mutation { "${' Unexpected Name '.repeat(5_000)}" }`)],
  ['a name as long as a document', body(`{ ${'a'.repeat(100_000)} }`)],
]; // prettier-ignore

it.each(SLOW)('an error costs no more for its length: %s', async (_name, sent) => {
  const before = process.cpuUsage();
  const answer = await (await gateway.post(ALICE, sent)).text();
  const { user, system } = process.cpuUsage(before);
  expect(answer).toContain('"BAD_REQUEST"');
  expect(answer.length).toBeLessThan(3_000);
  expect((user + system) / 1_000).toBeLessThan(300);
});
