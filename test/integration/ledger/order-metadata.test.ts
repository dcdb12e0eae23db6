import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import { metadataKey, orderKey } from '../../../src/ledger/kernel/keys.ts';
import { auditTable } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { createOrder } from '../../../src/ledger/usecases/commands/create-order.ts';
import { issuePaymentCode } from '../../../src/ledger/usecases/commands/issue-payment-code.ts';
import { type Harness, admin, customer, makeHarness, terminal } from '../../support/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
});
afterAll(() => {
  harness.close();
});

const plain = { merchantId: 'm_1', accountId: 'u_1', amount: '5', description: 'goods' };
const METADATA = [
  { key: 'table', value: '４番' },
  { key: 'cart', value: 'c-77' },
];

type Input = Parameters<typeof createOrder>[3];

async function create(input: Partial<Input>, key = harness.key()): ReturnType<typeof createOrder> {
  return createOrder(harness.ledger, admin(), key, { ...plain, ...input });
}

async function created(
  input: Partial<Input>,
): Promise<{ tenant: string; accountId: string; orderId: string }> {
  const outcome = await create(input);
  if (outcome.kind !== 'CreateOrderSuccess') throw new Error(outcome.kind);
  return { tenant: 't_1', accountId: outcome.accountId, orderId: outcome.orderId };
}

describe('an order', () => {
  it('keeps its reference, and its metadata in an item beside it', async () => {
    const ref = await created({ reference: ' INV-7 ', metadata: METADATA });
    const [order, metadata] = await harness.ledger.store.get([orderKey(ref), metadataKey(ref)]);
    expect([order?.['reference'], order?.['has_metadata']]).toEqual([{ S: 'INV-7' }, { BOOL: true }]);
    expect(JSON.stringify(order)).not.toContain('c-77');
    expect(metadata).toEqual({
      uuid: { S: 't_1#u_1' },
      type: { S: `METADATA#${ref.orderId}` },
      metadata: {
        L: [{ M: { k: { S: 'table' }, v: { S: '４番' } } }, { M: { k: { S: 'cart' }, v: { S: 'c-77' } } }],
      },
    });
  });

  it('without either has neither attribute nor item', async () => {
    const ref = await created({ metadata: [] });
    const [order, metadata] = await harness.ledger.store.get([orderKey(ref), metadataKey(ref)]);
    expect([order?.['reference'], order?.['has_metadata'], metadata]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('that a terminal opens with a payment code has them too', async () => {
    const { code: paymentCode } = await issuePaymentCode(harness.ledger, customer('u_2'));
    const outcome = await createOrder(harness.ledger, terminal(), harness.key(), {
      merchantId: 'm_1',
      paymentCode,
      amount: '5',
      description: 'lunch',
      reference: 'receipt 12',
      metadata: METADATA,
    });
    if (outcome.kind !== 'CreateOrderSuccess') throw new Error(outcome.kind);
    expect(await harness.order('t_1', 'u_2', outcome.orderId)).toMatchObject({
      reference: 'receipt 12',
      hasMetadata: true,
    });
  });

  it('is the same request with the same of them alone', async () => {
    const key = harness.key();
    const first = await create({ reference: 'a', metadata: METADATA }, key);
    expect(await create({ reference: 'a', metadata: METADATA }, key)).toEqual({ ...first, replayed: true });
    for (const other of [
      { reference: 'b', metadata: METADATA },
      { reference: 'a' },
      { reference: 'a', metadata: [METADATA[0] ?? { key: 'x', value: 'y' }] },
    ])
      expect((await create(other, key)).kind).toBe('IdempotencyKeyReused');
  });

  it.each<readonly [string, Partial<Input>, readonly string[], string]>([
    ['a reference of 65 bytes', { reference: 'x'.repeat(65) }, ['reference'], 'too_large'],
    [
      'a reference of 22 characters of three bytes',
      { reference: '三'.repeat(22) },
      ['reference'],
      'too_large',
    ],
    ['an empty reference', { reference: ' ' }, ['reference'], 'too_small'],
    ['a reference with a line break', { reference: 'a\nb' }, ['reference'], 'bad_text'],
    [
      'a key twice',
      {
        metadata: [
          { key: 'a', value: '1' },
          { key: 'b', value: '2' },
          { key: 'a', value: '3' },
        ],
      },
      ['metadata', '2', 'key'],
      'bad_value',
    ],
    [
      'a key of 39 characters',
      { metadata: [{ key: 'k'.repeat(39), value: '1' }] },
      ['metadata', '0', 'key'],
      'bad_format',
    ],
    [
      'a key with brackets',
      { metadata: [{ key: 'a[b]', value: '1' }] },
      ['metadata', '0', 'key'],
      'bad_format',
    ],
    ['an empty value', { metadata: [{ key: 'a', value: '' }] }, ['metadata', '0', 'value'], 'too_small'],
    [
      'a value of 501 characters',
      { metadata: [{ key: 'a', value: 'v'.repeat(501) }] },
      ['metadata', '0', 'value'],
      'too_large',
    ],
    [
      '21 entries',
      { metadata: Array.from({ length: 21 }, (_, index) => ({ key: `k${String(index)}`, value: 'v' })) },
      ['metadata'],
      'too_large',
    ],
  ])('is refused with %s', async (_what, input, path, code) => {
    expect(await create(input)).toMatchObject({ kind: 'InvalidInput', issues: [{ path, code }] });
  });

  it('takes a reference of 64 bytes, and twenty entries at their longest', async () => {
    const metadata = Array.from({ length: 20 }, (_, index) => ({
      key: `k${String(index)}`.padEnd(38, 'x'),
      value: '三'.repeat(500),
    }));
    const ref = await created({ reference: '三'.repeat(21), metadata });
    expect((await harness.order('t_1', 'u_1', ref.orderId)).reference).toBe('三'.repeat(21));
  });
});

describe('the audit', () => {
  async function problems(): Promise<readonly unknown[]> {
    const report = await auditTable(harness.ledger.store, { segments: 1, wait: () => Promise.resolve() });
    return report.problems;
  }

  it('finds metadata that is lost, and metadata of no order', async () => {
    expect(await problems()).toEqual([]);
    const { client, tableName: TableName } = harness;
    const lost = await created({ metadata: METADATA });
    await client.send(new DeleteItemCommand({ TableName, Key: toAttributes({ ...metadataKey(lost) }) }));
    const stray = await created({});
    const Item = { ...toAttributes({ ...metadataKey(stray) }), metadata: { L: [] } };
    await client.send(new PutItemCommand({ TableName, Item }));
    const finding = { tenant: 't_1', accountId: 'u_1', promise: 'I4', what: 'metadata' };
    expect(await problems()).toEqual([
      { ...finding, item: `ORDER#${lost.orderId}`, expected: 'there', found: 'none' },
      { ...finding, item: `METADATA#${stray.orderId}`, expected: 'of an order that has some', found: 'none' },
    ]);
  });
});
