import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { OrderDocument } from '../../support/generated/documents.ts';
import { ALICE, type Gateway, codesOf, dataOf, startGateway } from '../../support/gateway.ts';
import { parseTenants } from '../../../src/config/tenants.ts';
import { fund, openOrder } from './money.ts';

let gateway: Gateway;
let orders: readonly string[];
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
  await fund(gateway, ALICE, '50.00');
  orders = [await openOrder(gateway, ALICE, '10.00'), await openOrder(gateway, ALICE, '10.00')];
});
afterAll(() => gateway.close());

const charge = (alias: string, order: number, key: string): string =>
  `${alias}: charge(idempotencyKey: "${key}", input: { orderId: "${orders[order] ?? ''}" }) { __typename }`;

async function states(): Promise<readonly (string | undefined)[]> {
  return Promise.all(
    orders.map(async (id) => dataOf(await gateway.run(ALICE, OrderDocument, { id })).order?.state),
  );
}

describe('a document with more than one money mutation', () => {
  const documents: readonly (readonly [string, () => string])[] = [
    ['by aliases', () => `mutation { ${charge('a', 0, 'k1')} ${charge('b', 1, 'k2')} }`],
    ['with one key', () => `mutation { ${charge('a', 0, 'k1')} ${charge('b', 0, 'k1')} }`],
    [
      'of several operations',
      () =>
        `mutation { ${charge('a', 0, 'k1')} cancelOrder(idempotencyKey: "k2", input: { orderId: "x" }) { __typename } }`,
    ],
    [
      'in fragments within fragments',
      () => `mutation { ${charge('a', 0, 'k1')} ...F }
        fragment F on Mutation { ...G }
        fragment G on Mutation { ... on Mutation { ... { ${charge('b', 1, 'k2')} } } }`,
    ],
    [
      'in a fragment that calls itself __schema',
      () => `mutation { ${charge('a', 0, 'k1')} ...__schema }
        fragment __schema on Mutation { ${charge('b', 1, 'k2')} }`,
    ],
    [
      'of which one is skipped',
      () => `mutation { ${charge('a', 0, 'k1')} ... @skip(if: true) { ${charge('b', 1, 'k2')} } }`,
    ],
    [
      'five hundred of them',
      () =>
        `mutation { ${Array.from({ length: 500 }, (_, index) => charge(`a${String(index)}`, 0, 'k')).join(' ')} }`,
    ],
  ];

  it.each(documents)('runs none: %s', async (_, document) => {
    const answer = await gateway.run(ALICE, document());
    expect(answer.data ?? null).toBeNull();
    expect(new Set(codesOf(answer))).toEqual(new Set(['BAD_REQUEST']));
    expect(await states()).toEqual(['CREATED', 'CREATED']);
  });

  it('may hold one, and others of no money', async () => {
    const answer = await gateway.run(
      ALICE,
      `mutation { ${charge('a', 0, 'single')} issuePaymentCode { code } updateProfile(input: { displayName: "A" }) { __typename } }`,
    );
    expect(dataOf(answer)).toMatchObject({ a: { __typename: 'ChargeSuccess' } });
  });

  it('may hold one an operation, since one operation runs', async () => {
    const query = `mutation A { ${charge('a', 1, 'named')} } mutation B { ${charge('b', 0, 'other')} }`;
    const response = await gateway.post(ALICE, JSON.stringify({ query, operationName: 'A' }));
    expect(await response.json()).toEqual({ data: { a: { __typename: 'ChargeSuccess' } } });
  });
});

function nested(depth: number): string {
  const open = 'order { timeline { ';
  const half = Math.floor(depth / 2);
  return `{ orders { edges { node { timeline { ${open.repeat(half)} version ${'} } '.repeat(half)} } } } } }`;
}

