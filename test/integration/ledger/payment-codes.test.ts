import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createPaymentCodes } from '../../../src/auth/payment-code.ts';
import type { Viewer } from '../../../src/auth/viewer.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import { issuePaymentCode } from '../../../src/ledger/usecases/commands/issue-payment-code.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { type Harness, admin, customer, makeHarness, merchant, terminal } from '../../support/harness.ts';

let harness: Harness;
let ledger: Ledger;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  ({ ledger } = harness);
});
afterAll(() => {
  harness.close();
});

async function codeOf(name: string, tenant = 't_1'): Promise<string> {
  return (await issuePaymentCode(ledger, customer(name, tenant))).code;
}

function scan(
  paymentCode: string,
  key = harness.key(),
  viewer: Viewer = terminal(),
): ReturnType<typeof createOrder> {
  const merchantId = viewer.merchantId ?? 'm_1';
  return createOrder(ledger, viewer, key, { merchantId, paymentCode, amount: '5.00', description: 'lunch' });
}

const BAD_CODE = { kind: 'InvalidInput', issues: [{ path: ['paymentCode'], code: 'bad_code' }] };

describe('a payment code', () => {
  it('names the account and is its consent: the till opens and charges the order', async () => {
    await harness.fund('t_1', 'w_1', '50.00');
    const opened = await scan(await codeOf('w_1'));
    expect(opened).toMatchObject({ kind: 'CreateOrderSuccess', accountId: 'w_1' });
    if (opened.kind !== 'CreateOrderSuccess') return;
    const orderId = encodeNodeId('Order', 't_1', 'w_1', opened.orderId);
    expect((await charge(ledger, terminal(), harness.key(), { orderId })).kind).toBe('ChargeSuccess');
    expect(await harness.balance('t_1', 'w_1')).toBe('45');
  });

  it('opens one order, however many tills scan it at once', async () => {
    const code = await codeOf('w_2');
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => scan(code)));
    const kinds = outcomes.map((outcome) => outcome.kind);
    expect(kinds.filter((kind) => kind === 'CreateOrderSuccess')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome.kind === 'InvalidInput')).toHaveLength(19);
    for (const outcome of outcomes) {
      if (outcome.kind === 'InvalidInput') expect(outcome.issues[0]?.code).toBe('used_code');
    }
    const orders = await ledger.store.query({
      uuid: 't_1#w_2',
      prefix: 'ORDER#',
      limit: 100,
      newestFirst: false,
    });
    expect(orders).toHaveLength(1);
  });

  it('answers a retry of the till that used it, also after it has expired', async () => {
    const code = await codeOf('w_3');
    const key = harness.key();
    const first = await scan(code, key);
    expect(await scan(code, key)).toEqual({ ...first, replayed: true });
    harness.clock.advance(10 * 60_000);
    expect(await scan(code, key)).toEqual({ ...first, replayed: true });
  });

  it('is used up only by an order that was opened', async () => {
    const code = await codeOf('w_4');
    const bad = { merchantId: 'm_1', paymentCode: code, items: [{ sku: 'no-such', quantity: 1 }] };
    expect(await createOrder(ledger, terminal(), harness.key(), bad)).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ code: 'unknown_sku' }],
    });
    expect((await scan(code)).kind).toBe('CreateOrderSuccess');
  });

  it('lives five minutes, to the second', async () => {
    const code = await codeOf('w_5');
    const other = await codeOf('w_5');
    harness.clock.advance(5 * 60_000 - 1_000);
    expect((await scan(code)).kind).toBe('CreateOrderSuccess');
    harness.clock.advance(1_000);
    expect(await scan(other)).toMatchObject(BAD_CODE);
  });

  it('that is forged, altered or no code is refused, and leaves the key usable', async () => {
    const claims = { tenant: 't_1', accountId: 'w_6', codeId: '01HZY3V9QK7F0B6W8N4T2D5XCM' };
    const expiresAtMs = harness.clock.nowMs() + 60_000;
    const forged = await createPaymentCodes('another-secret-of-somebody-else-entirely').issue({
      ...claims,
      expiresAtMs,
    });
    const good = await codeOf('w_6');
    const [header = '', payload = '', signature = ''] = good.split('.');
    const other = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const altered = Buffer.from(JSON.stringify({ ...other, sub: 'w_1' })).toString('base64url');
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
    const key = harness.key();
    for (const code of [
      forged,
      `${header}.${altered}.${signature}`,
      `${unsigned}.${payload}.`,
      `${header}.${payload}`,
      `${good}x`,
      '',
      'a.b.c',
      'x'.repeat(2_048),
    ]) {
      expect(await scan(code, key), code.slice(0, 20)).toMatchObject(BAD_CODE);
    }
    expect((await scan(good, key)).kind).toBe('CreateOrderSuccess');
  });

  it('of another tenant is none here', async () => {
    expect(await scan(await codeOf('w_7', 'demo'))).toMatchObject(BAD_CODE);
  });

  it('is for terminals, and names the account alone', async () => {
    const code = await codeOf('w_8');
    const input = { merchantId: 'm_1', paymentCode: code, amount: '5.00', description: 'd' };
    for (const viewer of [admin(), merchant(), customer('w_8')]) {
      expect(await createOrder(ledger, viewer, harness.key(), input)).toMatchObject({
        kind: 'InvalidInput',
        issues: [{ path: ['paymentCode'], code: 'not_allowed' }],
      });
    }
    const both = { ...input, accountId: 'w_8' };
    expect(await createOrder(ledger, terminal(), harness.key(), both)).toMatchObject({
      kind: 'InvalidInput',
    });
    const elsewhere = { ...input, merchantId: 'm_2' };
    expect(await createOrder(ledger, terminal(), harness.key(), elsewhere)).toEqual({ kind: 'NotFound' });
    expect((await scan(code)).kind).toBe('CreateOrderSuccess');
  });
});

describe('a terminal', () => {
  it('charges only what the customer consented to', async () => {
    await harness.fund('t_1', 'w_9', '50.00');
    const input = { merchantId: 'm_1', accountId: 'w_9', amount: '5.00', description: 'd' };
    const opened = await createOrder(ledger, terminal(), harness.key(), input);
    if (opened.kind !== 'CreateOrderSuccess') throw new Error(opened.kind);
    const orderId = encodeNodeId('Order', 't_1', 'w_9', opened.orderId);
    const key = harness.key();
    expect(await charge(ledger, terminal(), key, { orderId })).toMatchObject({
      kind: 'InvalidInput',
      issues: [{ code: 'consent_required' }],
    });
    expect(await charge(ledger, terminal('m_2'), key, { orderId })).toEqual({ kind: 'NotFound' });
    expect((await charge(ledger, customer('w_9'), key, { orderId })).kind).toBe('ChargeSuccess');
    expect(await harness.balance('t_1', 'w_9')).toBe('45');
  });
});
