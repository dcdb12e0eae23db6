import { ConfigError } from './config-error.ts';
import { type Variables, variablesSchema } from './variables.ts';
import { defined } from '../ledger/kernel/defined.ts';

// The AWS SDK announces on every start which Node it will need from 2027 on; CONTRIBUTING.md says so once.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';

/*
 * What development runs on, so that a fresh clone starts without an account anywhere. Published, hence worthless:
 * production refuses every one of them.
 */
export const DEVELOPMENT_JWT_SECRET = 'hitotsu-development-jwt-secret-not-for-production';
export const DEVELOPMENT_PAYMENT_CODE_SECRET = 'hitotsu-development-payment-code-secret-not-for-production';
export const DEVELOPMENT_STRIPE_SECRET_KEY = 'sk_test_hitotsu_development';
export const DEVELOPMENT_STRIPE_WEBHOOK_SECRET = 'whsec_hitotsu_development';
export const DEVELOPMENT_TENANTS_FILE = 'dev/demo-tenants.json';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** How tokens are checked: by a shared secret (HS256), or by the public keys of an identity provider. */
export type TokenKeys =
  { readonly kind: 'SECRET'; readonly secret: string } | { readonly kind: 'JWKS'; readonly url: string };

export interface AuthConfig {
  readonly keys: TokenKeys;
  readonly issuer?: string;
  readonly audience?: string;
}

export interface StripeConfig {
  readonly secretKey: string;
  /** Whether the key moves real money. Objects and events that say otherwise aren't ours. */
  readonly livemode: boolean;
  /** Any of them may have signed an event, so that a secret can be rotated. Never empty. */
  readonly webhookSecrets: readonly string[];
  /** How far a signature's time may be from now, on either side. Never 0, which would switch the check off. */
  readonly webhookToleranceS: number;
  /** Where the API is; Stripe's own when absent. */
  readonly apiBase?: string;
}

export interface TableConfig {
  readonly name: string;
  readonly region: string;
  /** Absent: AWS itself, or in development the embedded engine. */
  readonly endpoint?: string;
}

/** How the sweeper goes easy on Stripe, whose rate limit customers' payments need. */
export interface SweeperConfig {
  /** How often Stripe is asked at most, by one process. */
  readonly callsPerSecond: number;
  /** The pause between two looks through Stripe's events, over all processes. */
  readonly eventsEveryMs: number;
}

/** The whole configuration (docs/DESIGN.md §12). Made once at start-up by `loadConfig`; everything takes it as an argument. */
export interface Config {
  readonly production: boolean;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly logLevel: LogLevel;
  /** GraphiQL and introspection. */
  readonly graphiql: boolean;
  readonly corsOrigins: readonly string[];
  /** Whether the server runs the due-loop itself. */
  readonly worker: boolean;
  /** How long an order waits before the sweeper asks Stripe about it. */
  readonly sweepAfterMs: number;
  readonly sweeper: SweeperConfig;
  readonly idempotencyKeyPhase: 'required' | 'optional';
  readonly tenantsFile: string;
  /** Where the embedded engine keeps its data, in development; `memory` keeps nothing. */
  readonly dataDir: string;
  readonly table: TableConfig;
  readonly stripe: StripeConfig;
  readonly stripeSimulatorPort: number;
  readonly auth: AuthConfig;
  /** Signs the payment codes that a terminal scans. */
  readonly paymentCodeSecret: string;
  /** Absent: the event bus lives in the process. */
  readonly redisUrl?: string;
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
  const problems: string[] = [];
  if (variables.AUTH_JWT_SECRET !== undefined && variables.AUTH_JWKS_URL !== undefined) {
    problems.push('AUTH_JWT_SECRET and AUTH_JWKS_URL exclude each other: give one.');
  }
  if (variables.NODE_ENV === 'production') problems.push(...productionProblems(variables));
  else problems.push(...developmentProblems(variables));
  return problems;
}

function productionProblems(variables: Variables): readonly string[] {
  const required = [
    'STRIPE_SECRET_KEY',
    'STRIPE_WEBHOOK_SECRETS',
    'AUTH_ISSUER',
    'AUTH_AUDIENCE',
    'PAYMENT_CODE_SECRET',
    'TENANTS_FILE',
  ] as const;
  const problems = required
    .filter((name) => variables[name] === undefined)
    .map((name) => `${name} must be given in production.`);
  if (variables.AUTH_JWT_SECRET === undefined && variables.AUTH_JWKS_URL === undefined) {
    problems.push('AUTH_JWT_SECRET or AUTH_JWKS_URL must be given in production.');
  }
  for (const [name, used] of developmentSecretsIn(variables)) {
    if (used) problems.push(`${name} must not be a development secret in production.`);
  }
  const { AUTH_JWT_SECRET: tokenSecret, PAYMENT_CODE_SECRET: codeSecret } = variables;
  if (tokenSecret !== undefined && tokenSecret === codeSecret) {
    problems.push('PAYMENT_CODE_SECRET must differ from AUTH_JWT_SECRET.');
  }
  return problems;
}

