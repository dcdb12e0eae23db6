import { ConfigError } from './config-error.ts';
import { isLoopback, parseUrl } from './urls.ts';
import { type Variables, isStrongSecret, variablesSchema } from './variables.ts';
import { defined } from '../ledger/kernel/defined.ts';

// The AWS SDK announces on every start which Node it will need from 2027 on; CONTRIBUTING.md says so once.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';

/*
 * What development runs on, so that a fresh clone starts without an account anywhere. Published, hence worthless:
 * production refuses every one of them.
 */
export const DEVELOPMENT_JWT_SECRET = 'hitotsu-development-jwt-secret-not-for-production';
export const DEVELOPMENT_PAYMENT_CODE_SECRET = 'hitotsu-development-payment-code-secret-not-for-production';
export const DEVELOPMENT_METADATA_SECRET = 'hitotsu-development-metadata-secret-not-for-production';
export const DEVELOPMENT_STRIPE_SECRET_KEY = 'sk_test_hitotsu_development';
export const DEVELOPMENT_STRIPE_WEBHOOK_SECRET = 'whsec_hitotsu_development';
export const DEVELOPMENT_TENANTS_FILE = 'dev/demo-tenants.json';

/** The whole configuration (docs/DESIGN.md §12). Made once at start-up by `loadConfig`; everything takes it as an argument. */
export type Config = Readonly<ReturnType<typeof toConfig>>;
export type LogLevel = Config['logLevel'];
export type TableConfig = Config['table'];

/** How tokens are checked: by a shared secret (HS256), or by the public keys of an identity provider. */
export type TokenKeys =
  | { readonly kind: 'SECRET'; readonly secret: string }
  /** `servesForMs`: how long the last good set of keys serves while the provider can't be reached. */
  | { readonly kind: 'JWKS'; readonly url: string; readonly servesForMs: number };

export interface AuthConfig {
  readonly keys: TokenKeys;
  readonly issuer?: string;
  readonly audience?: string;
  /** The longest time from a token's `iat` to its `exp`; absent: any. */
  readonly maxLifetimeS?: number;
}

/** How the sweeper limits its calls: customers' payments need Stripe's rate limit too. */
export interface SweeperConfig {
  /** How often Stripe is asked at most, by one process. */
  readonly callsPerSecond: number;
  /** The pause between two looks through Stripe's events, over all processes. */
  readonly eventsEveryMs: number;
}

/**
 * Reads the configuration from the environment, `process.env` unless another is given: the only place that does.
 * An empty variable counts as unset. Throws ConfigError with one sentence per problem; no value is repeated in it.
 */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, text]) => text !== ''));
  const read = variablesSchema.safeParse(given);
  if (!read.success) {
    throw new ConfigError(
      read.error.issues.map((issue) => `${issue.path.map(String).join('.')} ${issue.message}.`),
    );
  }
  const problems = contradictions(read.data);
  if (problems.length > 0) throw new ConfigError(problems);
  return toConfig(read.data);
}

/** What no single variable shows: wrong combinations, and what production demands (docs/DESIGN.md §11). */
function contradictions(variables: Variables): readonly string[] {
  const both = variables.AUTH_JWT_SECRET !== undefined && variables.AUTH_JWKS_URL !== undefined;
  return [
    ...(both ? ['AUTH_JWT_SECRET and AUTH_JWKS_URL exclude each other: give one.'] : []),
    ...(variables.NODE_ENV === 'production' ? productionProblems(variables) : developmentProblems(variables)),
  ];
}

const REQUIRED_IN_PRODUCTION = [
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRETS',
  'AUTH_ISSUER',
  'AUTH_AUDIENCE',
  'PAYMENT_CODE_SECRET',
  'METADATA_SECRETS',
  'TENANTS_FILE',
] as const satisfies readonly (keyof Variables)[];

/** Everyone knows these. Each is refused in every variable: it may have been moved from one to another. */
const PUBLISHED_SECRETS: readonly string[] = [
  DEVELOPMENT_JWT_SECRET,
  DEVELOPMENT_PAYMENT_CODE_SECRET,
  DEVELOPMENT_METADATA_SECRET,
  DEVELOPMENT_STRIPE_SECRET_KEY,
  DEVELOPMENT_STRIPE_WEBHOOK_SECRET,
];