describe('a document that is too large', () => {
  const doubling = Array.from(
    { length: 40 },
    (_, index) => `fragment F${String(index)} on Order { ${`...F${String(index + 1)} `.repeat(2)} }`,
  ).join(' ');
  const hidden = (name: string): string =>
    `{ orders { edges { node { ...${name} } } } }
     fragment ${name} on Order { timeline { ${'order { timeline { '.repeat(200)} version ${'} } '.repeat(200)} } }`;

  it.each([
    ['400 levels deep', nested(400)],
    ['deep in a fragment', hidden('Deep')],
    ['deep in a fragment called __schema', hidden('__schema')],
    [
      'a fragment that spreads itself',
      '{ orders { edges { node { ...A } } } } fragment A on Order { timeline { order { ...A } } }',
    ],
    [
      'fragments in a circle',
      '{ orders { edges { node { ...A } } } } fragment A on Order { id ...B } fragment B on Order { id ...A }',
    ],
    [
      'fragments that double forty times',
      `{ orders { edges { node { ...F0 } } } } ${doubling} fragment F40 on Order { id }`,
    ],
    ['ten thousand tokens', `{ viewer { ${'subject '.repeat(10_000)} } }`],
    [
      'a hundred aliases',
      `{ ${Array.from({ length: 100 }, (_, index) => `a${String(index)}: viewer { subject }`).join(' ')} }`,
    ],
    [
      'aliases in a fragment that is spread often',
      `{ viewer { wallet { ${'...W '.repeat(20)} } } } fragment W on Wallet { a: id b: id }`,
    ],
    [
      'lists of lists of lists',
      `{ merchants { products(first: 100) { edges { node { merchant { products(first: 100) { edges { node { merchant { name } } } } } } } } } }`,
    ],
  ])('is refused as BAD_REQUEST before anything runs: %s', async (_, document) => {
    const answer = await gateway.run(ALICE, document);
    expect(answer.data ?? null).toBeNull();
    expect(codesOf(answer).length).toBeGreaterThan(0);
    expect(new Set(codesOf(answer))).toEqual(new Set(['BAD_REQUEST']));
  });

  it('is refused for a page of more than a hundred rows', async () => {
    const answer = await gateway.run(ALICE, '{ orders(first: 101) { edges { node { id } } } }');
    expect(codesOf(answer)).toEqual(['BAD_REQUEST']);
    expect(answer.errors[0]?.message).toBe('Bad list arguments: first takes 1 to 100.');
  });
});

const many = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

it.each([
  ['a field again and again', `{ ${'viewer { subject } '.repeat(700)} }`],
  ['a field with arguments again and again', `{ ${'order(id: "a") { id } '.repeat(330)} }`],
  ['fragments side by side', `{ viewer { ${many(250, (n) => `...F${String(n)}`)} } } ${many(250, (n) => `fragment F${String(n)} on Viewer { subject }`)}`],
  ['fragments that spread the next two', `{ ...F0 } ${many(180, (n) => `fragment F${String(n)} on Query { viewer { subject } ...F${String(n + 1)} ...F${String(n + 2)} }`)} fragment F180 on Query { viewer { subject } } fragment F181 on Query { viewer { subject } }`],
  ['inline fragments side by side', `{ ${'... { viewer { subject } } '.repeat(400)} }`],
])('validation is not kept busy by %s', async (_, document) => {
  const before = process.cpuUsage();
  const answer = await gateway.run(ALICE, document);
  const { user, system } = process.cpuUsage(before);
  expect(codesOf(answer)).toEqual(['BAD_REQUEST']);
  expect(answer.errors[0]?.message).toMatch(/ at most\.$/);
  expect((user + system) / 1_000).toBeLessThan(100);
}); // prettier-ignore

