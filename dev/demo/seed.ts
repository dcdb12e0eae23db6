import type { GatewayClient } from './gateway-client.ts';

/** Who seeds: an admin what a shop has, customers and a till what they do there. */
export interface SeedTokens {
  readonly admin: string;
  readonly terminal: string;
  readonly alice: string;
  readonly bob: string;
}

/** The ids of orders that are there from the start. */
export interface SeededOrders {
  /** A coffee that alice hasn't paid for yet. */
  readonly toCharge: string;
  /** Toast that bob has paid for. */
  readonly toRefund: string;
}

const PUT_PRODUCT = `mutation ($input: PutProductInput!) { putProduct(input: $input) { __typename } }`;
const UPDATE_PROFILE = `mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { __typename } }`;
const ADJUST = `mutation ($input: AdjustBalanceInput!) {
  adjustBalance(idempotencyKey: "seed-alice-1", input: $input) { __typename }
}`;
const CREATE_ORDER = `mutation ($key: IdempotencyKey!, $input: CreateOrderInput!) {
  createOrder(idempotencyKey: $key, input: $input) {
    __typename ... on CreateOrderSuccess { order { id } }
  }
}`;
const CASH = `mutation {
  topUp(idempotencyKey: "seed-bob-cash-1", input: { accountId: "bob", amount: "350", method: CASH }) { __typename }
}`;
const CHARGE = `mutation ($input: ChargeInput!) {
  charge(idempotencyKey: "seed-bob-charge-1", input: $input) { __typename }
}`;

const PRODUCTS = [
  { merchantId: 'cafe', sku: 'coffee', name: 'Coffee', price: '480', active: true },
  { merchantId: 'cafe', sku: 'toast', name: 'Toast', price: '350', active: true },
];
const PROFILES = [
  { accountId: 'alice', displayName: 'Alice' },
  { accountId: 'bob', displayName: 'Bob' },
];

/**
 * Seeds the demo tenant through the gateway's own API: two products, two customers with a name, something in alice's wallet,
 * an order to pay and one that is paid. Every write sets values or has a fixed key: it may run again.
 */
export async function seed(gateway: GatewayClient, tokens: SeedTokens): Promise<SeededOrders> {
  await seedShop(gateway, tokens.admin);
  const { topUp } = await gateway.run<Answer<'topUp'>>(tokens.terminal, CASH);
  expectSuccess(topUp.__typename);
  const toRefund = await openOrder(gateway, tokens.bob, 'toast');
  const { charge } = await gateway.run<Answer<'charge'>>(tokens.bob, CHARGE, {
    input: { orderId: toRefund },
  });
  expectSuccess(charge.__typename);
  return { toRefund, toCharge: await openOrder(gateway, tokens.alice, 'coffee') };
}

async function seedShop(gateway: GatewayClient, admin: string): Promise<void> {
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

interface CreateOrderAnswer {
  readonly createOrder: { readonly __typename: string; readonly order?: { readonly id: string } };
}

async function openOrder(gateway: GatewayClient, token: string, sku: string): Promise<string> {
  const input = { merchantId: 'cafe', items: [{ sku, quantity: 1 }] };
  const { createOrder } = await gateway.run<CreateOrderAnswer>(token, CREATE_ORDER, {
    key: `seed-order-${sku}-1`,
    input,
  });
  expectSuccess(createOrder.__typename);
  return createOrder.order?.id ?? '';
}

type Answer<Field extends string> = Readonly<Record<Field, { readonly __typename: string }>>;

function expectSuccess(typename: string): void {
  if (!typename.endsWith('Success')) throw new Error(`Seeding the demo tenant failed: ${typename}.`);
}
