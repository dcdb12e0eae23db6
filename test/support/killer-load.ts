import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { signToken } from '../../dev/sign-token.ts';
import type { Role } from '../../src/auth/viewer.ts';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/ledger/kernel/clock.ts';

/** A request whose answer was lost, or said to send it again. */
export interface Unsettled {
  readonly customer: string;
  readonly key: string;
  readonly orderId: string;
}

export interface Charged {
  readonly customer: string;
  readonly orderId: string;
  readonly entryId: string;
}

/** Customers that buy coffee one after another until told to stop, and send again whatever they don't know of. */
export interface Load {
  /** Charges that the gateway acknowledged. */
  readonly acknowledged: readonly Charged[];
  /** How many answers were lost or asked to be asked again. */
  readonly lost: () => number;
  /** Resolves when this many charges more are acknowledged; rejects if a customer met what can't be. */
  readonly whenAcknowledged: (more: number) => Promise<void>;
  /** Lets every customer finish its request; gives the charges whose outcome nobody knows. */
  readonly stop: () => Promise<readonly Unsettled[]>;
  /** Sends a charge once more, under its key. */
  readonly sendAgain: (unsettled: Unsettled) => Promise<Charged | undefined>;
}

export const FUNDS = '40000';

const answerSchema = z.object({
  data: z.object({
    outcome: z.object({
      __typename: z.string(),
      order: z.object({ id: z.string() }).optional(),
      entry: z.object({ id: z.string() }).optional(),
      retry: z.string().optional(),
    }),
  }),
});
type Outcome = z.output<typeof answerSchema>['data']['outcome'];

const FIELDS = '__typename ... on Failure { retry }';
const DOCUMENTS = {
  adjust: `mutation ($key: IdempotencyKey!, $input: AdjustBalanceInput!) {
    outcome: adjustBalance(idempotencyKey: $key, input: $input) { ${FIELDS} } }`,
  putProduct: `mutation ($input: PutProductInput!) { outcome: putProduct(input: $input) { ${FIELDS} } }`,
  createOrder: `mutation ($key: IdempotencyKey!, $input: CreateOrderInput!) {
    outcome: createOrder(idempotencyKey: $key, input: $input) {
      ${FIELDS} ... on CreateOrderSuccess { order { id } } } }`,
  charge: `mutation ($key: IdempotencyKey!, $input: ChargeInput!) {
    outcome: charge(idempotencyKey: $key, input: $input) {
      ${FIELDS} ... on ChargeSuccess { order { id } entry { id } } } }`,
} as const;

/** Sends one document; undefined when nothing is known but that it may be sent again. Throws for any other answer. */
async function send(
  url: string,
  token: string,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<Outcome | undefined> {
  let body: unknown;
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(30_000),
    });
    body = await response.json();
  } catch {
    return undefined;
  }
  const answer = answerSchema.safeParse(body);
  // Masked errors and refusals at the edge: nothing that says what became of the request.
  if (!answer.success) return undefined;
  const { outcome } = answer.data.data;
  if (outcome.retry === 'SAME_KEY') return undefined;
  if (outcome.retry !== undefined) throw new Error(`a customer got ${outcome.__typename}`);
  return outcome;
}

function tokenFor(subject: string, role: Role, merchantId?: string): Promise<string> {
  const request = { subject, role, tenant: 'demo', ttlS: 12 * 3_600 };
  const merchant = merchantId === undefined ? {} : { merchantId };
  return signToken(loadConfig({}).auth, { ...request, ...merchant }, systemClock.nowMs());
}

async function fund(url: string, customers: readonly string[]): Promise<void> {
  const product = { merchantId: 'cafe', sku: 'coffee', name: 'Coffee', price: '480', active: true };
  await send(url, await tokenFor('cafe-office', 'MERCHANT', 'cafe'), DOCUMENTS.putProduct, {
    input: product,
  });
  const admin = await tokenFor('root', 'ADMIN');
  for (const customer of customers) {
    const input = { accountId: customer, asset: 'ECOPAY', amount: FUNDS, reason: 'killer' };
    const funded = await send(url, admin, DOCUMENTS.adjust, { key: randomUUID(), input });
    if (funded === undefined) throw new Error('a wallet could not be funded');
  }
}

export async function startLoad(url: string, customers: readonly string[]): Promise<Load> {
  await fund(url, customers);
  const acknowledged: Charged[] = [];
  const unsettled: Unsettled[] = [];
  const heard = new EventTarget();
  let lost = 0;
  let stopping = false;

  const pay = async ({ customer, key, orderId }: Unsettled): Promise<Charged | undefined> => {
    const token = await tokenFor(customer, 'CUSTOMER');
    const outcome = await send(url, token, DOCUMENTS.charge, { key, input: { orderId } });
    if (outcome?.entry === undefined) return undefined;
    const charged = { customer, orderId, entryId: outcome.entry.id };
    acknowledged.push(charged);
    heard.dispatchEvent(new Event('acknowledged'));
    return charged;
  };
  /** Asks until there is an answer. A customer looks at its phone now and then; the gateway may be down. */
  const insist = async <Answer>(ask: () => Promise<Answer | undefined>): Promise<Answer | undefined> => {
    for (;;) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      lost += 1;
      if (stopping) return undefined;
      await delay(20);
    }
  };
  const live = async (customer: string): Promise<void> => {
    const token = await tokenFor(customer, 'CUSTOMER');
    while (!stopping) {
      const key = randomUUID();
      const input = { merchantId: 'cafe', items: [{ sku: 'coffee', quantity: 1 }] };
      const opened = await insist(() => send(url, token, DOCUMENTS.createOrder, { key, input }));
      if (opened?.order === undefined) return;
      const request = { customer, key: randomUUID(), orderId: opened.order.id };
      if ((await insist(() => pay(request))) === undefined) unsettled.push(request);
    }
  };
  const lives = Promise.all(customers.map(live));
  // What a customer met that can't be is thrown where the load is awaited.
  lives.catch(() => undefined);

  return {
    acknowledged,
    lost: () => lost,
    whenAcknowledged: async (more) => {
      const goal = acknowledged.length + more;
      const reached = new Promise<void>((resolve) => {
        const look = (): void => {
          if (acknowledged.length < goal) return;
          heard.removeEventListener('acknowledged', look);
          resolve();
        };
        heard.addEventListener('acknowledged', look);
      });
      await Promise.race([reached, lives]);
    },
    stop: async () => {
      stopping = true;
      await lives;
      return unsettled;
    },
    sendAgain: pay,
  };
}
