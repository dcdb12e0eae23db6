import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/config-error.ts';
import { variablesSchema } from '../../../src/config/variables.ts';
import { loadConfig } from '../../../src/config/config.ts';

const PRODUCTION: NodeJS.ProcessEnv = {
  NODE_ENV: 'production',
  STRIPE_SECRET_KEY: 'sk_live_abcdefgh',
  STRIPE_WEBHOOK_SECRETS: 'whsec_first-secret-of-the-endpoint-1,whsec_second-secret-of-the-endpoint-2',
  AUTH_JWT_SECRET: 'an-operators-own-secret-of-length-38-x',
  AUTH_ISSUER: 'https://issuer.example',
  AUTH_AUDIENCE: 'hitotsu',
  PAYMENT_CODE_SECRET: 'another-secret-of-the-operator-length-40',
  METADATA_SECRETS: 'a-third-secret-of-the-operator-length-40',
  TENANTS_FILE: '/etc/hitotsu/tenants.json',
};

const STRONG = 'at least 32 bytes of secret text with at least 12 different characters';
const EACH_STRONG = 'must each have at least 32 bytes, 12 of them different, in production';

function problemsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('an empty environment', () => {
  test('gives development on this machine alone, with the simulator as Stripe', () => {
    expect(loadConfig({})).toStrictEqual({
      production: false,
      host: '127.0.0.1',
      port: 4000,
      keepAliveMs: 75_000,
      drainNoticeMs: 0,
      maxConnections: 10_000,
      maxRequestsInFlight: 500,
      maxWebhooksInFlight: 100,
      logLevel: 'info',
      graphiql: true,
      corsOrigins: [],
      worker: true,
      sweepAfterMs: 1_800_000,
      sweeper: { callsPerSecond: 10, eventsEveryMs: 300_000 },
      idempotencyKeyPhase: 'required',
      tenantsFile: 'dev/demo-tenants.json',
      dataDir: '.data',
      table: { name: 'payments', region: 'ap-northeast-1' },
      stripe: {
        secretKey: 'sk_test_hitotsu_development',
        livemode: false,
        webhookSecrets: ['whsec_hitotsu_development'],
        webhookToleranceS: 300,
        apiBase: 'http://127.0.0.1:4010',
      },
      stripeSimulatorPort: 4010,
      auth: { keys: { kind: 'SECRET', secret: 'hitotsu-development-jwt-secret-not-for-production' } },
      paymentCodeSecret: 'hitotsu-development-payment-code-secret-not-for-production',
      metadataSecrets: ['hitotsu-development-metadata-secret-not-for-production'],
    });
  });

  test('is the same as one of empty variables', () => {
    const empty = Object.fromEntries(Object.keys(variablesSchema.shape).map((name) => [name, '']));
    expect(loadConfig(empty)).toStrictEqual(loadConfig({}));
  });
});

