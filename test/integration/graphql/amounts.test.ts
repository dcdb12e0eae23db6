import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ViewerDocument } from '../../support/generated/documents.ts';
import {
  ADMIN,
  ALICE,
  type Gateway,
  type Principal,
  SELLER,
  TILL,
  codesOf,
  dataOf,
  startGateway,
} from '../../support/gateway.ts';
import { fund, openOrder } from './money.ts';

let gateway: Gateway;
let paidOrder: string;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
  await fund(gateway, ALICE, '9999999999999999.99');
  paidOrder = await openOrder(gateway, ALICE, '20.00');
  const paid = await gateway.run(
    ALICE,
    `mutation { charge(idempotencyKey: "pay", input: { orderId: "${paidOrder}" }) { __typename } }`,
  );
  expect(dataOf(paid)).toEqual({ charge: { __typename: 'ChargeSuccess' } });
});
afterAll(() => gateway.close());

/** Every mutation that takes an amount, with it as a variable or as a literal. */
const MUTATIONS: readonly (readonly [string, Principal, (amount: string) => string])[] = [
  [
    'createOrder',
    SELLER,
    (amount) =>
      `createOrder(idempotencyKey: "hostile", input: { merchantId: "m_1", accountId: "alice", amount: ${amount}, description: "d" })`,
  ],
  [
    'topUp',
    TILL,
    (amount) =>
      `topUp(idempotencyKey: "hostile", input: { accountId: "alice", amount: ${amount}, method: CASH })`,
  ],
  [
    'topUp',
    ALICE,
    (amount) =>
      `topUp(idempotencyKey: "hostile", input: { amount: ${amount}, method: CHECKOUT, successUrl: "https://shop.example/a", cancelUrl: "https://shop.example/b" })`,
  ],
  [
    'refund',
    SELLER,
    (amount) => `refund(idempotencyKey: "hostile", input: { orderId: "${paidOrder}", amount: ${amount} })`,
  ],
  [
    'adjustBalance',
    ADMIN,
    (amount) =>
      `adjustBalance(idempotencyKey: "hostile", input: { accountId: "alice", asset: "ECOPAY", amount: ${amount}, reason: "r" })`,
  ],
  [
    'putProduct',
    SELLER,
    (amount) =>
      `putProduct(input: { merchantId: "m_1", sku: "s", name: "n", price: ${amount}, active: true })`,
  ],
];

const MALFORMED = [
  'NaN', 'Infinity', '-Infinity', '1e3', '1E-2', '0x1f', '0b11', '0o17', '1_000', '1,000', '+5', '.5', '5.', ' 10', '10 ',
  '１０', '', '--1', '01', '1.2.3', `1${'0'.repeat(40)}`,
]; // prettier-ignore

const NO_STRINGS: readonly unknown[] = [0.1, 10, 3_000_000_000, true, [], ['1'], {}];

async function balance(): Promise<string | undefined> {
  const { viewer } = dataOf(await gateway.run(ALICE, ViewerDocument));
  return viewer.wallet?.balances.find(({ asset }) => asset === 'ECOPAY')?.amount;
}

/** The input of a call, as the value of a variable. */
function inputOf(call: string): unknown {
  const [, literal = ''] = /input: (\{.*\})/.exec(call) ?? [];
  return JSON.parse(literal.replace(/(\w+): /g, '"$1": ').replace(/: (CASH|CHECKOUT)\b/, ': "$1"'));
}

/** What is wrong with a request, and with which of its arguments. */
function blamed({ errors }: Awaited<ReturnType<Gateway['run']>>): readonly unknown[] {
  return errors.map(({ extensions }) => [extensions['code'], extensions['argument']]);
}

