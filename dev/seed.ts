import type { GatewayClient } from './gateway-client.ts';

/** What a fresh demo tenant has: two products, two customers with a name, and something in the first one's wallet. */
export interface SeedTokens {
  readonly admin: string;
}

const PUT_PRODUCT = `mutation ($input: PutProductInput!) { putProduct(input: $input) { __typename } }`;
const UPDATE_PROFILE = `mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { __typename } }`;
const ADJUST = `mutation ($input: AdjustBalanceInput!) {
  adjustBalance(idempotencyKey: "seed-alice-1", input: $input) { __typename }
}`;

const PRODUCTS = [
  { merchantId: 'cafe', sku: 'coffee', name: 'Coffee', price: '480', active: true },
  { merchantId: 'cafe', sku: 'toast', name: 'Toast', price: '350', active: true },
];
const PROFILES = [
  { accountId: 'alice', displayName: 'Alice' },
  { accountId: 'bob', displayName: 'Bob' },
];

/** Seeds the demo tenant through the gateway's own API. Every write sets values or has a fixed key: it may run again. */
export async function seed(gateway: GatewayClient, { admin }: SeedTokens): Promise<void> {
  for (const input of PRODUCTS) {
    const { putProduct } = await gateway.run<Answer<'putProduct'>>(admin, PUT_PRODUCT, { input });
    expectSuccess(putProduct.__typename);
  }
  for (const input of PROFILES) {
    const { updateProfile } = await gateway.run<Answer<'updateProfile'>>(admin, UPDATE_PROFILE, { input });
    expectSuccess(updateProfile.__typename);
  }
  const input = {
    accountId: 'alice',
    asset: 'ECOPAY',
    amount: '5000',
    reason: 'opening balance of the demo',
  };
  const { adjustBalance } = await gateway.run<Answer<'adjustBalance'>>(admin, ADJUST, { input });
  expectSuccess(adjustBalance.__typename);
}

type Answer<Field extends string> = Readonly<Record<Field, { readonly __typename: string }>>;

function expectSuccess(typename: string): void {
  if (!typename.endsWith('Success')) throw new Error(`Seeding the demo tenant failed: ${typename}.`);
}
