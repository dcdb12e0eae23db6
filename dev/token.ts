/** `npm run token -- --sub alice --role customer`: prints a token for the gateway that the same environment configures. */
import { parseArgs } from 'node:util';
import { type Role, ROLES } from '../src/auth/viewer.ts';
import { loadConfig } from '../src/config.ts';
import { isId, isTenantId } from '../src/ledger/id-grammar.ts';
import { signToken, type TokenRequest } from './sign-token.ts';

const USAGE =
  'Usage: npm run token -- --sub <id> --role customer|merchant|terminal|admin [--tenant demo] [--merchant cafe] [--ttl 12h]';

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function readTtlS(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ttlS = Number.parseInt(count, 10) * (SECONDS_OF[unit] ?? Number.NaN);
  if (!(ttlS > 0)) throw new Error('--ttl takes a time such as 90s, 30m, 12h or 7d.');
  return ttlS;
}

function readRole(text: string): Role {
  const role = ROLES.find((one) => one.toLowerCase() === text);
  if (role === undefined) throw new Error('--role takes customer, merchant, terminal or admin.');
  return role;
}

function readRequest(): TokenRequest {
  const { values } = parseArgs({
    options: {
      sub: { type: 'string' },
      role: { type: 'string' },
      tenant: { type: 'string', default: 'demo' },
      merchant: { type: 'string', default: 'cafe' },
      ttl: { type: 'string', default: '12h' },
    },
  });
  const { sub: subject, role: roleText, tenant, merchant: merchantId } = values;
  if (subject === undefined || roleText === undefined) throw new Error(USAGE);
  if (!isId(subject) || !isTenantId(tenant) || !isId(merchantId)) {
    throw new Error('Names have up to 128 letters, digits and _.:|- and begin with a letter or digit.');
  }
  const role = readRole(roleText);
  const ofMerchant = role === 'MERCHANT' || role === 'TERMINAL';
  return { subject, role, tenant, ttlS: readTtlS(values.ttl), ...(ofMerchant && { merchantId }) };
}

try {
  const config = loadConfig();
  if (config.production)
    throw new Error('Tokens of production come from its identity provider, not from here.');
  console.log(await signToken(config.auth, readRequest(), Date.now()));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
