import { buildSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fullSelections } from '../../../scripts/full-selection.ts';
import { committedSchema } from '../../../scripts/generated-file.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { customerTabs } from '../../../dev/demo/customer-tabs.ts';
import { ChargeDocument, UpdateProfileDocument, ViewerDocument } from '../../support/generated/documents.ts';
import {
  ADMIN,
  ALICE,
  type Gateway,
  type Principal,
  SELLER,
  TILL,
  dataOf,
  startGateway,
} from '../../support/gateway.ts';
import { ownedClock } from '../../support/owned-time.ts';
import { fund, openOrder } from './money.ts';

let gateway: Gateway;
const logged: string[] = [];
beforeAll(async () => {
  const clock = ownedClock();
  const destination = { write: (line: string) => logged.push(line) };
  gateway = await startGateway({
    endpoint: inject('engineEndpoint'),
    overrides: { logger: createLogger({ level: 'info', clock, destination }) },
  });
});
afterAll(() => gateway.close());

describe('an error of ours', () => {
  it('is masked: the client hears an id, the log the rest, and neither any personal data', async () => {
    const failing = await startGateway({
      endpoint: inject('engineEndpoint'),
      overrides: { logger: gateway.server.app.logger, provider: brokenProvider() },
    });
    try {
      const id = await openOrder(failing, ALICE, '20.00');
      const query = `mutation { checkout(idempotencyKey: "k", input: { orderId: "${id}", successUrl: "https://shop.example/", cancelUrl: "https://shop.example/" }) { __typename } }`;
      const answer = await failing.run(ALICE, query);
      const requestId = answer.headers.get('x-request-id');
      expect(answer.errors).toEqual([
        {
          message: 'Internal error.',
          locations: [{ line: 1, column: 12 }],
          path: ['checkout'],
          extensions: { code: 'INTERNAL', requestId },
        },
      ]);
      const line = logged.find((one) => one.includes(requestId ?? 'none')) ?? '';
      expect(line).toContain('the provider broke for [redacted]');
      expect(logged.join('')).not.toContain('pii-sentinel');
    } finally {
      await failing.close();
    }
  });
});

function brokenProvider(): NonNullable<Gateway['server']['app']['ledger']['provider']> {
  const fail = (): never => {
    throw new Error('the provider broke for pii-sentinel@x.test');
  };
  return { ...gateway.server.app.ledger.provider, createSession: fail };
}

describe('a document that selects every field of every member', () => {
  const inputs: Readonly<Record<string, unknown>> = {
    createOrder: { merchantId: 'm_1', accountId: 'alice', amount: '5.00', description: 'all fields' },
    topUp: { accountId: 'alice', amount: '5.00', method: 'CASH' },
    adjustBalance: { accountId: 'alice', asset: 'ECOPAY', amount: '50.00', reason: 'all fields' },
    approve: { proposalId: 'unknown' },
    rejectProposal: { proposalId: 'unknown', reason: 'all fields' },
    updateProfile: { displayName: 'Alice' },
    skipStep: { orderId: 'unknown', step: 'probe:paid', reason: 'all fields' },
    putProduct: { merchantId: 'm_1', sku: 'all', name: 'All', price: '1.00', active: true },
  };
  const principals: Readonly<Record<string, Principal>> = {
    createOrder: SELLER,
    topUp: TILL,
    refund: SELLER,
    adjustBalance: ADMIN,
    approve: ADMIN,
    rejectProposal: ADMIN,
    putProduct: SELLER,
    retryStep: ADMIN,
    skipStep: ADMIN,
    replayWebhookEvent: ADMIN,
  };

  it('runs within the limits, for every mutation', async () => {
    const documents = fullSelections(buildSchema(await committedSchema()));
    expect(documents.size).toBe(15);
    await fund(gateway, ALICE, '50.00');
    const unpaid = await openOrder(gateway, ALICE, '5.00');
    for (const [name, document] of documents) {
      const orderId = ['cancelOrder', 'checkout'].includes(name) ? 'unknown' : unpaid;
      const input = inputs[name] ?? {
        orderId,
        ...(name === 'checkout' && { successUrl: 'https://shop.example', cancelUrl: 'https://shop.example' }),
      };
      const answer = await gateway.run<unknown, Record<string, unknown>>(
        principals[name] ?? ALICE,
        document,
        {
          [`Mutation_${name}_idempotencyKey`]: `full-${name}`,
          [`Mutation_${name}_input`]: input,
          Mutation_retryStep_id: 'unknown',
          Mutation_replayWebhookEvent_providerEventId: 'evt_unknown',
        },
      );
      expect([name, answer.errors]).toEqual([name, []]);
    }
  });
});

