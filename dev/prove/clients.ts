import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Role } from '../../src/auth/viewer.ts';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/ledger/kernel/clock.ts';
import { signToken } from '../sign-token.ts';
import { TENANT } from './books.ts';

/** Who sends a request. */
export interface Actor {
  readonly subject: string;
  readonly role: Role;
  readonly merchantId?: string;
}

export const TILL: Actor = { subject: 'cafe-till', role: 'TERMINAL', merchantId: 'cafe' };
export const OFFICE: Actor = { subject: 'cafe-office', role: 'MERCHANT', merchantId: 'cafe' };
export const ADMIN: Actor = { subject: 'root', role: 'ADMIN' };

export function customer(subject: string): Actor {
  return { subject, role: 'CUSTOMER' };
}

const outcomeSchema = z.looseObject({
  __typename: z.string(),
  retry: z.string().optional(),
  order: z.looseObject({ id: z.string() }).optional(),
  entry: z.looseObject({ id: z.string() }).nullish(),
});
const answerSchema = z.union([
  z.object({ data: z.object({ outcome: outcomeSchema }) }),
  z.object({
    errors: z.tuple([z.looseObject({ extensions: z.looseObject({ code: z.string() }) })], z.unknown()),
  }),
]);

/** What came back: a typed outcome, an error by its code, or nothing at all. */
export interface Heard {
  /** The outcome's type or the error's code; LOST without an answer. */
  readonly name: string;
  /** What an outcome says of trying again; undefined of a success. */
  readonly retry: string | undefined;
  readonly orderId: string | undefined;
  readonly entryId: string | undefined;
}

const LOST: Heard = { name: 'LOST', retry: 'SAME_KEY', orderId: undefined, entryId: undefined };
/** Errors that say to come again; the key of the request stays usable. */
const REPEATABLE = new Set(['RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE']);
const ANSWER_TIMEOUT_MS = 20_000;
const PATIENCE_MS = 60_000;
const PAUSE_MS = 25;

/** The operations of money, each with the key that names the request. */
const DOCUMENTS = {
  adjustBalance: 'AdjustBalanceInput',
  cancelOrder: 'CancelOrderInput',
  charge: 'ChargeInput',
  checkout: 'CheckoutInput',
  createOrder: 'CreateOrderInput',
  refund: 'RefundInput',
  topUp: 'TopUpInput',
} as const;
export type MoneyOperation = keyof typeof DOCUMENTS;

const SELECTED: Readonly<Record<MoneyOperation, string>> = {
  adjustBalance: '... on AdjustBalanceSuccess { entry { id } }',
  cancelOrder: '... on CancelOrderSuccess { order { id } }',
  charge: '... on ChargeSuccess { order { id } entry { id } }',
  checkout: '... on CheckoutSuccess { order { id } }',
  createOrder: '... on CreateOrderSuccess { order { id } }',
  refund: '... on RefundSuccess { order { id } entry { id } }',
  topUp: '... on TopUpSuccess { order { id } entry { id } }',
};

function documentOf(operation: MoneyOperation): string {
  return `mutation ($key: IdempotencyKey!, $input: ${DOCUMENTS[operation]}!) {
    outcome: ${operation}(idempotencyKey: $key, input: $input) {
      __typename ... on Failure { retry } ${SELECTED[operation]} } }`;
}

export interface MoneyRequest {
  readonly actor: Actor;
  readonly operation: MoneyOperation;
  readonly key: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A request under a key of its own. */
export function request(
  actor: Actor,
  operation: MoneyOperation,
  input: Readonly<Record<string, unknown>>,
): MoneyRequest {
  return { actor, operation, input, key: randomUUID() };
}

const tokens = new Map<string, Promise<string>>();

export function tokenOf(actor: Actor): Promise<string> {
  const { subject, role, merchantId } = actor;
  const name = JSON.stringify(actor);
  const known = tokens.get(name);
  if (known !== undefined) return known;
  const merchant = merchantId === undefined ? {} : { merchantId };
  const token = signToken(
    loadConfig({}).auth,
    { subject, role, tenant: TENANT, ttlS: 3_600, ...merchant },
    systemClock.nowMs(),
  );
  tokens.set(name, token);
  return token;
}

/** Sends a request once. Never throws: no answer is an answer too. */
export async function sendOnce(url: string, sent: MoneyRequest, token?: string): Promise<Heard> {
  const { actor, operation, key, input } = sent;
  return await post(url, token ?? (await tokenOf(actor)), documentOf(operation), { key, input });
}

async function post(
  url: string,
  token: string,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<Heard> {
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        // Each request on a connection of its own, as from many phones.
        connection: 'close',
      },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    return read(await response.json());
  } catch {
    return LOST;
  }
}

function read(body: unknown): Heard {
  const answer = answerSchema.safeParse(body);
  if (!answer.success) return LOST;
  if ('errors' in answer.data) {
    const { code } = answer.data.errors[0].extensions;
    return { ...LOST, name: code, retry: REPEATABLE.has(code) ? 'SAME_KEY' : 'NEVER' };
  }
  const { __typename, retry, order, entry } = answer.data.data.outcome;
  return { name: __typename, retry, orderId: order?.id, entryId: entry?.id };
}

/**
 * Sends a request under its key until its outcome is known, as docs/CLIENTS.md has it; `heard` is told of every answer.
 * Throws an Error if it isn't within a minute.
 */
export async function insist(
  url: string,
  sent: MoneyRequest,
  heard: (answer: Heard) => void = () => undefined,
): Promise<Heard> {
  const startMs = performance.now();
  for (;;) {
    const answer = await sendOnce(url, sent);
    heard(answer);
    if (answer.retry !== 'SAME_KEY') return answer;
    if (performance.now() - startMs > PATIENCE_MS)
      throw new Error(`${sent.operation} is still ${answer.name} after a minute`);
    await delay(PAUSE_MS);
  }
}

const PUT_PRODUCT = `mutation ($input: PutProductInput!) { outcome: putProduct(input: $input) { __typename } }`;

export async function putProduct(url: string, sku: string, price: string): Promise<void> {
  const input = { merchantId: 'cafe', sku, name: sku, price, active: true };
  const { name } = await post(url, await tokenOf(OFFICE), PUT_PRODUCT, { input });
  if (name !== 'PutProductSuccess') throw new Error(`no product: ${name}`);
}

const REPLAY_EVENT = `mutation ($id: String!) {
  outcome: replayWebhookEvent(providerEventId: $id) { __typename ... on Failure { retry } } }`;

/** Has an event of the provider fetched by its id and applied, as an operator does. */
export async function replayEvent(url: string, providerEventId: string): Promise<Heard> {
  return await post(url, await tokenOf(ADMIN), REPLAY_EVENT, { id: providerEventId });
}
