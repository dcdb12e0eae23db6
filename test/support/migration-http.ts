import { z } from 'zod';
import { signToken } from '../../dev/sign-token.ts';
import type { Role } from '../../src/auth/viewer.ts';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/ledger/kernel/clock.ts';
import { type Answered, type Channel, LOST } from './migration-channel.ts';

/** A gateway of another process over real HTTP, as an app, a till or a back office has it. */
export interface HttpChannel extends Channel {
  /** Requests that reached nobody, or that nobody answered. */
  readonly lost: () => number;
  /** Resolves with the next request on its way. */
  readonly whenBusy: () => Promise<void>;
}

const DOCUMENTS = {
  createOrder: `mutation ($key: IdempotencyKey!, $input: CreateOrderInput!) {
    outcome: createOrder(idempotencyKey: $key, input: $input) {
      __typename ... on CreateOrderSuccess { order { id } } } }`,
  charge: `mutation ($key: IdempotencyKey!, $input: ChargeInput!) {
    outcome: charge(idempotencyKey: $key, input: $input) {
      __typename ... on ChargeSuccess { order { id } entry { id } } ... on InsufficientBalance { available } } }`,
  topUp: `mutation ($key: IdempotencyKey!, $input: TopUpInput!) {
    outcome: topUp(idempotencyKey: $key, input: $input) { __typename } }`,
  refund: `mutation ($key: IdempotencyKey!, $input: RefundInput!) {
    outcome: refund(idempotencyKey: $key, input: $input) { __typename } }`,
  adjust: `mutation ($key: IdempotencyKey!, $input: AdjustBalanceInput!) {
    outcome: adjustBalance(idempotencyKey: $key, input: $input) { __typename } }`,
  updateProfile: `mutation ($input: UpdateProfileInput!) {
    outcome: updateProfile(input: $input) { __typename } }`,
  read: `query { viewer { wallet {
    balances { asset amount } profile { displayName email phoneNumber } } } }`,
} as const;

const outcomeSchema = z.object({
  outcome: z.object({
    __typename: z.string(),
    order: z.object({ id: z.string() }).optional(),
    entry: z.object({ id: z.string() }).optional(),
    available: z.string().optional(),
  }),
});
const walletSchema = z.object({
  viewer: z.object({
    wallet: z.object({
      balances: z.array(z.object({ asset: z.string(), amount: z.string() })),
      profile: z
        .object({
          displayName: z.string().nullable(),
          email: z.string().nullable(),
          phoneNumber: z.string().nullable(),
        })
        .nullable(),
    }),
  }),
});

interface Principal {
  readonly subject: string;
  readonly role: Role;
  readonly tenant: string;
  readonly merchantId?: string;
}

/** Gives an answer's data; undefined where none came. Throws for an answer that says that the request was wrong. */
type Post = (
  principal: Principal,
  query: string,
  variables: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

export function httpChannel(url: string): HttpChannel {
  const tokens = new Map<string, Promise<string>>();
  const waiters: (() => void)[] = [];
  let lost = 0;
  const tokenOf = (principal: Principal): Promise<string> => {
    const name = JSON.stringify(principal);
    const token =
      tokens.get(name) ??
      signToken(loadConfig({}).auth, { ...principal, ttlS: 12 * 3_600 }, systemClock.nowMs());
    tokens.set(name, token);
    return token;
  };
  const post: Post = async (principal, query, variables) => {
    const authorization = `Bearer ${await tokenOf(principal)}`;
    let body: unknown;
    try {
      const answer = fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.timeout(30_000),
      });
      for (const busy of waiters.splice(0)) busy();
      body = await (await answer).json();
    } catch {
      lost += 1;
      return undefined;
    }
    return z.object({ data: z.unknown(), errors: z.undefined().optional() }).parse(body).data;
  };
  return {
    ...operations(post),
    lost: () => lost,
    whenBusy: () =>
      new Promise((resolve) => {
        waiters.push(resolve);
      }),
  };
}

function operations(post: Post): Channel {
  const mutate = async (
    principal: Principal,
    document: Exclude<keyof typeof DOCUMENTS, 'read'>,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<Answered> => {
    const data = await post(principal, DOCUMENTS[document], variables);
    if (data === undefined) return { kind: LOST };
    const { __typename: kind, order, entry, available } = outcomeSchema.parse(data).outcome;
    return { kind, orderId: order?.id, entryId: entry?.id, available };
  };
  const customer = (tenant: string, subject: string): Principal => ({ subject, role: 'CUSTOMER', tenant });
  const admin = (tenant: string): Principal => ({ subject: 'root', role: 'ADMIN', tenant });
  return {
    createOrder: ({ tenant, accountId }, key, amount) => {
      const input = { merchantId: 'cafe', accountId, amount, description: 'coffee' };
      return mutate(admin(tenant), 'createOrder', { key, input });
    },
    charge: ({ tenant, accountId }, key, orderId) =>
      mutate(customer(tenant, accountId), 'charge', { key, input: { orderId } }),
    topUp: ({ tenant, accountId }, key, amount) => {
      const till = { subject: 'cafe-till', role: 'TERMINAL', tenant, merchantId: 'cafe' } as const;
      return mutate(till, 'topUp', { key, input: { accountId, amount, method: 'CASH' } });
    },
    refund: ({ tenant }, key, orderId) => {
      const office = { subject: 'cafe-office', role: 'MERCHANT', tenant, merchantId: 'cafe' } as const;
      return mutate(office, 'refund', { key, input: { orderId } });
    },
    adjust: ({ tenant, accountId }, key, asset, amount) => {
      const input = { accountId, asset, amount, reason: 'campaign' };
      return mutate(admin(tenant), 'adjust', { key, input });
    },
    updateProfile: ({ tenant, accountId }, input) =>
      mutate(customer(tenant, accountId), 'updateProfile', { input }),
    read: async ({ tenant, accountId }) => {
      const data = await post(customer(tenant, accountId), DOCUMENTS.read, {});
      if (data === undefined) return undefined;
      const { balances, profile } = walletSchema.parse(data).viewer.wallet;
      return {
        amounts: Object.fromEntries(balances.map(({ asset, amount }) => [asset, amount])),
        profile: Object.fromEntries(Object.entries(profile ?? {}).filter(([, text]) => text !== null)),
      };
    },
  };
}
