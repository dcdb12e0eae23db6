import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { mayBePublic } from './addresses.ts';
import { ConfigError } from './config-error.ts';
import { currency, isCurrency } from '../ledger/kernel/currencies.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { isId, isTenantId } from '../ledger/kernel/id-grammar.ts';
import { isAsset } from '../ledger/kernel/keys.ts';
import { type Decimal, fitsOperation, fitsScale, parseDecimal } from '../ledger/kernel/money.ts';
import {
  type ReturnUrlRule,
  hasUserInfo,
  isAllowedReturnUrl,
  isLoopback,
  parseReturnUrlRule,
  parseUrl,
} from './urls.ts';

/** What a tenant keeps balances of. */
export interface AssetRule {
  /** `ECOPAY`, `POINT`, `JCREDIT` or `REGIONAL/<key>`. */
  readonly asset: string;
  /** Decimals of every amount of it. */
  readonly scale: number;
  /** The most that a cash top-up, a positive adjustment or the claim of a card top-up may bring a balance to. */
  readonly cap?: Decimal;
  /** Adjustments of more than this, up or down, need a second admin; absent: none does. */
  readonly approvalAbove?: Decimal;
  /** The currency in which it pays for orders, one to one; absent: it pays for none. */
  readonly pays?: string;
}

/** What a charge earns on top, per unit of the tenant's currency. */
export interface Rewards {
  /** POINT per unit charged, rounded down to the scale of POINT. */
  readonly pointRate?: Decimal;
  /** Kilograms of CO2 saved per unit charged. */
  readonly co2KgRate?: Decimal;
}

export interface Merchant {
  readonly merchantId: string;
  readonly name: string;
  /** Where its orders' changes are told; absent: nowhere. */
  readonly notifyUrl?: string;
  /** One or two Standard Webhooks secrets (`whsec_…`): two while one is being rotated. */
  readonly notifySecrets: readonly string[];
}

/** An operator of the platform (docs/DESIGN.md §12). */
export interface Tenant {
  readonly tenant: string;
  readonly name: string;
  readonly currency: string;
  readonly assets: ReadonlyMap<string, AssetRule>;
  readonly rewards: Rewards;
  /** Stripe's `payment_method_types`. */
  readonly paymentMethods: readonly string[];
  readonly returnUrls: readonly ReturnUrlRule[];
  readonly merchants: ReadonlyMap<string, Merchant>;
}

export type Tenants = ReadonlyMap<string, Tenant>;

/** The largest scale of an asset. */
export const MAX_SCALE = 8;

/** Whether `url` may be a success or cancel URL of this tenant's checkouts. */
export function mayReturnTo(tenant: Tenant, url: string): boolean {
  return isAllowedReturnUrl(tenant.returnUrls, url);
}

export interface TenantsOptions {
  /** In production nothing may lead to this machine: neither a return URL nor a merchant's notifications. */
  readonly production: boolean;
}

/** Reads the tenants' file. Throws ConfigError with one sentence if it can't be read or isn't JSON, or one per problem in it. */
export function loadTenants(path: string, options: TenantsOptions): Tenants {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError(['TENANTS_FILE names a file that can not be read.']);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new ConfigError(['TENANTS_FILE names a file that is not JSON.']);
  }
  return parseTenants(json, options);
}

/** Reads the tenants' file, already JSON. Throws ConfigError with one sentence per problem, naming the path and no value. */
export function parseTenants(json: unknown, options: TenantsOptions): Tenants {
  const file = byName('an object of tenants, each by its name: { "demo": { … } }', tenantSchema(options));
  const read = file.safeParse(json);
  const problems = read.success
    ? contradictions(read.data)
    : read.error.issues.map(({ path, message }) => problem(path, message));
  if (!read.success || problems.length > 0) throw new ConfigError(problems);
  return new Map(Object.entries(read.data).map(([tenant, rules]) => [tenant, toTenant(tenant, rules)]));
}