test('every variable that is given is used', () => {
  const config = loadConfig({
    HOST: '::1',
    PORT: '0',
    KEEP_ALIVE_S: '120',
    DRAIN_NOTICE_S: '20',
    MAX_CONNECTIONS: '50',
    MAX_REQUESTS_IN_FLIGHT: '20',
    MAX_WEBHOOKS_IN_FLIGHT: '10',
    LOG_LEVEL: 'debug',
    GRAPHIQL: 'off',
    CORS_ORIGINS: 'https://shop.example, http://localhost:5173',
    WORKER: 'off',
    SWEEP_AFTER_S: '60',
    SWEEP_CALLS_PER_SECOND: '3',
    SWEEP_EVENTS_EVERY_S: '90',
    IDEMPOTENCY_KEY_PHASE: 'optional',
    TENANTS_FILE: 'tenants.json',
    DATA_DIR: 'memory',
    DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000',
    AWS_REGION: 'eu-west-1',
    TABLE_NAME: 'payments-test',
    STRIPE_SECRET_KEY: 'sk_test_own',
    STRIPE_WEBHOOK_SECRETS: 'whsec_aaaaaaaa, whsec_bbbbbbbb',
    STRIPE_WEBHOOK_TOLERANCE_S: '60',
    STRIPE_SIMULATOR_PORT: '4999',
    AUTH_JWKS_URL: 'https://issuer.example/keys',
    AUTH_JWKS_SERVES_S: '7200',
    AUTH_MAX_TOKEN_S: '3600',
    AUTH_ISSUER: 'https://issuer.example',
    AUTH_AUDIENCE: 'hitotsu',
    PAYMENT_CODE_SECRET: 'another-secret-of-the-operator-length-40',
    METADATA_SECRETS: 'a-third-secret-of-the-operator-length-40,a-fourth-one-that-is-rotated-out-40',
    REDIS_URL: 'rediss://redis.example:6380/1',
  });
  expect(config).toStrictEqual({
    production: false,
    host: '::1',
    port: 0,
    keepAliveMs: 120_000,
    drainNoticeMs: 20_000,
    maxConnections: 50,
    maxRequestsInFlight: 20,
    maxWebhooksInFlight: 10,
    logLevel: 'debug',
    graphiql: false,
    corsOrigins: ['https://shop.example', 'http://localhost:5173'],
    worker: false,
    sweepAfterMs: 60_000,
    sweeper: { callsPerSecond: 3, eventsEveryMs: 90_000 },
    idempotencyKeyPhase: 'optional',
    tenantsFile: 'tenants.json',
    dataDir: 'memory',
    table: { name: 'payments-test', region: 'eu-west-1', endpoint: 'http://127.0.0.1:8000' },
    stripe: {
      secretKey: 'sk_test_own',
      livemode: false,
      webhookSecrets: ['whsec_aaaaaaaa', 'whsec_bbbbbbbb'],
      webhookToleranceS: 60,
    },
    stripeSimulatorPort: 4999,
    auth: {
      keys: { kind: 'JWKS', url: 'https://issuer.example/keys', servesForMs: 7_200_000 },
      issuer: 'https://issuer.example',
      audience: 'hitotsu',
      maxLifetimeS: 3600,
    },
    paymentCodeSecret: 'another-secret-of-the-operator-length-40',
    metadataSecrets: ['a-third-secret-of-the-operator-length-40', 'a-fourth-one-that-is-rotated-out-40'],
    redisUrl: 'rediss://redis.example:6380/1',
  });
});

