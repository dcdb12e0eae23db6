import { describe, expect, it } from 'vitest';
import { isId, isTenantId, isUlid } from '../../../../src/ledger/kernel/id-grammar.ts';
import {
  assetOfBalanceType,
  balanceKey,
  entryKey,
  eventKey,
  isAsset,
  idempotencyRecordKey,
  metricsKey,
  orderKey,
  partition,
  paymentCodeKey,
  paymentKey,
  productKey,
  profileKey,
  systemKey,
} from '../../../../src/ledger/kernel/keys.ts';
import { decodeNodeId, encodeNodeId, nodeParts } from '../../../../src/ledger/items/node-ids.ts';

const ULID = '01HZY3V9QK7F0B6W8N4T2D5XCM';
const account = { tenant: 'demo', accountId: 'alice' };

describe('key forms', () => {
  it('are the ones of the table’s first day', () => {
    expect(balanceKey({ ...account, asset: 'ECOPAY' })).toEqual({
      uuid: 'demo#alice',
      type: 'BALANCE#ECOPAY',
    });
    expect(balanceKey({ ...account, asset: 'REGIONAL/kyoto' })).toEqual({
      uuid: 'demo#alice',
      type: 'BALANCE#REGIONAL#kyoto',
    });
    expect(metricsKey(account)).toEqual({ uuid: 'demo#alice', type: 'METRICS' });
    expect(profileKey(account)).toEqual({ uuid: 'demo#alice', type: 'PROFILE' });
    expect(orderKey({ ...account, orderId: ULID })).toEqual({ uuid: 'demo#alice', type: `ORDER#${ULID}` });
    expect(entryKey({ ...account, entryId: ULID })).toEqual({ uuid: 'demo#alice', type: `ENTRY#${ULID}` });
    expect(productKey({ tenant: 'demo', merchantId: 'cafe', sku: 'coffee' })).toEqual({
      uuid: 'demo#cafe',
      type: 'PRODUCT#coffee',
    });
    expect(
      idempotencyRecordKey({ tenant: 'demo', principal: 'alice', operation: 'charge', key: 'a#b/c~!' }),
    ).toEqual({
      uuid: 'demo#alice',
      type: 'card_op_idem#charge#a#b/c~!',
    });
    expect(paymentCodeKey(account, ULID)).toEqual({ uuid: 'demo#alice', type: `CODE#${ULID}` });
    expect(paymentKey('pi_1')).toEqual({ uuid: 'stripe#pi_1', type: 'PAYMENT' });
    expect(eventKey('evt_1')).toEqual({ uuid: 'stripe#evt_1', type: 'EVENT' });
    expect(systemKey('relay', 'CHECKPOINT')).toEqual({ uuid: 'system#relay', type: 'CHECKPOINT' });
  });

  it('tell a balance’s asset again', () => {
    expect(assetOfBalanceType('BALANCE#ECOPAY')).toBe('ECOPAY');
    expect(assetOfBalanceType('BALANCE#REGIONAL#kyoto')).toBe('REGIONAL/kyoto');
  });

  it('refuse parts that could name another key', () => {
    expect(() => partition('stripe', 'pi_1')).toThrow(RangeError);
    expect(() => partition('system', 'relay')).toThrow(RangeError);
    expect(() => partition('demo', 'a#b')).toThrow(RangeError);
    expect(() => partition('demo', '')).toThrow(RangeError);
    expect(() => partition('de#mo', 'alice')).toThrow(RangeError);
    expect(() => balanceKey({ ...account, asset: 'GOLD' })).toThrow(RangeError);
    expect(() => orderKey({ ...account, orderId: 'x' })).toThrow(RangeError);
    expect(() => productKey({ tenant: 'demo', merchantId: 'cafe', sku: 'a#b' })).toThrow(RangeError);
  });
});

describe('the grammar of ids', () => {
  it('takes names, and no email, separator, blank or more than 128 characters', () => {
    for (const id of ['a', 'A-1', 'auth0|64f', 'u.1:x_y', '9', 'a'.repeat(128)]) expect(isId(id)).toBe(true);
    for (const id of ['', '-a', '.a', 'a@b.test', 'a#b', 'a b', 'é', 'a\n', 'a'.repeat(129), 'a/b'])
      expect(isId(id)).toBe(false);
  });

  it('keeps the table’s own prefixes from being tenants', () => {
    expect(isTenantId('stripe')).toBe(false);
    expect(isTenantId('system')).toBe(false);
    expect(isTenantId('stripes')).toBe(true);
  });

  it('knows a ULID, and assets', () => {
    expect(isUlid(ULID)).toBe(true);
    for (const id of [
      ULID.toLowerCase(),
      `8${ULID.slice(1)}`,
      ULID.slice(1),
      `${ULID}0`,
      ULID.replace('K', 'U'),
    ])
      expect(isUlid(id)).toBe(false);
    for (const asset of ['ECOPAY', 'POINT', 'JCREDIT', 'REGIONAL/kyoto']) expect(isAsset(asset)).toBe(true);
    for (const asset of ['ecopay', 'GOLD', 'REGIONAL/', 'REGIONAL/a#b', 'REGIONAL/a/b', ''])
      expect(isAsset(asset)).toBe(false);
  });
});

describe('public ids', () => {
  const id = encodeNodeId('Order', 'demo', 'alice', ULID);

  it('carry the keys, opaquely', () => {
    expect(id).toBe('T3JkZXIjZGVtbyNhbGljZSMwMUhaWTNWOVFLN0YwQjZXOE40VDJENVhDTQ');
    expect(decodeNodeId(id)).toEqual({ kind: 'Order', parts: ['demo', 'alice', ULID] });
    expect(nodeParts('Order', 'demo', id)).toEqual(['alice', ULID]);
  });

  it('of another tenant or kind are not there', () => {
    expect(nodeParts('Order', 't_1', id)).toBeUndefined();
    expect(nodeParts('Entry', 'demo', id)).toBeUndefined();
  });

  it('that are malformed are not there, and never an error', () => {
    const raw = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');
    const malformed = [
      '',
      'x',
      '!!!!',
      `${id}=`,
      `${id}A`,
      ` ${id}`,
      id.slice(0, -1),
      id.toLowerCase(),
      Buffer.from(`Order#demo#alice#${ULID}`).toString('base64') + '==',
      raw('Order'),
      raw('Order#demo#alice'),
      raw(`Order#demo#alice#${ULID}#more`),
      raw(`Order#stripe#alice#${ULID}`),
      raw(`Order#demo##${ULID}`),
      raw(`Order#demo#a@b.test#${ULID}`),
      raw('Order#demo#alice#not-a-ulid'),
      raw(`order#demo#alice#${ULID}`),
      raw(`constructor#demo#alice#${ULID}`),
      raw(`__proto__#demo`),
      raw('Balance#demo#alice#GOLD'),
      raw(`Step#demo#alice#${ULID}#`),
      Buffer.from([0xff, 0xfe, 0x00]).toString('base64url'),
      'A'.repeat(1_025),
      'A'.repeat(1_000_000),
    ];
    for (const text of malformed) expect(decodeNodeId(text), text.slice(0, 40)).toBeUndefined();
  });
});