function problem(path: readonly PropertyKey[], message: string): string {
  const place = path.length === 0 ? '' : ` ${path.map(String).join('.')}`;
  return `TENANTS_FILE${place}: ${message}.`;
}

/** A text of the file, and what it is read as: undefined means that it is refused with `message`. */
function textOf<Value>(message: string, read: (text: string) => Value | undefined) {
  return z.string(message).transform((text, context): Value => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

function ofForm(message: string, isAllowed: (value: string) => boolean) {
  return z.string(message).refine(isAllowed, message);
}

const positiveDecimal = textOf('takes a positive decimal in a string, such as "0.01"', (text) => {
  const value = parseDecimal(text);
  return value?.gt(0) === true && fitsOperation(value) ? value : undefined;
});

/** A bound that may be nothing at all. */
const decimalFromZero = textOf('takes a decimal from 0 on in a string, such as "10000"', (text) => {
  const value = parseDecimal(text);
  return value?.gte(0) === true && fitsOperation(value) ? value : undefined;
});

/** An object of the file. `takes` completes the sentence "TENANTS_FILE demo takes …"; a key that it doesn't take is named. */
function objectOf<Shape extends z.ZodRawShape>(takes: string, shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `takes no ${issue.keys.join(', no ')}: it takes ${Object.keys(shape).join(', ')}`
        : `takes ${takes}`,
  });
}

/** An object with names of the tenant's own as keys. */
function byName<Value extends z.ZodType>(takes: string, value: Value) {
  return z.record(z.string(), value, `takes ${takes}`);
}

const nameSchema = ofForm('takes a name of 1 to 100 characters', (value) => {
  return value.trim() === value && value.length >= 1 && value.length <= 100;
});

const currencySchema = ofForm('takes the code of a currency that Stripe settles, such as JPY', isCurrency);

const SCALE_MESSAGE = `takes a whole number from 0 to ${MAX_SCALE}`;

const assetSchema = objectOf('an object such as { "scale": 0, "pays": "JPY" }', {
  scale: z.int(SCALE_MESSAGE).min(0, SCALE_MESSAGE).max(MAX_SCALE, SCALE_MESSAGE),
  cap: positiveDecimal.optional(),
  approvalAbove: decimalFromZero.optional(),
  pays: currencySchema.optional(),
});

const rewardsSchema = objectOf('an object such as { "pointRate": "0.01" }', {
  pointRate: positiveDecimal.optional(),
  co2KgRate: positiveDecimal.optional(),
});

const paymentMethodSchema = ofForm('takes a payment method type of Stripe, such as card', (value) =>
  /^[a-z][a-z0-9_]*$/.test(value),
);

/** Standard Webhooks: base64 of 24 to 64 random bytes. */
const notifySecretSchema = ofForm('takes whsec_ and the base64 of 24 to 64 bytes', (value) => {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(value)?.[1] ?? '';
  const { length } = Buffer.from(encoded, 'base64');
  return length >= 24 && length <= 64;
});

/** The demo's, in dev/demo-tenants.json: everyone can sign with it. */
const PUBLISHED_NOTIFY_SECRET = 'whsec_aGl0b3RzdS1kZXZlbG9wbWVudC1ub3QtZm9yLXByb2R1Y3Rpb24=';

function merchantSchema({ production }: TenantsOptions) {
  const notifyUrl = ofForm(
    `takes an https URL without user, password and fragment${production ? ', to a public host' : ''}`,
    (value) => {
      const url = parseUrl(value);
      if (url === undefined || hasUserInfo(url) || url.hash !== '') return false;
      if (production) return url.protocol === 'https:' && mayBePublic(value);
      return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
    },
  );
  const notifySecret = notifySecretSchema.refine(
    (value) => !production || value !== PUBLISHED_NOTIFY_SECRET,
    "takes a secret of your own in production, not the demo's",
  );
  return objectOf('an object such as { "name": "Café" }', {
    name: nameSchema,
    notifyUrl: notifyUrl.optional(),
    notifySecrets: z
      .array(notifySecret, 'takes a list of one secret or two')
      .max(2, 'takes at most two secrets')
      .default([]),
  });
}