it.each([
  ['arrays', '['.repeat(25_000) + ']'.repeat(25_000)],
  ['objects', '{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)],
])('variables that nobody uses are refused where they are thousands of levels deep: %s', async (_, deep) => {
  const response = await gateway.post(ALICE, `{"query":"{ viewer { subject } }","variables":{"x":${deep}}}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    errors: [
      {
        message: 'The variables are more than 32 levels deep.',
        extensions: { code: 'BAD_REQUEST' },
      },
    ],
  });
});

describe('a list of an order below its own transitions, steps or refunds', () => {
  const inTimeline = (inner: string): string =>
    `query($id: ID!) { order(id: $id) { timeline { order { ${inner} } } } }`;
  it.each([
    [
      'the 123 bytes that took all memory',
      `query($id:ID!){order(id:$id){${'timeline{order{'.repeat(6)}version${'}'.repeat(12)}}}`,
    ],
    ['once is enough', inTimeline('refunds { id }')],
    ['a list of scalars too', inTimeline('payableWith')],
    [
      'through the order’s steps',
      'query($id: ID!) { order(id: $id) { steps { order { lines { name } } } } }',
    ],
    ['in an inline fragment', inTimeline('... { ... on Node { ... on Order { steps { id } } } }')],
    [
      'in fragments',
      `${inTimeline('merchant { name } ...A')} fragment A on Order { ...B } fragment B on Node { ... on Order { lines { name } } }`,
    ],
    ['under an alias', inTimeline('id a: timeline { version }')],
    [
      'of an entry',
      'query { viewer { wallet { entries { edges { node { order { timeline { order { lines { name } } } } } } } } } }',
    ],
    [
      'of an outcome',
      `mutation($id: ID!) { charge(idempotencyKey: "k", input: { orderId: $id }) { ... on ChargeSuccess { order { timeline { order { steps { id } } } } } } }`,
    ],
  ])('is refused: %s', async (_, document) => {
    const answer = await gateway.run<unknown, object>(ALICE, document, { id: orders[0] });
    expect(answer.data ?? null).toBeNull();
    expect(new Set(codesOf(answer))).toEqual(new Set(['BAD_REQUEST']));
    expect(answer.errors[0]?.message).toContain("can't be selected below");
  });

  it('is refused in a subscription', async () => {
    const query = `subscription($id: ID!) { orderTransitions(orderId: $id) { order { timeline { order { steps { id } } } } } }`;
    const response = await gateway.post(ALICE, JSON.stringify({ query, variables: { id: orders[0] } }), {
      accept: 'text/event-stream',
    });
    expect(await response.text()).toContain("can't be selected below");
  });

  it('leaves the order’s own fields where they are', async () => {
    const answer = await gateway.run<unknown, object>(
      ALICE,
      'query($id: ID!) { order(id: $id) { timeline { version order { id state merchant { name } } } lines { name } } }',
      { id: orders[1] },
    );
    expect(answer.errors).toEqual([]);
  });
});

describe('the cost of a document', () => {
  it('counts the merchants that the tenant has, and what is read for each', async () => {
    const merchants = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [
        `m_${String(index)}`,
        { name: `Merchant ${String(index)}` },
      ]),
    );
    const tenants = parseTenants(
      {
        large: {
          name: 'Large',
          currency: 'JPY',
          assets: { ECOPAY: { scale: 0, pays: 'JPY' } },
          paymentMethods: ['card'],
          returnUrls: ['https://shop.example'],
          merchants,
        },
      },
      { production: false },
    );
    const large = await startGateway({ endpoint: inject('engineEndpoint'), overrides: { tenants } });
    try {
      const customer = { ...ALICE, tenant: 'large' };
      const products = await large.run(
        customer,
        '{ merchants { products(first: 1) { edges { node { sku } } } } }',
      );
      expect(codesOf(products)).toEqual(['BAD_REQUEST']);
      const plain = await large.run<{ merchants: unknown[] }, object>(customer, '{ merchants { name } }');
      expect(dataOf(plain).merchants).toHaveLength(3_000);
    } finally {
      await large.close();
    }
  });
});

describe('the schema', () => {
  it('is told to tools in development, with suggestions', async () => {
    const introspected = dataOf(await gateway.run<IntrospectionQuery, never>(ALICE, getIntrospectionQuery()));
    expect(buildClientSchema(introspected).getType('ChargeResult')?.name).toBe('ChargeResult');
    const { errors } = await gateway.run(ALICE, 'mutation { chrge { __typename } }');
    expect(errors[0]?.message).toBe('Cannot query field "chrge" on type "Mutation". Did you mean "charge"?');
  });

  it('is not told where GraphiQL is off, not even by a suggestion', async () => {
    const closed = await startGateway({
      endpoint: inject('engineEndpoint'),
      environment: { GRAPHIQL: 'off' },
    });
    try {
      const hidden = await closed.run(ALICE, '{ __schema { types { name } } }');
      expect(codesOf(hidden)).toContain('BAD_REQUEST');
      const { errors } = await closed.run(ALICE, 'mutation { chrge { __typename } }');
      expect(errors[0]?.message).toBe('Cannot query field "chrge" on type "Mutation".');
      const wrongEnum = await closed.run<unknown, object>(
        ALICE,
        'query($filter: OrderFilter) { orders(filter: $filter) { edges { cursor } } }',
        { filter: { state: 'PAYD' } },
      );
      expect(JSON.stringify(wrongEnum.errors)).not.toContain('Did you mean');
      const page = await fetch(closed.graphqlUrl, { headers: { accept: 'text/html' } });
      expect(page.status).toBe(405);
    } finally {
      await closed.close();
    }
  });
});

describe('a principal that is too fast', () => {
  it('is RATE_LIMITED for that operation, told when to come again, and then served', async () => {
    const slow = await startGateway({
      endpoint: inject('engineEndpoint'),
      overrides: { rates: { mutation: { perSecond: 1, burst: 2 } } },
    });
    try {
      const issue = 'mutation { issuePaymentCode { expiresAt } }';
      const answers = await Promise.all(Array.from({ length: 5 }, () => slow.run(ALICE, issue)));
      expect(answers.filter(({ errors }) => errors.length === 0)).toHaveLength(2);
      const limited = answers.find(({ errors }) => errors.length > 0);
      expect(limited?.status).toBe(429);
      expect(limited?.headers.get('retry-after')).toBe('1');
      expect(limited?.errors[0]?.extensions).toEqual({ code: 'RATE_LIMITED', retryAfterMs: 1000 });
      const twice = 'mutation { a: issuePaymentCode { expiresAt } b: issuePaymentCode { expiresAt } }';
      slow.clock.advance(1_000);
      expect(codesOf(await slow.run(ALICE, twice))).toEqual(['RATE_LIMITED']);
      expect((await slow.run(ALICE, issue)).errors).toEqual([]);
      const other = { ...ALICE, subject: 'carol' };
      expect((await slow.run(other, twice)).errors).toEqual([]);
    } finally {
      await slow.close();
    }
  });
});