describe.each(MUTATIONS)('%s', (name, principal, call) => {
  const field = name === 'putProduct' ? 'price' : 'amount';
  const withVariable = (amount: unknown): ReturnType<Gateway['run']> =>
    gateway.run<unknown, { amount: unknown }>(
      principal,
      `mutation($amount: Decimal!) { ${call('$amount')} { __typename ... on InvalidInput { issues { path } } } }`,
      { amount },
    );

  it.each(MALFORMED)('refuses a malformed amount before any rule: %j', async (amount) => {
    expect(blamed(await withVariable(amount))).toEqual([['BAD_REQUEST', ['input', field]]]);
    const literal = await gateway.run(
      principal,
      `mutation { ${call(JSON.stringify(amount))} { __typename } }`,
    );
    expect(blamed(literal)).toEqual([['BAD_REQUEST', ['input', field]]]);
  });

  it('names the argument where the whole input is a variable, and does not repeat its value', async () => {
    const key = call('').includes('idempotencyKey') ? 'idempotencyKey: "hostile", ' : '';
    const answer = await gateway.run<unknown, Record<string, unknown>>(
      principal,
      `mutation($i: ${name[0]?.toUpperCase() ?? ''}${name.slice(1)}Input!) { ${name}(${key}input: $i) { __typename } }`,
      { i: inputOf(call('"1e3"')) },
    );
    expect(blamed(answer)[0]).toEqual(['BAD_REQUEST', ['input', field]]);
    expect(JSON.stringify(answer)).not.toContain('1e3');
  });

  it.each(NO_STRINGS)('refuses an amount that is no string: %j', async (amount) => {
    expect(blamed(await withVariable(amount))).toEqual([['BAD_REQUEST', ['input', field]]]);
  });

  it.each(['10.10', '0.1', '9007199254740993', '-1', 'true', '[]', 'ECOPAY'])(
    'refuses a literal that is no string: %s',
    async (literal) => {
      const answer = await gateway.run(principal, `mutation { ${call(literal)} { __typename } }`);
      expect(blamed(answer)).toEqual([['BAD_REQUEST', ['input', field]]]);
    },
  );

  it.each(['-0', '0', '0.00', '0.001', '1'.padEnd(19, '0')])(
    'refuses an amount that can not be one: %s',
    async (amount) => {
      const [answer] = Object.values(dataOf(await withVariable(amount)) as Record<string, unknown>);
      expect(answer).toMatchObject({ __typename: 'InvalidInput', issues: [{ path: [field] }] });
    },
  );
});

it.each(MUTATIONS.filter(([name]) => name !== 'adjustBalance'))(
  '%s refuses a negative amount',
  async (name, principal, call) => {
    const [answer] = Object.values(
      dataOf(
        await gateway.run<Record<string, unknown>, never>(
          principal,
          `mutation { ${call('"-10.00"')} { __typename ... on InvalidInput { issues { path code } } } }`,
        ),
      ),
    );
    const path = [name === 'putProduct' ? 'price' : 'amount'];
    expect(answer).toEqual({ __typename: 'InvalidInput', issues: [{ path, code: 'not_positive' }] });
  },
);

it('says what it takes, and does not repeat what it got', async () => {
  const { errors } = await gateway.run<unknown, { amount: string }>(
    ADMIN,
    'mutation($amount: Decimal!) { adjustBalance(idempotencyKey: "k", input: { accountId: "alice", asset: "ECOPAY", amount: $amount, reason: "r" }) { __typename } }',
    { amount: '1e3' },
  );
  expect(errors[0]?.message).toContain('Decimal takes a string in plain decimal notation');
});

it.each([
  ['empty', '""'],
  ['a blank', '"a b"'],
  ['a line break', '"a\\n"'],
  ['beyond ASCII', '"é"'],
  ['too long', JSON.stringify('k'.repeat(256))],
  ['a number', '1'],
  ['null', 'null'],
])('refuses an idempotency key that is none: %s', async (_, key) => {
  const answer = await gateway.run(
    ALICE,
    `mutation { cancelOrder(idempotencyKey: ${key}, input: { orderId: "x" }) { __typename } }`,
  );
  expect(codesOf(answer)).toEqual(['BAD_REQUEST']);
});

it('moved no money for all that, and shows amounts in full, as strings', async () => {
  expect(await balance()).toBe('9999999999999979.99');
});
