/** `npm run token -- --sub alice --role customer`: prints a token for the gateway that the same environment configures. */
import { type Role, ROLES } from '../src/auth/viewer.ts';
import { EXIT, type ExitCode, UsageError, readWords, runCommandLine } from '../src/cli/command-line.ts';
import { loadConfig } from '../src/config/config.ts';
import { systemClock } from '../src/ledger/kernel/clock.ts';
import { isId } from '../src/ledger/kernel/id-grammar.ts';
import { type Tenants, loadTenants } from '../src/config/tenants.ts';
import { signToken, type TokenRequest } from './sign-token.ts';

const HELP = `Usage: npm run token -- --sub NAME --role ROLE [--tenant demo] [--merchant cafe] [--ttl 12h]

Prints a token for the gateway that the same environment configures. Tenant and merchant are those of TENANTS_FILE.

  --sub NAME         who it speaks for: a customer's account, or a name for who works there
  --role ROLE        customer, merchant, terminal or admin
  --tenant NAME      demo unless given
  --merchant NAME    of merchants and terminals; cafe unless given
  --ttl TIME         how long it lives, such as 90s, 30m, 12h or 7d; 12h unless given

Examples:
  npm run token -- --sub alice --role customer
  npm run token -- --sub flowers-till --role terminal --merchant flowers --ttl 30m

Exit codes: 0 printed, 2 asked wrongly, 3 it can't be made here`;

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function readTtlS(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ttlS = Number.parseInt(count, 10) * (SECONDS_OF[unit] ?? Number.NaN);
  if (!(ttlS > 0)) throw new UsageError(`--ttl takes a time such as 90s, 30m, 12h or 7d, not "${text}".`);
  return ttlS;
}

function readRole(text: string | undefined): Role {
  const role = ROLES.find((one) => one.toLowerCase() === text);
  if (role !== undefined) return role;
  const given = text === undefined ? '' : `, not "${text}"`;
  throw new UsageError(`--role takes customer, merchant, terminal or admin${given}.`);
}

function readRequest(args: readonly string[], tenants: Tenants): TokenRequest {
  const { valueOf } = readWords(args, { options: ['sub', 'role', 'tenant', 'merchant', 'ttl'] });
  const subject = valueOf('sub');
  if (subject === undefined) throw new UsageError('--sub must say who the token is for.');
  if (!isId(subject)) {
    throw new UsageError(
      `--sub takes up to 128 letters, digits and _.:|- that begin with a letter or digit, not "${subject}".`,
    );
  }
  const role = readRole(valueOf('role'));
  const tenant = valueOf('tenant') ?? 'demo';
  const ofMerchant = role === 'MERCHANT' || role === 'TERMINAL';
  const merchantId = ofMerchant ? (valueOf('merchant') ?? 'cafe') : undefined;
  refuseUnknown(tenants, tenant, merchantId);
  const ttlS = readTtlS(valueOf('ttl') ?? '12h');
  return { subject, role, tenant, ttlS, ...(merchantId !== undefined && { merchantId }) };
}

/** The gateway refuses a token that names what its TENANTS_FILE doesn't. */
function refuseUnknown(tenants: Tenants, name: string, merchantId: string | undefined): void {
  const tenant = tenants.get(name);
  if (tenant === undefined) {
    throw new UsageError(`--tenant: TENANTS_FILE has no tenant "${name}", only ${listed(tenants)}.`);
  }
  if (merchantId !== undefined && !tenant.merchants.has(merchantId)) {
    throw new UsageError(
      `--merchant: tenant ${name} has no merchant "${merchantId}", only ${listed(tenant.merchants)}.`,
    );
  }
}

function listed(named: ReadonlyMap<string, unknown>): string {
  return named.size === 0 ? 'none' : [...named.keys()].join(', ');
}

async function main(args: readonly string[]): Promise<ExitCode> {
  const config = loadConfig();
  if (config.production)
    throw new Error('Tokens of production come from its identity provider, not from here.');
  const request = readRequest(args, loadTenants(config.tenantsFile, config));
  console.log(await signToken(config.auth, request, systemClock.nowMs()));
  return EXIT.done;
}

await runCommandLine(HELP, main);