function tenantSchema(options: TenantsOptions) {
  const alsoLocal = options.production ? '' : ', or http://localhost:* or a port of it';
  const returnUrl = textOf(
    `takes an https URL without query and fragment, or an app's scheme such as my-app://${alsoLocal}`,
    (value) => parseReturnUrlRule(value, { allowLoopback: !options.production }),
  );
  return objectOf('an object with name, currency, assets, paymentMethods, returnUrls and merchants', {
    name: nameSchema,
    currency: currencySchema,
    assets: byName('an object of assets, each by its name: { "ECOPAY": { "scale": 0 } }', assetSchema),
    rewards: rewardsSchema.default({}),
    paymentMethods: z
      .array(paymentMethodSchema, 'takes a list of payment method types of Stripe, such as ["card"]')
      .min(1, 'takes at least one payment method type'),
    returnUrls: z.array(returnUrl, 'takes a list of URLs, which may be empty'),
    merchants: byName(
      'an object of merchants, each by its name: { "cafe": { "name": "Café" } }',
      merchantSchema(options),
    ),
  });
}

type TenantFile = z.infer<ReturnType<typeof tenantSchema>>;

/** What the shape alone doesn't show: names that are no ids, and rules that contradict each other. */
function contradictions(tenants: Readonly<Record<string, TenantFile>>): readonly string[] {
  return Object.entries(tenants).flatMap(([tenant, { currency: own, assets, rewards, merchants }]) => {
    const found: string[] = [];
    const note = (path: readonly string[], message: string): void => {
      found.push(problem([tenant, ...path], message));
    };
    if (!isTenantId(tenant)) note([], 'is no name that a tenant may have');
    for (const [asset, rule] of Object.entries(assets))
      for (const message of assetProblems(asset, rule, own)) note(['assets', asset], message);
    if (rewards.pointRate !== undefined && !Object.hasOwn(assets, 'POINT'))
      note(['rewards', 'pointRate'], 'needs the asset POINT');
    for (const [merchantId, { notifyUrl, notifySecrets }] of Object.entries(merchants)) {
      const path = ['merchants', merchantId];
      if (!isId(merchantId)) note(path, 'is no name that a merchant may have');
      if (notifyUrl !== undefined && notifySecrets.length === 0)
        note([...path, 'notifySecrets'], 'takes one secret or two where there is a notifyUrl');
    }
    return found;
  });
}

function assetProblems(
  asset: string,
  { scale, cap, approvalAbove, pays }: TenantFile['assets'][string],
  tenantCurrency: string,
): readonly string[] {
  const problems: string[] = [];
  if (!isAsset(asset)) problems.push('is none of ECOPAY, POINT, JCREDIT and REGIONAL/<key>');
  if (cap !== undefined && !fitsScale(cap, scale))
    problems.push('has a cap with more decimals than its scale');
  if (approvalAbove !== undefined && !fitsScale(approvalAbove, scale))
    problems.push('has an approvalAbove with more decimals than its scale');
  if (pays === undefined) return problems;
  if (pays !== tenantCurrency) problems.push("can pay in the tenant's own currency only");
  // One to one: every price must be an amount of the asset.
  else if (scale < currency(pays).scale)
    problems.push('needs at least as many decimals as the currency it pays in');
  return problems;
}

function toTenant(tenant: string, { assets, rewards, merchants, ...rest }: TenantFile): Tenant {
  return {
    tenant,
    ...rest,
    assets: new Map(
      Object.entries(assets).map(([asset, { scale, ...rule }]) => [
        asset,
        { asset, scale, ...defined(rule) },
      ]),
    ),
    rewards: defined(rewards),
    merchants: new Map(
      Object.entries(merchants).map(([merchantId, { name, notifySecrets, notifyUrl }]) => [
        merchantId,
        { merchantId, name, notifySecrets, ...defined({ notifyUrl }) },
      ]),
    ),
  };
}