describe('the profile', () => {
  it('keeps absent fields, clears on null, and is read after the write', async () => {
    const update = async (input: Record<string, string | null>): Promise<unknown> => {
      const { updateProfile } = dataOf(await gateway.run(ALICE, UpdateProfileDocument, { input }));
      return updateProfile.__typename === 'UpdateProfileSuccess'
        ? updateProfile.wallet.profile
        : updateProfile;
    };
    await update({ displayName: 'Alice', email: 'alice@example.com' });
    expect(await update({ phoneNumber: '+81312345678' })).toEqual({
      displayName: 'Alice',
      email: 'alice@example.com',
      phoneNumber: '+81312345678',
    });
    expect(await update({ email: null })).toMatchObject({ displayName: 'Alice', email: null });
  });
});

describe('a replay', () => {
  it('shows the first outcome with the balance as it stands now', async () => {
    const id = await openOrder(gateway, ALICE, '1.00');
    const variables = { key: 'replayed', input: { orderId: id, asset: 'ECOPAY' } };
    const first = dataOf(await gateway.run(ALICE, ChargeDocument, variables)).charge;
    await fund(gateway, ALICE, '7.00');
    const again = dataOf(await gateway.run(ALICE, ChargeDocument, variables)).charge;
    if (first.__typename !== 'ChargeSuccess' || again.__typename !== 'ChargeSuccess')
      throw new Error(`${first.__typename}, ${again.__typename}`);
    expect([first.replayed, again.replayed]).toEqual([false, true]);
    expect(again.entry).toEqual(first.entry);
    const now = dataOf(await gateway.run(ALICE, ViewerDocument)).viewer.wallet?.balances[0];
    expect(again.balance.amount).toBe(now?.amount);
    expect(again.balance.amount).not.toBe(first.balance.amount);
  });
});

describe('the phase in which keys are optional', () => {
  it('takes a mutation without one; the required phase does not', async () => {
    const query =
      'mutation { createOrder(input: { merchantId: "m_1", accountId: "alice", amount: "1.00", description: "d" }) { __typename } }';
    expect((await gateway.run(SELLER, query)).errors[0]?.message).toContain('"idempotencyKey"');
    const optional = await startGateway({
      endpoint: inject('engineEndpoint'),
      environment: { IDEMPOTENCY_KEY_PHASE: 'optional' },
    });
    try {
      expect(dataOf(await optional.run(SELLER, query))).toEqual({
        createOrder: { __typename: 'CreateOrderSuccess' },
      });
    } finally {
      await optional.close();
    }
  });
});

describe('a path that is none', () => {
  it.each([['/'], ['/proof'], ['/nothing'], ['/graphql/more']])('is not found, as %s', async (path) => {
    const response = await fetch(`${gateway.url}${path}`);
    expect([response.status, await response.json()]).toEqual([
      404,
      { errors: [{ message: 'There is nothing here.', extensions: { code: 'NOT_FOUND' } }] },
    ]);
  });
});

describe('GraphiQL', () => {
  const DEMO_ALICE: Principal = { subject: 'alice', role: 'CUSTOMER', tenant: 'demo' };
  const DEMO_ADMIN: Principal = { subject: 'root', role: 'ADMIN', tenant: 'demo' };

  it('is served whole: nothing of it comes from another host, and the token is filled in', async () => {
    const withToken = await startGateway({
      endpoint: inject('engineEndpoint'),
      overrides: { graphiql: { tabs: (origin) => customerTabs(origin, 'the-printed-token') } },
    });
    try {
      const response = await fetch(withToken.graphqlUrl, { headers: { accept: 'text/html' } });
      const page = await response.text();
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(page).not.toMatch(/<(script|link|img|iframe)[^>]+(src|href)="?https?:/);
      expect(page).not.toMatch(/unpkg\.com\/graphiql|cdn\.jsdelivr\.net\/npm\/graphiql/);
      expect(page).toContain('Bearer the-printed-token');
      expect(page).toContain('"additionalHeaders":{"x-hitotsu-csrf":"1"}');
    } finally {
      await withToken.close();
    }
  });

  it('opens with tabs that run as they are, again and again', async () => {
    const product = { merchantId: 'cafe', sku: 'coffee', name: 'Coffee', price: '480', active: true };
    const put = 'mutation($input: PutProductInput!) { putProduct(input: $input) { __typename } }';
    await gateway.run<unknown, { input: typeof product }>(DEMO_ADMIN, put, { input: product });
    const queries = customerTabs(gateway.url, '').map(({ query }) => query);
    for (const tab of queries.filter((text) => !text.includes('topUp'))) {
      for (const round of ['first', 'second']) {
        const answer = await gateway.run(DEMO_ALICE, tab);
        expect([round, tab.split('\n')[0], answer.errors]).toEqual([round, tab.split('\n')[0], []]);
        expect(JSON.stringify(answer.data)).not.toContain('"retry"');
      }
    }
  });
});
