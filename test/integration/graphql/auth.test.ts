import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { OrderDocument, ViewerDocument, WalletDocument } from '../../support/generated/documents.ts';
import {
  ADMIN,
  ALICE,
  BOB,
  FOREIGN_ALICE,
  type Gateway,
  type Principal,
  SELLER,
  TILL,
  codesOf,
  dataOf,
  readAnswer,
  startGateway,
} from '../../support/gateway.ts';
import { fund, openOrder } from './money.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
});
afterAll(() => gateway.close());

const VIEWER = JSON.stringify({ query: '{ viewer { subject } }' });

describe('a request without a valid token', () => {
  const unauthenticated = async (
    headers: Record<string, string>,
    challenge = 'Bearer error="invalid_token"',
    message = 'A valid token is needed.',
  ): Promise<void> => {
    const response = await fetch(gateway.graphqlUrl, {
      method: 'POST',
      body: VIEWER,
      headers: { 'content-type': 'application/json', ...headers },
    });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(challenge);
    expect(await response.json()).toEqual({
      errors: [{ message, extensions: { code: 'UNAUTHENTICATED' } }],
    });
  };

  it('is UNAUTHENTICATED with 401 when it has none', () =>
    unauthenticated({}, 'Bearer', 'A token is needed.'));

  it('is UNAUTHENTICATED when its token is forged', async () => {
    const good = await gateway.token(ALICE);
    await unauthenticated({ authorization: `Bearer ${good.slice(0, -4)}AAAA` });
  });

  it('is UNAUTHENTICATED when its token has expired', async () => {
    const short = await gateway.token(ALICE, 60);
    gateway.clock.advance(61_000);
    await unauthenticated(
      { authorization: `Bearer ${short}` },
      'Bearer error="invalid_token", error_description="the token has expired"',
      'The token has expired.',
    );
  });

  it('is told when its token is not valid yet, and to come again', async () => {
    gateway.clock.advance(10_000);
    const early = await gateway.token(ALICE);
    gateway.clock.advance(-10_000);
    const authorization = `Bearer ${early}`;
    const challenge = 'Bearer error="invalid_token", error_description="the token is not valid yet"';
    await unauthenticated({ authorization }, challenge, 'The token is not valid yet.');
    const again = await fetch(gateway.graphqlUrl, {
      method: 'POST',
      body: VIEWER,
      headers: { 'content-type': 'application/json', authorization },
    });
    expect(again.headers.get('retry-after')).toBe('5');
    gateway.clock.advance(5_000);
    const later = await fetch(gateway.graphqlUrl, {
      method: 'POST',
      body: VIEWER,
      headers: { 'content-type': 'application/json', authorization },
    });
    expect(later.status).toBe(200);
  });

  it('learns nothing else of why its token is no good', async () => {
    const forgotten = await gateway.token({ ...ALICE, tenant: 'nobody' });
    await unauthenticated({ authorization: `Bearer ${forgotten}` });
    await unauthenticated({ authorization: 'Bearer nonsense' });
  });

  it('takes its subject from the token alone, not from a header', async () => {
    const response = await gateway.post(BOB, VIEWER, { 'x-user-id': 'alice' });
    expect((await readAnswer<{ viewer: { subject: string } }>(response)).data?.viewer.subject).toBe('bob');
  });
});

it('fails closed with 503 while nobody can tell whether a token is good', async () => {
  const outage = await startGateway({
    endpoint: inject('engineEndpoint'),
    environment: { AUTH_JWKS_URL: 'http://127.0.0.1:1/keys' },
  });
  try {
    const response = await fetch(outage.graphqlUrl, {
      method: 'POST',
      body: VIEWER,
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.e30.c2lnbmF0dXJl',
      },
    });
    const { status, errors } = await readAnswer(response);
    expect(status).toBe(503);
    expect(errors[0]?.extensions).toEqual({
      code: 'INTERNAL',
      requestId: response.headers.get('x-request-id'),
    });
  } finally {
    await outage.close();
  }
});

