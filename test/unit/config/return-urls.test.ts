import { describe, expect, test } from 'vitest';
import { parseReturnUrlRule } from '../../../src/config/urls.ts';
import { mayReturnTo, parseTenants, type Tenant } from '../../../src/config/tenants.ts';

function tenantReturningTo(...returnUrls: readonly string[]): Tenant {
  const tenant = parseTenants(
    {
      shop: {
        name: 'Shop',
        currency: 'JPY',
        assets: {},
        paymentMethods: ['card'],
        returnUrls,
        merchants: {},
      },
    },
    { production: false },
  ).get('shop');
  if (tenant === undefined) throw new Error('no tenant');
  return tenant;
}

describe('a page of a site', () => {
  const tenant = tenantReturningTo('https://shop.example/return/', 'https://pay.example:8443');

  test.each([
    'https://shop.example/return',
    'https://shop.example/return/',
    'https://shop.example/return/done?session={CHECKOUT_SESSION_ID}#top',
    'https://SHOP.example:443/return?x=1',
    'https://pay.example:8443',
    'https://pay.example:8443/anything',
  ])('is allowed: %s', (url) => {
    expect(mayReturnTo(tenant, url)).toBe(true);
  });

  test.each([
    ['another path', 'https://shop.example/'],
    ['a path that only begins alike', 'https://shop.example/returned'],
    ['a path that climbs out', 'https://shop.example/return/../admin'],
    ['a path that climbs out by escapes', 'https://shop.example/return/%2e%2e/admin'],
    ['a path that climbs out by an escaped slash', 'https://shop.example/return/..%2fadmin'],
    ['a path with an escaped backslash', 'https://shop.example/return/..%5cadmin'],
    ['a host that begins alike', 'https://shop.example.evil.test/return'],
    ['a host that ends alike', 'https://evil-shop.example/return'],
    ['a subdomain', 'https://www.shop.example/return'],
    ['a host with a dot at its end', 'https://shop.example./return'],
    ['the site as a user', 'https://shop.example@evil.test/return'],
    ['the site as user and password', 'https://shop.example:443@evil.test/return'],
    ['any user', 'https://user@shop.example/return'],
    ['an empty user', 'https://@shop.example/return'],
    ['another port', 'https://shop.example:444/return'],
    ['no port where one is named', 'https://pay.example/'],
    ['plain http', 'http://shop.example/return'],
    ['a backslash for a slash', 'https:\\\\shop.example\\return'],
    ['a backslash before the host', 'https://evil.test\\@shop.example/return'],
    ['a backslash in the path', 'https://shop.example/return/\\evil.test'],
    ['no slashes', 'https:shop.example/return'],
    ['three slashes', 'https:///shop.example/return'],
    ['no scheme', '//shop.example/return'],
    ['a path alone', '/return'],
    ['an escaped host', 'https://shop%2eexample/return'],
    ['a full-width host', 'https://ｓhop.example/return'],
    ['a space before it', ' https://shop.example/return'],
    ['a line break in it', 'https://shop.example/re\nturn'],
    ['a tab in it', 'https://shop.example/return\t'],
    ['a quote in it', 'https://shop.example/return"onload=x'],
    ['script', 'javascript:alert(1)'],
    ['script that looks like the site', 'javascript://shop.example/return%0aalert(1)'],
    ['data', 'data:text/html,<script>alert(1)</script>'],
    ['nothing', ''],
    ['more than any browser takes', `https://shop.example/return/${'a'.repeat(2048)}`],
  ])('is refused: %s', (_, url) => {
    expect(mayReturnTo(tenant, url)).toBe(false);
  });
});

describe('an app', () => {
  test('any place of its scheme, if the list names the scheme alone', () => {
    const tenant = tenantReturningTo('hitotsu-demo://');
    expect(mayReturnTo(tenant, 'hitotsu-demo://')).toBe(true);
    expect(mayReturnTo(tenant, 'hitotsu-demo://paid/order?ok=1')).toBe(true);
    expect(mayReturnTo(tenant, 'HITOTSU-DEMO://paid')).toBe(true);
    expect(mayReturnTo(tenant, 'hitotsu-demo2://paid')).toBe(false);
    expect(mayReturnTo(tenant, 'hitotsu-demo:paid')).toBe(false);
    expect(mayReturnTo(tenant, 'hitotsu-demo://paid@evil')).toBe(false);
  });

  test('one host of its scheme, if the list names it', () => {
    const tenant = tenantReturningTo('my.app://payment');
    expect(mayReturnTo(tenant, 'my.app://payment')).toBe(true);
    expect(mayReturnTo(tenant, 'my.app://payment/done')).toBe(true);
    expect(mayReturnTo(tenant, 'my.app://payments')).toBe(false);
    expect(mayReturnTo(tenant, 'my.app://other/payment')).toBe(false);
  });
});

test('this machine, on any port or on one', () => {
  const tenant = tenantReturningTo('http://localhost:*', 'http://127.0.0.1:3000');
  expect(mayReturnTo(tenant, 'http://localhost/')).toBe(true);
  expect(mayReturnTo(tenant, 'http://localhost:5173/done')).toBe(true);
  expect(mayReturnTo(tenant, 'http://127.0.0.1:3000/done')).toBe(true);
  expect(mayReturnTo(tenant, 'http://127.0.0.1:3001/done')).toBe(false);
  expect(mayReturnTo(tenant, 'http://localhost.evil.test:3000/')).toBe(false);
  expect(mayReturnTo(tenant, 'https://localhost:5173/done')).toBe(false);
});

test('without an allow-list nothing is allowed', () => {
  expect(mayReturnTo(tenantReturningTo(), 'https://shop.example')).toBe(false);
});

describe('an entry of the list', () => {
  test.each([
    'http://shop.example',
    'http://shop.example:*',
    'https://shop.example:*',
    'https://*.shop.example',
    'https://user@shop.example',
    'https://shop.example/?x=1',
    'https://shop.example/#x',
    'https:/shop.example',
    'shop.example',
    'my-app:',
    'javascript://',
    'data://',
    'file://',
    'intent://pay',
    '*',
    '',
  ])('that would allow too much is refused: %j', (rule) => {
    expect(parseReturnUrlRule(rule, { allowLoopback: true })).toBeUndefined();
  });

  test('this machine is refused where it isn’t allowed', () => {
    expect(parseReturnUrlRule('http://localhost:3000', { allowLoopback: false })).toBeUndefined();
    expect(parseReturnUrlRule('http://localhost:3000/app', { allowLoopback: true })).toStrictEqual({
      protocol: 'http:',
      hostname: 'localhost',
      port: '3000',
      path: '/app',
    });
  });
});