function productionProblems(variables: Variables): readonly string[] {
  const problems = REQUIRED_IN_PRODUCTION.filter((name) => variables[name] === undefined).map(
    (name) => `${name} must be given in production.`,
  );
  if (variables.AUTH_JWT_SECRET === undefined && variables.AUTH_JWKS_URL === undefined) {
    problems.push('AUTH_JWT_SECRET or AUTH_JWKS_URL must be given in production.');
  }
  const secrets = [
    'STRIPE_SECRET_KEY',
    'AUTH_JWT_SECRET',
    'PAYMENT_CODE_SECRET',
    'METADATA_SECRETS',
    'STRIPE_WEBHOOK_SECRETS',
  ] as const;
  for (const name of secrets) {
    if ([variables[name] ?? []].flat().some((secret) => PUBLISHED_SECRETS.includes(secret)))
      problems.push(`${name} must not be a development secret in production.`);
  }
  const { AUTH_JWT_SECRET: tokenSecret, PAYMENT_CODE_SECRET: codeSecret } = variables;
  if (tokenSecret !== undefined && tokenSecret === codeSecret) {
    problems.push('PAYMENT_CODE_SECRET must differ from AUTH_JWT_SECRET.');
  }
  if (variables.STRIPE_WEBHOOK_SECRETS?.every(isStrongSecret) === false)
    problems.push(
      'STRIPE_WEBHOOK_SECRETS must each have at least 32 bytes, 12 of them different, in production.',
    );
  if (variables.CORS_ORIGINS?.every((origin) => origin.startsWith('https:')) === false)
    problems.push('CORS_ORIGINS must all be https in production.');
  return [...problems, ...plaintextProblems(variables)];
}

/** Credentials and balances in plain text over a network, unless somebody has decided that this network may see them. */
function plaintextProblems(variables: Variables): readonly string[] {
  const services = [
    { name: 'DYNAMODB_ENDPOINT', service: 'dynamodb', plain: 'http:' },
    { name: 'REDIS_URL', service: 'redis', plain: 'redis:' },
  ] as const;
  return services.flatMap(({ name, service, plain }) => {
    const url = parseUrl(variables[name] ?? '');
    const isPlain = url?.protocol === plain && !isLoopback(url);
    if (!isPlain || variables.ALLOW_PLAINTEXT?.includes(service) === true) return [];
    return [`${name} must be encrypted to another machine, unless ALLOW_PLAINTEXT names ${service}.`];
  });
}

function developmentProblems(variables: Variables): readonly string[] {
  const problems: string[] = [];
  if (isLiveKey(variables.STRIPE_SECRET_KEY ?? '')) {
    problems.push('STRIPE_SECRET_KEY must be a test key unless NODE_ENV is production.');
  }
  // The signing secret of development is published: with it anyone could tell a gateway at the real Stripe that it was paid.
  if (variables.STRIPE_SECRET_KEY !== undefined && variables.STRIPE_WEBHOOK_SECRETS === undefined) {
    problems.push('STRIPE_WEBHOOK_SECRETS must be given along with STRIPE_SECRET_KEY.');
  }
  const published = publishedDefaults(variables);
  if (published.length > 0 && !isLoopback({ hostname: hostnameOf(variables.HOST ?? '127.0.0.1') })) {
    problems.push(
      `HOST must be this machine alone while everyone knows the secrets: give ${published.join(', ')} too.`,
    );
  }
  return problems;
}

/** The secrets for which development would take a published one. */
function publishedDefaults(variables: Variables): readonly string[] {
  const names = ['PAYMENT_CODE_SECRET', 'METADATA_SECRETS', 'STRIPE_WEBHOOK_SECRETS'] as const;
  const missing: string[] = names.filter((name) => {
    const given = [variables[name] ?? []].flat();
    return given.length === 0 || given.some((secret) => PUBLISHED_SECRETS.includes(secret));
  });
  const { AUTH_JWT_SECRET: tokenSecret = DEVELOPMENT_JWT_SECRET, AUTH_JWKS_URL: keysUrl } = variables;
  return keysUrl === undefined && PUBLISHED_SECRETS.includes(tokenSecret)
    ? ['AUTH_JWT_SECRET', ...missing]
    : missing;
}