describe('a wrong value stops start-up with the variable’s name and what it takes', () => {
  test.each([
    ['NODE_ENV', 'prod', 'NODE_ENV takes one of: development, test, production.'],
    ['PORT', '65536', 'PORT takes a whole number from 0 to 65535.'],
    ['PORT', '-1', 'PORT takes a whole number from 0 to 65535.'],
    ['PORT', '4e3', 'PORT takes a whole number from 0 to 65535.'],
    ['PORT', ' 4000', 'PORT takes a whole number from 0 to 65535.'],
    ['HOST', 'a b', 'HOST takes a host name or address.'],
    ['KEEP_ALIVE_S', '0', 'KEEP_ALIVE_S takes a whole number of seconds from 1 to 3600.'],
    ['DRAIN_NOTICE_S', '-1', 'DRAIN_NOTICE_S takes a whole number of seconds from 0 to 300.'],
    ['MAX_CONNECTIONS', '0', 'MAX_CONNECTIONS takes a whole number of connections from 1 to 1000000.'],
    [
      'MAX_REQUESTS_IN_FLIGHT',
      '0',
      'MAX_REQUESTS_IN_FLIGHT takes a whole number of requests from 1 to 100000.',
    ],
    [
      'MAX_WEBHOOKS_IN_FLIGHT',
      '0',
      'MAX_WEBHOOKS_IN_FLIGHT takes a whole number of requests from 1 to 10000.',
    ],
    ['LOG_LEVEL', 'verbose', 'LOG_LEVEL takes one of: debug, info, warn, error, silent.'],
    ['GRAPHIQL', 'true', 'GRAPHIQL takes one of: on, off.'],
    ['WORKER', '1', 'WORKER takes one of: on, off.'],
    ['IDEMPOTENCY_KEY_PHASE', 'off', 'IDEMPOTENCY_KEY_PHASE takes one of: required, optional.'],
    ['SWEEP_AFTER_S', '0', 'SWEEP_AFTER_S takes a whole number of seconds from 1 to 86400.'],
    ['SWEEP_CALLS_PER_SECOND', '0', 'SWEEP_CALLS_PER_SECOND takes a whole number of calls from 1 to 100.'],
    ['SWEEP_EVENTS_EVERY_S', '9', 'SWEEP_EVENTS_EVERY_S takes a whole number of seconds from 10 to 86400.'],
    ['SWEEP_AFTER_S', '30m', 'SWEEP_AFTER_S takes a whole number of seconds from 1 to 86400.'],
    [
      'CORS_ORIGINS',
      '*',
      'CORS_ORIGINS takes a comma-separated list of origins such as https://shop.example.',
    ],
    [
      'CORS_ORIGINS',
      'https://shop.example/',
      'CORS_ORIGINS takes a comma-separated list of origins such as https://shop.example.',
    ],
    ['DYNAMODB_ENDPOINT', 'localhost:8000', 'DYNAMODB_ENDPOINT takes an http or https URL.'],
    ['AWS_REGION', 'Tokyo', 'AWS_REGION takes a region such as ap-northeast-1.'],
    ['TABLE_NAME', 'my table', 'TABLE_NAME takes 3 to 255 letters, digits, dots, dashes or underscores.'],
    [
      'STRIPE_SECRET_KEY',
      'pk_test_1234',
      'STRIPE_SECRET_KEY takes a secret or restricted key of Stripe: sk_… or rk_….',
    ],
    [
      'STRIPE_WEBHOOK_TOLERANCE_S',
      '0',
      'STRIPE_WEBHOOK_TOLERANCE_S takes a whole number of seconds from 1 to 3600.',
    ],
    [
      'STRIPE_API_BASE',
      'http://stripe.example',
      'STRIPE_API_BASE takes an https URL without user and password, or an http URL on this machine.',
    ],
    [
      'AUTH_JWKS_URL',
      'http://issuer.example/keys',
      'AUTH_JWKS_URL takes an https URL without user and password, or an http URL on this machine.',
    ],
    ['AUTH_JWT_SECRET', 'abcdefghijklmnopqrstuvwxyz01234', `AUTH_JWT_SECRET takes ${STRONG}.`],
    ['AUTH_JWT_SECRET', 'abcdefghijk'.repeat(8), `AUTH_JWT_SECRET takes ${STRONG}.`],
    ['PAYMENT_CODE_SECRET', 'x'.repeat(64), `PAYMENT_CODE_SECRET takes ${STRONG}.`],
    ['ALLOW_PLAINTEXT', 'stripe', 'ALLOW_PLAINTEXT takes a comma-separated list of: dynamodb, redis.'],
    [
      'METADATA_SECRETS',
      `abcdefghijklmnopqrstuvwxyz0123456789,${'x'.repeat(64)}`,
      'METADATA_SECRETS takes a comma-separated list of secrets, each of at least 32 bytes with at least 12 different characters.',
    ],
    ['REDIS_URL', 'http://redis.example', 'REDIS_URL takes a redis:// or rediss:// URL.'],
  ])('%s=%s', (name, value, problem) => {
    expect(problemsOf({ [name]: value })).toStrictEqual([problem]);
  });

  test('all of them at once, and no value among them', () => {
    expect(() =>
      loadConfig({ PORT: 'secret-a', AUTH_JWT_SECRET: 'secret-b', STRIPE_SECRET_KEY: 'secret-c' }),
    ).toThrow(
      new ConfigError([
        'PORT takes a whole number from 0 to 65535.',
        'STRIPE_SECRET_KEY takes a secret or restricted key of Stripe: sk_… or rk_….',
        `AUTH_JWT_SECRET takes ${STRONG}.`,
      ]),
    );
  });
});

describe('the webhook’s signing secrets', () => {
  const problem =
    'STRIPE_WEBHOOK_SECRETS takes a comma-separated list of signing secrets, each whsec_…, none empty.';

  test.each([
    'whsec_aaaaaaaa,',
    ',whsec_aaaaaaaa',
    'whsec_aaaaaaaa,,whsec_bbbbbbbb',
    ',',
    ' ',
    'whsec_',
    'sk_test_1',
  ])('an empty or foreign entry stops start-up: %j', (secrets) => {
    expect(problemsOf({ ...PRODUCTION, STRIPE_WEBHOOK_SECRETS: secrets })).toStrictEqual([problem]);
    expect(problemsOf({ STRIPE_WEBHOOK_SECRETS: secrets })).toStrictEqual([problem]);
  });
});