describe('a role that may never do it', () => {
  const key = 'idempotencyKey: "k"';
  const forbidden: readonly (readonly [string, Principal, string])[] = [
    ['charge', SELLER, `mutation { charge(${key}, input: { orderId: "x" }) { __typename } }`],
    [
      'checkout',
      TILL,
      `mutation { checkout(${key}, input: { orderId: "x", successUrl: "u", cancelUrl: "u" }) { __typename } }`,
    ],
    ['cash top-up', ALICE, `mutation { topUp(${key}, input: { amount: "1", method: CASH }) { __typename } }`],
    [
      'card top-up',
      TILL,
      `mutation { topUp(${key}, input: { amount: "1", method: CHECKOUT }) { __typename } }`,
    ],
    ['refund', ALICE, `mutation { refund(${key}, input: { orderId: "x" }) { __typename } }`],
    [
      'adjustBalance',
      SELLER,
      `mutation { adjustBalance(${key}, input: { accountId: "alice", asset: "ECOPAY", amount: "1", reason: "r" }) { __typename } }`,
    ],
    ['approve', SELLER, `mutation { approve(${key}, input: { proposalId: "x" }) { __typename } }`],
    [
      'rejectProposal',
      ALICE,
      `mutation { rejectProposal(${key}, input: { proposalId: "x", reason: "r" }) { __typename } }`,
    ],
    ['issuePaymentCode', TILL, 'mutation { issuePaymentCode { code } }'],
    ['updateProfile', SELLER, 'mutation { updateProfile(input: { displayName: "x" }) { __typename } }'],
    [
      'putProduct',
      ALICE,
      'mutation { putProduct(input: { merchantId: "m_1", sku: "s", name: "n", price: "1", active: true }) { __typename } }',
    ],
    [
      'skipStep',
      TILL,
      `mutation { skipStep(${key}, input: { orderId: "x", step: "s", reason: "r" }) { __typename } }`,
    ],
    ['retryStep', SELLER, 'mutation { retryStep(id: "x") { __typename } }'],
    ['replayWebhookEvent', SELLER, 'mutation { replayWebhookEvent(providerEventId: "evt") { __typename } }'],
    ['wallet', ALICE, '{ wallet(accountId: "alice") { id } }'],
    ['deadSteps', SELLER, '{ deadSteps { edges { cursor } } }'],
    ['proposals', SELLER, '{ proposals { edges { cursor } } }'],
    ['webhookProblems', TILL, '{ webhookProblems { edges { cursor } } }'],
  ];

  it.each(forbidden)('is FORBIDDEN: %s', async (_, principal, document) => {
    const answer = await gateway.run(principal, document);
    expect(codesOf(answer)).toEqual(['FORBIDDEN']);
  });
});

describe("what isn't yours", () => {
  it('is null to another customer, to another tenant, and to a merchant that did not sell it', async () => {
    const id = await openOrder(gateway, ALICE, '20.00');
    const read = async (principal: Principal): Promise<string | undefined> =>
      dataOf(await gateway.run(principal, OrderDocument, { id })).order?.id;
    expect(await read(ALICE)).toBe(id);
    expect(await read(SELLER)).toBe(id);
    expect(await read(ADMIN)).toBe(id);
    expect(await read(BOB)).toBeUndefined();
    expect(await read(FOREIGN_ALICE)).toBeUndefined();
    expect(await read({ ...SELLER, merchantId: 'm_2' })).toBeUndefined();
  });

  it('is NotFound to a mutation, the same for a foreign tenant, another customer and a malformed id', async () => {
    const id = await openOrder(gateway, ALICE, '20.00');
    const charge = `mutation($id: ID!, $key: IdempotencyKey!) {
      charge(idempotencyKey: $key, input: { orderId: $id }) { __typename ... on Failure { message retry } }
    }`;
    const answerTo = async (principal: Principal, orderId: string): Promise<unknown> =>
      dataOf(
        await gateway.run<unknown, Record<string, string>>(principal, charge, {
          id: orderId,
          key: gateway.key(),
        }),
      );
    const notFound = {
      charge: {
        __typename: 'NotFound',
        message: 'There is no such thing, or it is not yours.',
        retry: 'NEVER',
      },
    };
    expect(await answerTo(BOB, id)).toEqual(notFound);
    expect(await answerTo(FOREIGN_ALICE, id)).toEqual(notFound);
    expect(await answerTo(ALICE, 'not-an-id')).toEqual(notFound);
  });
});

describe('a wallet', () => {
  it("shows the till balances, and not the customer's history", async () => {
    await fund(gateway, ALICE, '50.00');
    const { wallet } = dataOf(await gateway.run(TILL, WalletDocument, { accountId: 'alice' }));
    expect(wallet?.balances.find(({ asset }) => asset === 'ECOPAY')?.amount).toBe('50.00');
    expect([wallet?.profile, wallet?.metrics]).toEqual([null, null]);
  });

  it('is there for customers alone, with a balance of every asset', async () => {
    const { viewer } = dataOf(await gateway.run(BOB, ViewerDocument));
    expect(viewer.wallet?.balances.map(({ asset, amount, updatedAt }) => [asset, amount, updatedAt])).toEqual(
      [
        ['ECOPAY', '0.00', null],
        ['POINT', '0', null],
        ['JCREDIT', '0.00', null],
      ],
    );
    expect(dataOf(await gateway.run(SELLER, ViewerDocument)).viewer).toMatchObject({
      wallet: null,
      merchant: { merchantId: 'm_1', name: 'Merchant One' },
    });
  });
});
