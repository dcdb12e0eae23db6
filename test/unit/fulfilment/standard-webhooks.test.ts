import { describe, expect, it } from 'vitest';
import { isAuthentic } from '../../../dev/demo/merchant-receiver.ts';
import { signedHeaders } from '../../../src/fulfilment/standard-webhooks.ts';

// The example of the specification's own libraries.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const MESSAGE = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestampS: 1_614_265_330,
  body: '{"test": 2432232314}',
};
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
const OTHER_SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';

describe('a signed message', () => {
  it('has the signature that the specification gives', () => {
    expect(signedHeaders(MESSAGE, [SECRET])).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': SIGNATURE,
    });
  });

  it('carries one signature per active secret while one is being rotated', () => {
    const { 'webhook-signature': signatures } = signedHeaders(MESSAGE, [OTHER_SECRET, SECRET]);
    expect(signatures.split(' ')).toHaveLength(2);
    expect(signatures.split(' ')[1]).toBe(SIGNATURE);
  });

  it('is never sent unsigned', () => {
    expect(() => signedHeaders(MESSAGE, [])).toThrow(RangeError);
  });
});

describe("the receiver's example", () => {
  const headers = { ...signedHeaders(MESSAGE, [OTHER_SECRET, SECRET]) };
  const body = Buffer.from(MESSAGE.body);
  const check = (
    given: Partial<Record<string, string>> = {},
    bytes = body,
    secret = SECRET,
    nowS = MESSAGE.timestampS,
  ): boolean => isAuthentic({ ...headers, ...given }, bytes, secret, nowS);

  it('takes what the sender signed, by either secret', () => {
    expect(check()).toBe(true);
    expect(check({}, body, OTHER_SECRET)).toBe(true);
  });

  it.each([
    ['another secret', () => check({}, body, 'whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB')],
    ['another byte of the body', () => check({}, Buffer.from('{"test": 2432232315}'))],
    ['the same JSON in other bytes', () => check({}, Buffer.from('{"test":2432232314}'))],
    ['another id', () => check({ 'webhook-id': 'msg_other' })],
    ['another time', () => check({ 'webhook-timestamp': '1614265331' })],
    ['a message six minutes old', () => check({}, body, SECRET, MESSAGE.timestampS + 360)],
    ['a message from the future', () => check({}, body, SECRET, MESSAGE.timestampS - 360)],
    ['no signature', () => check({ 'webhook-signature': '' })],
    ['a signature of another version', () => check({ 'webhook-signature': SIGNATURE.replace('v1', 'v2') })],
    ['half a signature', () => check({ 'webhook-signature': SIGNATURE.slice(0, 20) })],
    ['a time that is no number', () => check({ 'webhook-timestamp': 'now' })],
  ])('refuses %s', (_name, checked) => {
    expect(checked()).toBe(false);
  });
});
