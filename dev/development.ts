import { ConfigError } from '../src/config/config-error.ts';
import { loadConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/main/listen.ts';
import { loadTenants } from '../src/config/tenants.ts';
import type { GraphiqlTab } from '../src/transport/graphiql-page.ts';
import { systemClock } from '../src/ledger/kernel/clock.ts';
import { type BackingServices, type StartListener, startBackingServices } from './backing-services.ts';
import { createGatewayClient } from './demo/gateway-client.ts';
import { homePage } from './home-page.ts';
import { proofPage } from './prove/proof-page.ts';
import { customerTabs } from './demo/customer-tabs.ts';
import { roleTabs } from './demo/role-tabs.ts';
import { seed } from './demo/seed.ts';
import { signToken, type DemoTokens, type DemoRole } from './sign-token.ts';

/** The whole product running on this machine. */
export interface Development {
  readonly gatewayUrl: string;
  readonly simulatorUrl?: string;
  readonly dynamodbEndpoint?: string;
  readonly tokens: DemoTokens;
  /** Signs a development token for anybody. */
  readonly sign: (subject: string, role: DemoRole, merchantId?: string) => Promise<string>;
  /** Resolves when the embedded engine has ended without having been told to: nothing works from then on. */
  readonly engineLost: Promise<void>;
  readonly stop: () => Promise<void>;
}

const TOKEN_LIFE_S = 12 * 3_600;

/** Starts engine, simulator, gateway and worker, and seeds the demo tenant. Throws an Error in one sentence. */
export async function startDevelopment(
  environment: NodeJS.ProcessEnv,
  listener: StartListener = {},
): Promise<Development> {
  requireDemoTenant(environment);
  const services = await startBackingServices(environment, listener);
  let server: RunningServer | undefined;
  const stop = async (): Promise<void> => {
    await server?.close();
    await services.stop();
  };
  try {
    const sign = signer(services);
    const tokens = await signDemoTokens(sign);
    let moreTabs: readonly GraphiqlTab[] = [];
    server = await startServer(services.config, {
      graphiql: { tabs: (origin) => [...customerTabs(origin, tokens.customer), ...moreTabs] },
      pages: { '/': homePage(services.simulator?.url), '/proof': proofPage(services.config.dataDir) },
    });
    await services.simulator?.sendWebhooksTo(`${server.url}/webhooks/stripe`);
    const bob = await sign('bob', 'CUSTOMER');
    const orders = await seed(createGatewayClient(server.url), { ...tokens, alice: tokens.customer, bob });
    moreTabs = roleTabs(tokens, orders);
    return {
      gatewayUrl: server.url,
      tokens,
      sign,
      engineLost: services.engineLost,
      stop,
      ...(services.simulator === undefined ? {} : { simulatorUrl: services.simulator.url }),
      ...(services.config.table.endpoint === undefined
        ? {}
        : { dynamodbEndpoint: services.config.table.endpoint }),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Else the gateway would be there, and refuse the tokens that seed it. */
function requireDemoTenant(environment: NodeJS.ProcessEnv): void {
  const config = loadConfig(environment);
  if (loadTenants(config.tenantsFile, config).get('demo')?.merchants.has('cafe') === true) return;
  throw new ConfigError([
    'TENANTS_FILE must have a tenant demo with a merchant cafe: they are what npm start fills with life.',
  ]);
}

function signer({ config }: BackingServices): Development['sign'] {
  return (subject, role, merchantId) =>
    signToken(
      config.auth,
      {
        subject,
        role,
        tenant: 'demo',
        ttlS: TOKEN_LIFE_S,
        ...(merchantId === undefined ? {} : { merchantId }),
      },
      systemClock.nowMs(),
    );
}

async function signDemoTokens(sign: Development['sign']): Promise<DemoTokens> {
  const [customer, terminal, merchant, admin] = await Promise.all([
    sign('alice', 'CUSTOMER'),
    sign('cafe-till', 'TERMINAL', 'cafe'),
    sign('cafe-office', 'MERCHANT', 'cafe'),
    sign('root', 'ADMIN'),
  ]);
  return { customer, terminal, merchant, admin };
}