/** A host as a URL has it: an IPv6 address in brackets. */
function hostnameOf(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function isLiveKey(secretKey: string): boolean {
  return /^(sk|rk)_live_/.test(secretKey);
}

/** Every setting, with its default. Each is described here, which is also what an editor shows of `Config`. */
function toConfig(variables: Variables) {
  const production = variables.NODE_ENV === 'production';
  const sweeper: SweeperConfig = {
    callsPerSecond: variables.SWEEP_CALLS_PER_SECOND ?? 10,
    eventsEveryMs: (variables.SWEEP_EVENTS_EVERY_S ?? 300) * 1000,
  };
  return {
    production,
    host: variables.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    /** 0 takes any free port. */
    port: variables.PORT ?? 4000,
    /** How long an idle connection is kept: longer than a balancer keeps it, or a payment meets a connection that just closed. */
    keepAliveMs: (variables.KEEP_ALIVE_S ?? 75) * 1000,
    /** How long a stopping server says so on `/readyz` and goes on serving, until balancers have noticed. */
    drainNoticeMs: (variables.DRAIN_NOTICE_S ?? (production ? 10 : 0)) * 1000,
    /** How many connections are open at most, WebSockets among them. */
    maxConnections: variables.MAX_CONNECTIONS ?? 10_000,
    /** How many requests of GraphQL are read and answered at a time: each may hold a body of 128 KiB. */
    maxRequestsInFlight: variables.MAX_REQUESTS_IN_FLIGHT ?? 500,
    /** How many webhook posts: each may hold a body of 1 MiB. */
    maxWebhooksInFlight: variables.MAX_WEBHOOKS_IN_FLIGHT ?? 100,
    logLevel: variables.LOG_LEVEL ?? ('info' as const),
    /** GraphiQL and introspection. */
    graphiql: variables.GRAPHIQL === undefined ? !production : variables.GRAPHIQL === 'on',
    corsOrigins: variables.CORS_ORIGINS ?? [],
    /** Whether the server runs the due-loop itself. */
    worker: variables.WORKER !== 'off',
    /** How long an order waits before the sweeper asks Stripe about it. */
    sweepAfterMs: (variables.SWEEP_AFTER_S ?? 1800) * 1000,
    sweeper,
    idempotencyKeyPhase: variables.IDEMPOTENCY_KEY_PHASE ?? ('required' as const),
    tenantsFile: variables.TENANTS_FILE ?? DEVELOPMENT_TENANTS_FILE,
    /** Where the embedded engine keeps its data, in development; `memory` keeps nothing. */
    dataDir: variables.DATA_DIR ?? '.data',
    table: {
      name: variables.TABLE_NAME ?? 'payments',
      region: variables.AWS_REGION ?? 'ap-northeast-1',
      /** Absent: AWS itself, or in development the embedded engine. */
      ...defined({ endpoint: variables.DYNAMODB_ENDPOINT }),
    },
    stripe: stripeConfig(variables),
    stripeSimulatorPort: variables.STRIPE_SIMULATOR_PORT ?? 4010,
    auth: authConfig(variables),
    /** Signs the payment codes that a terminal scans. */
    paymentCodeSecret: variables.PAYMENT_CODE_SECRET ?? DEVELOPMENT_PAYMENT_CODE_SECRET,
    /** The first seals what orders are made of again after a loss; any may have sealed it. Never empty. */
    metadataSecrets: variables.METADATA_SECRETS ?? [DEVELOPMENT_METADATA_SECRET],
    /** Absent: the event bus lives in the process. */
    ...defined({ redisUrl: variables.REDIS_URL }),
  } as const;
}

function stripeConfig(variables: Variables) {
  const secretKey = variables.STRIPE_SECRET_KEY ?? DEVELOPMENT_STRIPE_SECRET_KEY;
  // Without a key of one's own there is nothing at Stripe to talk to: only the simulator takes the development key.
  const simulator = `http://127.0.0.1:${variables.STRIPE_SIMULATOR_PORT ?? 4010}`;
  const apiBase =
    variables.STRIPE_API_BASE ?? (variables.STRIPE_SECRET_KEY === undefined ? simulator : undefined);
  return {
    secretKey,
    /** Whether the key moves real money. Objects and events of the other mode aren't ours. */
    livemode: isLiveKey(secretKey),
    /** Any of them may have signed an event, so that a secret can be rotated. Never empty. */
    webhookSecrets: variables.STRIPE_WEBHOOK_SECRETS ?? [DEVELOPMENT_STRIPE_WEBHOOK_SECRET],
    /** How far a signature's time may be from now, on either side. Never 0, which would switch the check off. */
    webhookToleranceS: variables.STRIPE_WEBHOOK_TOLERANCE_S ?? 300,
    /** Our account's id, where events name it. */
    ...defined({ account: variables.STRIPE_ACCOUNT }),
    /** Where the API is; Stripe's own when absent. */
    ...defined({ apiBase }),
  } as const;
}

function authConfig(variables: Variables): AuthConfig {
  const keys: TokenKeys =
    variables.AUTH_JWKS_URL === undefined
      ? { kind: 'SECRET', secret: variables.AUTH_JWT_SECRET ?? DEVELOPMENT_JWT_SECRET }
      : {
          kind: 'JWKS',
          url: variables.AUTH_JWKS_URL,
          servesForMs: (variables.AUTH_JWKS_SERVES_S ?? 86_400) * 1000,
        };
  return {
    keys,
    ...defined({
      issuer: variables.AUTH_ISSUER,
      audience: variables.AUTH_AUDIENCE,
      maxLifetimeS: variables.AUTH_MAX_TOKEN_S,
    }),
  };
}
