import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/config-error.ts';
import { formatDecimal } from '../../../src/ledger/kernel/money.ts';
import { isAsset } from '../../../src/ledger/kernel/keys.ts';
import { parseTenants, type Tenant } from '../../../src/config/tenants.ts';

/** A tenant that is fine, with some of it replaced; undefined leaves a key out. */
function fileOf(changes: Readonly<Record<string, unknown>>): unknown {
  const tenant = {
    name: 'Shop',
    currency: 'USD',
    assets: { ECOPAY: { scale: 2, pays: 'USD' }, POINT: { scale: 0 } },
    paymentMethods: ['card'],
    returnUrls: ['https://shop.example'],
    merchants: { main: { name: 'Main Street' } },
    ...changes,
  };
  // As the file gives it: undefined keys are gone.
  return { shop: JSON.parse(JSON.stringify(tenant)) as unknown };
}

function problemsOf(json: unknown, production = true): readonly string[] {
  try {
    parseTenants(json, { production });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

function tenantOf(json: unknown, name: string): Tenant {
  const tenant = parseTenants(json, { production: false }).get(name);
  if (tenant === undefined) throw new Error(`no tenant ${name}`);
  return tenant;
}

const demoFile = (): unknown =>
  JSON.parse(readFileSync(new URL('../../../dev/demo-tenants.json', import.meta.url), 'utf8'));

describe('the demo tenant', () => {
  test('is what the documents say', () => {
    const demo = tenantOf(demoFile(), 'demo');
    const assets = [...demo.assets.values()].map(({ asset, scale, cap, pays }) => [
      asset,
      scale,
      cap === undefined ? 'no cap' : formatDecimal(cap, scale),
      pays ?? 'pays nothing',
    ]);
    expect(assets).toStrictEqual([
      ['ECOPAY', 0, '50000', 'JPY'],
      ['POINT', 0, 'no cap', 'pays nothing'],
      ['JCREDIT', 2, 'no cap', 'pays nothing'],
      ['REGIONAL/kyoto', 0, 'no cap', 'JPY'],
    ]);
    expect(demo).toMatchObject({ tenant: 'demo', currency: 'JPY', paymentMethods: ['card', 'konbini'] });
    expect(demo.rewards.pointRate?.toFixed()).toBe('0.01');
    expect(demo.rewards.co2KgRate?.toFixed()).toBe('0.01');
    expect(demo.merchants).toStrictEqual(
      new Map([
        ['cafe', { merchantId: 'cafe', name: 'Café Hitotsu', notifySecrets: [] }],
        ['books', { merchantId: 'books', name: 'Hitotsu Books', notifySecrets: [] }],
        [
          'flowers',
          {
            merchantId: 'flowers',
            name: 'Hitotsu Flowers',
            notifyUrl: 'http://127.0.0.1:4030/hitotsu',
            notifySecrets: ['whsec_aGl0b3RzdS1kZXZlbG9wbWVudC1ub3QtZm9yLXByb2R1Y3Rpb24='],
          },
        ],
      ]),
    );
  });

  test('can’t be served in production, since it sends customers to their own machine', () => {
    expect(problemsOf(demoFile())).toStrictEqual([
      "TENANTS_FILE demo.returnUrls.0: takes an https URL without query and fragment, or an app's scheme such as my-app://.",
      "TENANTS_FILE demo.returnUrls.1: takes an https URL without query and fragment, or an app's scheme such as my-app://.",
      'TENANTS_FILE demo.merchants.flowers.notifyUrl: takes an https URL without user, password and fragment, to a public host.',
      "TENANTS_FILE demo.merchants.flowers.notifySecrets.0: takes a secret of your own in production, not the demo's.",
    ]);
  });
});

test('names of assets', () => {
  expect(['ECOPAY', 'POINT', 'JCREDIT', 'REGIONAL/kyoto', 'REGIONAL/a.b:c|d-e'].filter(isAsset)).toHaveLength(
    5,
  );
  expect(
    ['ecopay', 'REGIONAL', 'REGIONAL/', 'REGIONAL/a/b', 'REGIONAL/a#b', 'GOLD', ''].filter(isAsset),
  ).toHaveLength(0);
});

describe('a wrong file stops start-up, naming the place', () => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

  test.each<[string, unknown, string]>([
    [
      'a tenant with a prefix of the table',
      { system: {} },
      'system.name: takes a name of 1 to 100 characters',
    ],
    ['no object', [], 'takes an object of tenants, each by its name'],
    ['a tenant that is none', { shop: 3 }, 'shop: takes an object with name, currency, assets'],
    ['no assets', fileOf({ assets: undefined }), 'shop.assets: takes an object of assets'],
    [
      'assets in a list',
      fileOf({ assets: ['ECOPAY'] }),
      'shop.assets: takes an object of assets, each by its name: { "ECOPAY": { "scale": 0 } }',
    ],
    [
      'no return URLs',
      fileOf({ returnUrls: undefined }),
      'shop.returnUrls: takes a list of URLs, which may be empty',
    ],
    [
      'a merchant that is none',
      fileOf({ merchants: { main: null } }),
      'shop.merchants.main: takes an object such as',
    ],
    [
      'payment methods in a text',
      fileOf({ paymentMethods: 'card' }),
      'shop.paymentMethods: takes a list of payment',
    ],
    [
      'an unknown currency',
      fileOf({ currency: 'DOGE', assets: {} }),
      'shop.currency: takes the code of a currency',
    ],
    [
      'an unknown key',
      fileOf({ curency: 'USD' }),
      'shop: takes no curency: it takes name, currency, assets, rewards, paymentMethods, returnUrls, merchants',
    ],
    ['an unknown asset', fileOf({ assets: { GOLD: { scale: 0 } } }), 'shop.assets.GOLD: is none of ECOPAY'],
    [
      'a scale past 8',
      fileOf({ assets: { POINT: { scale: 9 } } }),
      'shop.assets.POINT.scale: takes a whole number',
    ],
    [
      'a broken scale',
      fileOf({ assets: { POINT: { scale: 0.5 } } }),
      'shop.assets.POINT.scale: takes a whole number',
    ],
    [
      'a cap that is a JSON number',
      fileOf({ assets: { ECOPAY: { scale: 2, cap: 500 } } }),
      'shop.assets.ECOPAY.cap: takes a positive decimal in a string',
    ],
    [
      'a cap of nothing',
      fileOf({ assets: { ECOPAY: { scale: 2, cap: '0' } } }),
      'shop.assets.ECOPAY.cap: takes a positive decimal in a string',
    ],
    [
      'a cap finer than its asset',
      fileOf({ assets: { ECOPAY: { scale: 0, cap: '0.5' } } }),
      'shop.assets.ECOPAY: has a cap with more decimals than its scale',
    ],
    [
      'a threshold below nothing',
      fileOf({ assets: { ECOPAY: { scale: 2, approvalAbove: '-1' } } }),
      'shop.assets.ECOPAY.approvalAbove: takes a decimal from 0 on in a string',
    ],
    [
      'a threshold finer than its asset',
      fileOf({ assets: { ECOPAY: { scale: 0, approvalAbove: '0.5' } } }),
      'shop.assets.ECOPAY: has an approvalAbove with more decimals than its scale',
    ],
    [
      'an asset that pays in a foreign currency',
      fileOf({ assets: { ECOPAY: { scale: 2, pays: 'EUR' } } }),
      "shop.assets.ECOPAY: can pay in the tenant's own currency only",
    ],
    [
      'an asset too coarse for the prices',
      fileOf({ assets: { ECOPAY: { scale: 1, pays: 'USD' } } }),
      'shop.assets.ECOPAY: needs at least as many decimals as the currency it pays in',
    ],
    [
      'points without the asset',
      fileOf({ assets: {}, rewards: { pointRate: '0.01' } }),
      'shop.rewards.pointRate: needs the asset POINT',
    ],
    ['no payment method', fileOf({ paymentMethods: [] }), 'shop.paymentMethods: takes at least one'],
    [
      'a payment method by its display name',
      fileOf({ paymentMethods: ['Card'] }),
      'shop.paymentMethods.0: takes a',
    ],
    [
      'a merchant that could be an email',
      fileOf({ merchants: { 'a@shop.example': { name: 'A' } } }),
      'shop.merchants.a@shop.example: is no name that a merchant may have',
    ],
    [
      'notifications without a secret',
      fileOf({ merchants: { main: { name: 'M', notifyUrl: 'https://m.example/hook' } } }),
      'shop.merchants.main.notifySecrets: takes one secret or two',
    ],
    [
      'notifications in the clear',
      fileOf({ merchants: { main: { name: 'M', notifyUrl: 'http://m.example', notifySecrets: [secret] } } }),
      'shop.merchants.main.notifyUrl: takes an https URL',
    ],
    [
      'three secrets',
      fileOf({ merchants: { main: { name: 'M', notifySecrets: [secret, secret, secret] } } }),
      'shop.merchants.main.notifySecrets: takes at most two secrets',
    ],
  ])('%s', (_, json, problem) => {
    const [first] = problemsOf(json);
    expect(first?.replace('TENANTS_FILE: ', '').replace('TENANTS_FILE ', '').slice(0, problem.length)).toBe(
      problem,
    );
  });

  test('a tenant named like a prefix of the table, or with a key separator', () => {
    const good = (fileOf({}) as { shop: unknown }).shop;
    expect(problemsOf({ stripe: good, system: good, 'a#b': good })).toStrictEqual([
      'TENANTS_FILE stripe: is no name that a tenant may have.',
      'TENANTS_FILE system: is no name that a tenant may have.',
      'TENANTS_FILE a#b: is no name that a tenant may have.',
    ]);
  });

  test('a secret that is none is never repeated', () => {
    const problems = problemsOf(
      fileOf({ merchants: { main: { name: 'M', notifySecrets: ['whsec_short', 'plain-text-secret'] } } }),
    );
    expect(problems).toStrictEqual([
      'TENANTS_FILE shop.merchants.main.notifySecrets.0: takes whsec_ and the base64 of 24 to 64 bytes.',
      'TENANTS_FILE shop.merchants.main.notifySecrets.1: takes whsec_ and the base64 of 24 to 64 bytes.',
    ]);
  });
});

test('a merchant may have its notifications on this machine in development, never in production', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const file = fileOf({
    merchants: { main: { name: 'M', notifyUrl: 'http://127.0.0.1:4020/hook', notifySecrets: [secret] } },
  });
  expect(tenantOf(file, 'shop').merchants.get('main')).toStrictEqual({
    merchantId: 'main',
    name: 'M',
    notifyUrl: 'http://127.0.0.1:4020/hook',
    notifySecrets: [secret],
  });
  expect(problemsOf(file)).toStrictEqual([
    'TENANTS_FILE shop.merchants.main.notifyUrl: takes an https URL without user, password and fragment, to a public host.',
  ]);
});

test.each([
  'https://localhost/hook',
  'https://hooks.localhost/',
  'https://127.8.8.8/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://10.1.2.3/hook',
  'https://169.254.169.254/latest/meta-data',
  'https://[fd00::1]/',
  'https://metadata.google.internal/',
  'https://intranet/hook',
  'https://printer.local./',
])('in production no notification goes to %s', (notifyUrl) => {
  const notifySecrets = [`whsec_${Buffer.alloc(32, 7).toString('base64')}`];
  expect(problemsOf(fileOf({ merchants: { main: { name: 'M', notifyUrl, notifySecrets } } }))).toStrictEqual([
    'TENANTS_FILE shop.merchants.main.notifyUrl: takes an https URL without user, password and fragment, to a public host.',
  ]);
});
