import { z } from 'zod';
import { hasUserInfo, isLoopback, parseUrl } from './urls.ts';

/** The texts that a variable may have, and how they're read: undefined means that this text isn't one of them. */
type Reader<T> = (text: string) => T | undefined;

/** A variable that may be absent. `takes` completes the sentence "PORT takes …"; the value itself is never repeated. */
function variable<T>(takes: string, read: Reader<T>) {
  return z
    .string()
    .optional()
    .transform((text, context): T | undefined => {
      if (text === undefined) return undefined;
      const value = read(text);
      if (value === undefined) context.addIssue({ code: 'custom', message: `takes ${takes}` });
      return value;
    });
}

function oneOf<const Choice extends string>(...choices: readonly Choice[]) {
  return variable(`one of: ${choices.join(', ')}`, (text) => choices.find((choice) => choice === text));
}

function wholeNumber(from: number, to: number, of = 'a whole number') {
  return variable(`${of} from ${from} to ${to}`, (text) => {
    if (!/^\d{1,9}$/.test(text)) return undefined;
    const value = Number.parseInt(text, 10);
    return value >= from && value <= to ? value : undefined;
  });
}

function textThat(takes: string, isAllowed: (value: string) => boolean) {
  return variable(takes, (value) => (isAllowed(value) ? value : undefined));
}

function matching(takes: string, grammar: RegExp) {
  return textThat(takes, (value) => grammar.test(value));
}

function list(takes: string, isEntry: (entry: string) => boolean) {
  return variable(takes, (value): readonly string[] | undefined => {
    const entries = value.split(',').map((entry) => entry.trim());
    return entries.every(isEntry) ? entries : undefined;
  });
}

/**
 * 32 bytes: the output size of SHA-256, and the least that RFC 7518 §3.2 allows for HS256. A text of a few characters again and
 * again has the length of a secret and is none.
 */
export function isStrongSecret(text: string): boolean {
  return Buffer.byteLength(text) >= 32 && new Set(text).size >= 12;
}

const secret = textThat(
  'at least 32 bytes of secret text with at least 12 different characters',
  isStrongSecret,
);

/** What may be spoken to in plain text on another machine, where somebody has decided so. */
const PLAINTEXT_SERVICES = ['dynamodb', 'redis'] as const;

/** An https URL, or http to this machine: what a key or a token may be sent to or fetched from. */
function isPrivateTransport(value: string): boolean {
  const url = parseUrl(value);
  if (url === undefined || hasUserInfo(url)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

const privateUrl = textThat(
  'an https URL without user and password, or an http URL on this machine',
  isPrivateTransport,
);

function isUrlOf(value: string, ...protocols: readonly string[]): boolean {
  const url = parseUrl(value);
  return url !== undefined && url.host !== '' && protocols.includes(url.protocol);
}

function isOrigin(value: string): boolean {
  return isUrlOf(value, 'http:', 'https:') && parseUrl(value)?.origin === value;
}

/** Every variable there is; .env.example says what each is for. */
export const variablesSchema = z.object({
  NODE_ENV: oneOf('development', 'test', 'production'),
  HOST: matching('a host name or address', /^[A-Za-z0-9_.:-]{1,253}$/),
  PORT: wholeNumber(0, 65535),
  KEEP_ALIVE_S: wholeNumber(1, 3600, 'a whole number of seconds'),
  DRAIN_NOTICE_S: wholeNumber(0, 300, 'a whole number of seconds'),
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000, 'a whole number of connections'),
  MAX_REQUESTS_IN_FLIGHT: wholeNumber(1, 100_000, 'a whole number of requests'),
  MAX_WEBHOOKS_IN_FLIGHT: wholeNumber(1, 10_000, 'a whole number of requests'),
  LOG_LEVEL: oneOf('debug', 'info', 'warn', 'error', 'silent'),
  GRAPHIQL: oneOf('on', 'off'),
  CORS_ORIGINS: list('a comma-separated list of origins such as https://shop.example', isOrigin),
  WORKER: oneOf('on', 'off'),
  SWEEP_AFTER_S: wholeNumber(1, 86_400, 'a whole number of seconds'),
  SWEEP_CALLS_PER_SECOND: wholeNumber(1, 100, 'a whole number of calls'),
  SWEEP_EVENTS_EVERY_S: wholeNumber(10, 86_400, 'a whole number of seconds'),
  IDEMPOTENCY_KEY_PHASE: oneOf('required', 'optional'),
  TENANTS_FILE: matching('a path to a JSON file', /\S/),
  DATA_DIR: matching('a folder, or the word memory', /\S/),
  DYNAMODB_ENDPOINT: textThat('an http or https URL', (value) => isUrlOf(value, 'http:', 'https:')),
  AWS_REGION: matching('a region such as ap-northeast-1', /^[a-z][a-z0-9-]{1,31}$/),
  TABLE_NAME: matching('3 to 255 letters, digits, dots, dashes or underscores', /^[A-Za-z0-9_.-]{3,255}$/),
  STRIPE_SECRET_KEY: matching(
    'a secret or restricted key of Stripe: sk_… or rk_…',
    /^(sk|rk)_(test|live)_\w+$/,
  ),
  STRIPE_WEBHOOK_SECRETS: list(
    'a comma-separated list of signing secrets, each whsec_…, none empty',
    (entry) => /^whsec_\S{8,}$/.test(entry),
  ),
  STRIPE_WEBHOOK_TOLERANCE_S: wholeNumber(1, 3600, 'a whole number of seconds'),
  STRIPE_ACCOUNT: matching('an account id (acct_…)', /^acct_[A-Za-z0-9]{1,64}$/),
  STRIPE_API_BASE: privateUrl,
  STRIPE_SIMULATOR_PORT: wholeNumber(0, 65535),
  AUTH_JWT_SECRET: secret,
  AUTH_JWKS_URL: privateUrl,
  AUTH_JWKS_SERVES_S: wholeNumber(60, 604_800, 'a whole number of seconds'),
  AUTH_MAX_TOKEN_S: wholeNumber(1, 31_536_000, 'a whole number of seconds'),
  AUTH_ISSUER: matching('the issuer that tokens must name', /^\S{1,255}$/),
  AUTH_AUDIENCE: matching('the audience that tokens must name', /^\S{1,255}$/),
  PAYMENT_CODE_SECRET: secret,
  ALLOW_PLAINTEXT: list(`a comma-separated list of: ${PLAINTEXT_SERVICES.join(', ')}`, (entry) =>
    PLAINTEXT_SERVICES.some((service) => service === entry),
  ),
  METADATA_SECRETS: list(
    'a comma-separated list of secrets, each of at least 32 bytes with at least 12 different characters',
    isStrongSecret,
  ),
  REDIS_URL: textThat('a redis:// or rediss:// URL', (value) => isUrlOf(value, 'redis:', 'rediss:')),
});

/** What the environment says, each value read and none defaulted. */
export type Variables = z.infer<typeof variablesSchema>;
