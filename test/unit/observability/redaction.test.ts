import { describe, expect, test } from 'vitest';
import { redact } from '../../../src/observability/redaction.ts';

describe('what no log may hold is taken out', () => {
  test.each([
    ['an email', 'to pii-sentinel@x.test now', 'to [redacted] now'],
    ['an email alone', 'pii-sentinel@x.test', '[redacted]'],
    ['an email with a tag', 'a.b+shop@mail.x.test!', '[redacted]'],
    ['an email in brackets', 'Alice <alice@x.test>', 'Alice <[redacted]>'],
    ['an email in JSON', '{"email":"pii-sentinel@x.test","n":1}', '{"email":"[redacted]","n":1}'],
    [
      'an email in JSON in JSON',
      '{"a":"{\\"email\\":\\"pii-sentinel@x.test\\"}"}',
      '{"a":"{\\"email\\":\\"[redacted]\\"}"}',
    ],
    ['an email in escaped JSON', '{"email":"pii-sentinel\\u0040x.test"}', '{"email":"[redacted]"}'],
    [
      'an email in a URL',
      'https://x.test/?email=pii-sentinel%40x.test&n=1',
      'https://x.test/?email=[redacted]&n=1',
    ],
    ['an email in another script', 'メール：佐藤@例え.テスト', '[redacted]'],
    ['a card number', 'card 4242424242424242 declined', 'card [redacted] declined'],
    ['a card number in groups', 'card 4242 4242 4242 4242.', 'card [redacted].'],
    ['a card number with dashes', '3782-822463-10005', '[redacted]'],
    ['a card number of 13 digits', 'pan=4222222222222;', 'pan=[redacted];'],
    ['a card number of 19 digits', '6304000000000000000', '[redacted]'],
    ['a card number in a longer run', 'x42424242424242424242424242y', 'x[redacted]y'],
    ['a Japanese mobile', '090-1234-5678に電話', '[redacted]に電話'],
    ['a Japanese mobile without dashes', 'tel:09012345678', 'tel:[redacted]'],
    ['a Japanese landline', '(03) 1234-5678', '[redacted]'],
    ['an international number', 'call +81 90-1234-5678.', 'call [redacted].'],
    ['an American number', '+1 (415) 555-2671', '[redacted]'],
    ['a secret key of Stripe', 'key sk_live_51Abc_DEF rejected', 'key [redacted] rejected'],
    ['a restricted key', 'rk_test_51Abc', '[redacted]'],
    ['a signing secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw==', '[redacted]'],
    ['a client secret of a session', 'cs_test_a1B2_secret_fidkdWxOYHwnPyd1', '[redacted]'],
    ['a client secret of a payment', 'pi_3Abc_secret_9xYz', '[redacted]'],
    ['a signature of Stripe', `t=12,v1=${'ab12'.repeat(16)}`, 't=12,[redacted]'],
    ['a signature of Standard Webhooks', 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=', '[redacted]'],
    ['a token', 'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln refused', 'token [redacted] refused'],
    ['half a token', 'eyJhbGciOiJIUzI1NiJ9', '[redacted]'],
    ['an authorization header', 'authorization: Bearer abc.def', 'authorization: [redacted]'],
    [
      'a password in a URL',
      'redis://user:hunter2@redis.internal:6379',
      'redis:[redacted]redis.internal:6379',
    ],
  ])('%s', (_, text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});

describe('what operators look for stays', () => {
  test.each([
    '01KT5W8Z3N8Q4V6X7Y9ZABCDEF',
    'alice/01KT5W8Z3N8Q4V6X7Y9ZABCDEF',
    'evt_1QabcDEF23456ghiJKL',
    'pi_3QabcDEF23456ghiJKLmno',
    'cs_test_a1B2c3D4e5F6',
    '1cb12345-1234-4567-890e-570f302227b3',
    '2026-11-30T03:04:05.678Z',
    'connect ECONNREFUSED 127.0.0.1:8000',
    'Transaction cancelled [ConditionalCheckFailed, None, None]',
    'at commit (file:///app/node_modules/@aws-sdk/client-dynamodb/index.js:120:33)',
    'https://api.example:8443/v1/things?page=2',
    'amount 1234567.89 of cap 50000',
  ])('%s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

test('a long text is cut, and nothing half cut is left at its end', () => {
  const email = 'pii-sentinel@x.test';
  for (let offset = 0; offset < email.length; offset += 1) {
    const clean = redact(`${'word '.repeat(1637)}${'-'.repeat(offset)}${email} ${'more '.repeat(1000)}`);
    expect(clean.length).toBeLessThan(8192);
    expect(clean).not.toContain('pii');
    expect(clean.endsWith('…')).toBe(true);
  }
});