describe('Stripe in development', () => {
  test('the simulator is where its port says', () => {
    expect(loadConfig({ STRIPE_SIMULATOR_PORT: '4999' }).stripe.apiBase).toBe('http://127.0.0.1:4999');
    expect(loadConfig({ STRIPE_API_BASE: 'http://127.0.0.1:5000' }).stripe.apiBase).toBe(
      'http://127.0.0.1:5000',
    );
  });

  test('a live key is refused', () => {
    for (const key of ['sk_live_abc', 'rk_live_abc']) {
      expect(problemsOf({ STRIPE_SECRET_KEY: key, STRIPE_WEBHOOK_SECRETS: 'whsec_aaaaaaaa' })).toStrictEqual([
        'STRIPE_SECRET_KEY must be a test key unless NODE_ENV is production.',
      ]);
    }
  });

  test('a key of one’s own doesn’t go with the published signing secret', () => {
    expect(problemsOf({ STRIPE_SECRET_KEY: 'sk_test_own' })).toStrictEqual([
      'STRIPE_WEBHOOK_SECRETS must be given along with STRIPE_SECRET_KEY.',
    ]);
  });
});

describe('a development gateway that others can reach', () => {
  test.each(['0.0.0.0', '::', '192.168.1.5', 'gateway'])('does not run on published secrets: %s', (host) => {
    expect(problemsOf({ HOST: host })).toStrictEqual([
      'HOST must be this machine alone while everyone knows the secrets: give AUTH_JWT_SECRET, PAYMENT_CODE_SECRET, METADATA_SECRETS, STRIPE_WEBHOOK_SECRETS too.',
    ]);
  });

  test.each(['127.0.0.1', 'localhost', '::1'])('may run on them where nobody else reaches it: %s', (host) => {
    expect(problemsOf({ HOST: host })).toStrictEqual([]);
  });

  test('runs on secrets of its own, each of them', () => {
    const own = {
      HOST: '0.0.0.0',
      AUTH_JWT_SECRET: PRODUCTION['AUTH_JWT_SECRET'],
      PAYMENT_CODE_SECRET: PRODUCTION['PAYMENT_CODE_SECRET'],
      METADATA_SECRETS: PRODUCTION['METADATA_SECRETS'],
      STRIPE_WEBHOOK_SECRETS: PRODUCTION['STRIPE_WEBHOOK_SECRETS'],
    };
    expect(problemsOf(own)).toStrictEqual([]);
    for (const name of Object.keys(own).slice(1))
      expect(problemsOf({ ...own, [name]: '' })).toStrictEqual([
        `HOST must be this machine alone while everyone knows the secrets: give ${name} too.`,
      ]);
  });
});

test('tokens are checked by a secret or by public keys, not by both', () => {
  expect(
    problemsOf({
      AUTH_JWT_SECRET: PRODUCTION['AUTH_JWT_SECRET'],
      AUTH_JWKS_URL: 'https://issuer.example/keys',
    }),
  ).toStrictEqual(['AUTH_JWT_SECRET and AUTH_JWKS_URL exclude each other: give one.']);
});