/** Any published secret in any place: also one that moved to another variable is known to everyone. */
function developmentSecretsIn(variables: Variables): readonly (readonly [string, boolean])[] {
  const published: readonly string[] = [
    DEVELOPMENT_JWT_SECRET,
    DEVELOPMENT_PAYMENT_CODE_SECRET,
    DEVELOPMENT_STRIPE_SECRET_KEY,
    DEVELOPMENT_STRIPE_WEBHOOK_SECRET,
  ];
  const names = ['STRIPE_SECRET_KEY', 'AUTH_JWT_SECRET', 'PAYMENT_CODE_SECRET'] as const;
  return [
    ...names.map((name) => [name, published.includes(variables[name] ?? '')] as const),
    [
      'STRIPE_WEBHOOK_SECRETS',
      (variables.STRIPE_WEBHOOK_SECRETS ?? []).some((secret) => published.includes(secret)),
    ],
  ];
}

function developmentProblems(variables: Variables): readonly string[] {
  const problems: string[] = [];
  if (isLiveKey(variables.STRIPE_SECRET_KEY ?? '')) {
    problems.push('STRIPE_SECRET_KEY must be a test key unless NODE_ENV is production.');
  }
  // With the published signing secret anyone could tell a gateway that talks to the real Stripe of a payment.
  if (variables.STRIPE_SECRET_KEY !== undefined && variables.STRIPE_WEBHOOK_SECRETS === undefined) {
    problems.push('STRIPE_WEBHOOK_SECRETS must be given along with STRIPE_SECRET_KEY.');
  }
  return problems;
}

function isLiveKey(secretKey: string): boolean {
  return /^(sk|rk)_live_/.test(secretKey);
}

function toConfig(variables: Variables): Config {
  const production = variables.NODE_ENV === 'production';
  return {
    production,
    host: variables.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: variables.PORT ?? 4000,
    logLevel: variables.LOG_LEVEL ?? 'info',
    graphiql: variables.GRAPHIQL === undefined ? !production : variables.GRAPHIQL === 'on',
    corsOrigins: variables.CORS_ORIGINS ?? [],
    worker: variables.WORKER !== 'off',
    sweepAfterMs: (variables.SWEEP_AFTER_S ?? 1800) * 1000,
    sweeper: {
      callsPerSecond: variables.SWEEP_CALLS_PER_SECOND ?? 10,
      eventsEveryMs: (variables.SWEEP_EVENTS_EVERY_S ?? 300) * 1000,
    },
    idempotencyKeyPhase: variables.IDEMPOTENCY_KEY_PHASE ?? 'required',
    tenantsFile: variables.TENANTS_FILE ?? DEVELOPMENT_TENANTS_FILE,
    dataDir: variables.DATA_DIR ?? '.data',
    table: {
      name: variables.TABLE_NAME ?? 'payments',
      region: variables.AWS_REGION ?? 'ap-northeast-1',
      ...defined({ endpoint: variables.DYNAMODB_ENDPOINT }),
    },
    stripe: stripeConfig(variables),
    stripeSimulatorPort: variables.STRIPE_SIMULATOR_PORT ?? 4010,
    auth: authConfig(variables),
    paymentCodeSecret: variables.PAYMENT_CODE_SECRET ?? DEVELOPMENT_PAYMENT_CODE_SECRET,
    ...defined({ redisUrl: variables.REDIS_URL }),
  };
}

function stripeConfig(variables: Variables): StripeConfig {
  const secretKey = variables.STRIPE_SECRET_KEY ?? DEVELOPMENT_STRIPE_SECRET_KEY;
  // Without a key of one's own there is nothing at Stripe to talk to: only the simulator takes the development key.
  const simulator = `http://127.0.0.1:${variables.STRIPE_SIMULATOR_PORT ?? 4010}`;
  const apiBase =
    variables.STRIPE_API_BASE ?? (variables.STRIPE_SECRET_KEY === undefined ? simulator : undefined);
  return {
    secretKey,
    livemode: isLiveKey(secretKey),
    webhookSecrets: variables.STRIPE_WEBHOOK_SECRETS ?? [DEVELOPMENT_STRIPE_WEBHOOK_SECRET],
    webhookToleranceS: variables.STRIPE_WEBHOOK_TOLERANCE_S ?? 300,
    ...defined({ apiBase }),
  };
}

function authConfig(variables: Variables): AuthConfig {
  const keys: TokenKeys =
    variables.AUTH_JWKS_URL === undefined
      ? { kind: 'SECRET', secret: variables.AUTH_JWT_SECRET ?? DEVELOPMENT_JWT_SECRET }
      : { kind: 'JWKS', url: variables.AUTH_JWKS_URL };
  return { keys, ...defined({ issuer: variables.AUTH_ISSUER, audience: variables.AUTH_AUDIENCE }) };
}
