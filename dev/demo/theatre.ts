import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/ledger/kernel/clock.ts';
import { randomIds } from '../../src/ledger/kernel/ids.ts';
import type { Cast } from './payment.ts';
import { type Development, startDevelopment } from '../development.ts';
import { findRunning } from '../engine/running.ts';
import { signToken, type DemoRole } from '../sign-token.ts';

/** What the demo plays against: the gateway that `npm start` runs, or one of its own that keeps nothing. */
export interface Theatre extends Pick<
  Development,
  'gatewayUrl' | 'simulatorUrl' | 'dynamodbEndpoint' | 'sign' | 'stop'
> {
  readonly own: boolean;
}

/** Finds the running gateway, or starts one that keeps nothing. */
export async function openTheatre(): Promise<Theatre> {
  const { auth, dataDir } = loadConfig();
  const running = findRunning(dataDir);
  if (running === undefined) {
    const environment = { ...process.env, PORT: '0', STRIPE_SIMULATOR_PORT: '0', DATA_DIR: 'memory' };
    return { ...(await startDevelopment({ ...environment, LOG_LEVEL: 'warn' })), own: true };
  }
  const sign = (subject: string, role: DemoRole, merchantId?: string): Promise<string> => {
    const request = {
      subject,
      role,
      tenant: 'demo',
      ttlS: 3_600,
      ...(merchantId === undefined ? {} : { merchantId }),
    };
    return signToken(auth, request, systemClock.nowMs());
  };
  const { gatewayUrl, simulatorUrl, dynamodbEndpoint } = running;
  return {
    gatewayUrl,
    sign,
    own: false,
    stop: () => Promise.resolve(),
    ...(simulatorUrl === undefined ? {} : { simulatorUrl }),
    ...(dynamodbEndpoint === undefined ? {} : { dynamodbEndpoint }),
  };
}

/** A cast of its own for this run, so that a demo may be played again and again. */
export async function castFor({ sign }: Theatre): Promise<Cast> {
  const run = randomIds().ulid(systemClock.nowMs());
  const accountId = `demo-${run}`;
  const [customer, terminal, merchant, admin] = await Promise.all([
    sign(accountId, 'CUSTOMER'),
    sign('cafe-till', 'TERMINAL', 'cafe'),
    sign('cafe-office', 'MERCHANT', 'cafe'),
    sign('root', 'ADMIN'),
  ]);
  return { accountId, customer, terminal, merchant, admin, key: (purpose) => `demo-${run}-${purpose}` };
}
