import { spawnSync } from 'node:child_process';
import { randomIds } from '../src/ledger/ids.ts';
import { loadConfig } from '../src/config.ts';
import { systemClock } from '../src/ledger/clock.ts';
import { playFollowUps } from './demo-follow-ups.ts';
import { playKonbini } from './demo-konbini.ts';
import { type Cast, type Stage, checkBooks, playCard, playWallet } from './demo-payment.ts';
import { type DemoRole, type Development, startDevelopment } from './development.ts';
import { createGatewayClient } from './gateway-client.ts';
import { createNarrator } from './narrator.ts';
import { findRunning } from './running.ts';
import { signToken } from './sign-token.ts';
import { createSimulatorControls } from './simulator-controls.ts';
import { describeStartFailure } from './start-failure.ts';

/** What the demo plays against: the gateway that `npm start` runs, or one of its own that keeps nothing. */
interface Theatre extends Pick<
  Development,
  'gatewayUrl' | 'simulatorUrl' | 'dynamodbEndpoint' | 'sign' | 'stop'
> {
  readonly own: boolean;
}

async function openTheatre(): Promise<Theatre> {
  const running = findRunning();
  if (running === undefined) {
    const environment = { ...process.env, PORT: '0', STRIPE_SIMULATOR_PORT: '0', DATA_DIR: 'memory' };
    return { ...(await startDevelopment({ ...environment, LOG_LEVEL: 'warn' })), own: true };
  }
  const { auth } = loadConfig();
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

async function castFor({ sign }: Theatre): Promise<Cast> {
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

/** Proves from the whole table that no money was made or lost, as an operator would. */
function auditTable(endpoint: string | undefined): boolean {
  if (endpoint === undefined) return true;
  const environment = { ...process.env, DYNAMODB_ENDPOINT: endpoint };
  const audit = spawnSync('npm', ['run', '--silent', 'audit'], { env: environment, encoding: 'utf8' });
  process.stdout.write(audit.stdout.replace(/^/gm, '      '));
  if (audit.status !== 0) process.stdout.write(audit.stderr);
  return audit.status === 0;
}

async function main(): Promise<number> {
  const theatre = await openTheatre();
  try {
    if (theatre.simulatorUrl === undefined) throw new Error('The demo needs the Stripe simulator.');
    const narrator = createNarrator((line) => process.stdout.write(`${line}\n`));
    const stage: Stage = {
      gateway: createGatewayClient(theatre.gatewayUrl),
      simulator: createSimulatorControls(theatre.simulatorUrl),
      cast: await castFor(theatre),
      narrator,
    };
    process.stdout.write(
      `\nPlaying against ${theatre.own ? 'a gateway of its own' : 'the running gateway'} at ${theatre.gatewayUrl}\n`,
    );
    await playWallet(stage);
    await playCard(stage);
    await playFollowUps(stage);
    await playKonbini(stage);
    await checkBooks(stage);
    narrator.step('The audit of the whole ledger: no money was made or lost');
    narrator.check(auditTable(theatre.dynamodbEndpoint), 'the ledger balances');
    const failures = narrator.failures();
    process.stdout.write(
      failures === 0 ? '\nAll of it held.\n\n' : `\n${String(failures)} did NOT hold.\n\n`,
    );
    return failures;
  } finally {
    await theatre.stop();
  }
}

try {
  process.exitCode = (await main()) === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`${describeStartFailure(error)}\n`);
  process.exitCode = 1;
}