describe('production', () => {
  test('starts on secrets of its own, closed where it can be, open to the network', () => {
    const config = loadConfig(PRODUCTION);
    expect(config).toMatchObject({ production: true, graphiql: false, host: '0.0.0.0' });
    expect(config.table).toStrictEqual({ name: 'payments', region: 'ap-northeast-1' });
    expect(config.stripe).toStrictEqual({
      secretKey: 'sk_live_abcdefgh',
      livemode: true,
      webhookSecrets: ['whsec_first-secret-of-the-endpoint-1', 'whsec_second-secret-of-the-endpoint-2'],
      webhookToleranceS: 300,
    });
  });

  test('takes GraphiQL where it is switched on, and a test key for a staging system', () => {
    expect(loadConfig({ ...PRODUCTION, GRAPHIQL: 'on' }).graphiql).toBe(true);
    expect(loadConfig({ ...PRODUCTION, STRIPE_SECRET_KEY: 'rk_test_abc' }).stripe.livemode).toBe(false);
  });

  test('demands everything that development has a default for', () => {
    expect(problemsOf({ NODE_ENV: 'production' })).toStrictEqual([
      'STRIPE_SECRET_KEY must be given in production.',
      'STRIPE_WEBHOOK_SECRETS must be given in production.',
      'AUTH_ISSUER must be given in production.',
      'AUTH_AUDIENCE must be given in production.',
      'PAYMENT_CODE_SECRET must be given in production.',
      'METADATA_SECRETS must be given in production.',
      'TENANTS_FILE must be given in production.',
      'AUTH_JWT_SECRET or AUTH_JWKS_URL must be given in production.',
    ]);
  });

  test.each([
    ['AUTH_JWT_SECRET', 'hitotsu-development-jwt-secret-not-for-production'],
    ['AUTH_JWT_SECRET', 'hitotsu-development-payment-code-secret-not-for-production'],
    ['PAYMENT_CODE_SECRET', 'hitotsu-development-payment-code-secret-not-for-production'],
    ['PAYMENT_CODE_SECRET', 'hitotsu-development-jwt-secret-not-for-production'],
    ['METADATA_SECRETS', 'hitotsu-development-metadata-secret-not-for-production'],
    ['STRIPE_SECRET_KEY', 'sk_test_hitotsu_development'],
    ['STRIPE_WEBHOOK_SECRETS', 'whsec_first-secret-of-the-endpoint-1,whsec_hitotsu_development'],
  ])('refuses a published secret as %s: %s', (name, value) => {
    expect(problemsOf({ ...PRODUCTION, [name]: value })).toContain(
      `${name} must not be a development secret in production.`,
    );
  });

  test.each([
    ['STRIPE_WEBHOOK_SECRETS', 'whsec_short-of-32-bytes', EACH_STRONG],
    ['STRIPE_WEBHOOK_SECRETS', `whsec_${'a'.repeat(40)}`, EACH_STRONG],
    ['CORS_ORIGINS', 'https://shop.example,http://shop.example', 'must all be https in production'],
    [
      'DYNAMODB_ENDPOINT',
      'http://table.example:8000',
      'must be encrypted to another machine, unless ALLOW_PLAINTEXT names dynamodb',
    ],
    [
      'REDIS_URL',
      'redis://bus.example:6379',
      'must be encrypted to another machine, unless ALLOW_PLAINTEXT names redis',
    ],
  ])('refuses %s=%s', (name, value, problem) => {
    expect(problemsOf({ ...PRODUCTION, [name]: value })).toStrictEqual([`${name} ${problem}.`]);
  });

  test('speaks in plain text to this machine, and to another one where somebody has decided so', () => {
    const plain = { DYNAMODB_ENDPOINT: 'http://table.example:8000', REDIS_URL: 'redis://bus.example:6379' };
    expect(problemsOf({ ...PRODUCTION, ...plain, ALLOW_PLAINTEXT: 'dynamodb, redis' })).toStrictEqual([]);
    expect(problemsOf({ ...PRODUCTION, ...plain, ALLOW_PLAINTEXT: 'redis' })).toHaveLength(1);
    const local = { DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000', REDIS_URL: 'redis://localhost:6379' };
    expect(problemsOf({ ...PRODUCTION, ...local })).toStrictEqual([]);
  });

  test('wants another secret for payment codes than for tokens', () => {
    expect(problemsOf({ ...PRODUCTION, PAYMENT_CODE_SECRET: PRODUCTION['AUTH_JWT_SECRET'] })).toStrictEqual([
      'PAYMENT_CODE_SECRET must differ from AUTH_JWT_SECRET.',
    ]);
  });
});

test('.env.example lists every variable, sets none, and knows no other', () => {
  const lines = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8').split('\n');
  const assignments = lines.filter((line) => line !== '' && !line.startsWith('#'));
  expect(assignments).toStrictEqual(assignments.map((line) => `${line.split('=')[0] ?? ''}=`));
  expect(assignments.map((line) => line.slice(0, -1)).sort()).toStrictEqual(
    Object.keys(variablesSchema.shape).sort(),
  );
});
