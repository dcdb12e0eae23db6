import { spawnSync } from 'node:child_process';
import { defined } from '../../src/ledger/kernel/defined.ts';
import { playFollowUps } from './follow-ups.ts';
import { playKonbini } from './konbini.ts';
import { playMigration } from './migration.ts';
import { type Stage, checkBooks, playCard, playWallet } from './payment.ts';
import { type Theatre, castFor, openTheatre } from './theatre.ts';
import { playTunnel } from './cut-payment.ts';
import { createGatewayClient } from './gateway-client.ts';
import { type Narrator, createNarrator } from './narrator.ts';
import { createSimulatorControls } from './simulator-controls.ts';

/** Proves from the whole table that no money was made or lost, as an operator would. */
function auditTable({ tell }: Narrator, endpoint: string | undefined): boolean {
  // Where nothing says which table it is, the command itself says so, and nothing is proved.
  const environment = { ...process.env, ...defined({ DYNAMODB_ENDPOINT: endpoint }) };
  const audit = spawnSync('npm', ['run', '--silent', 'audit'], { env: environment, encoding: 'utf8' });
  const said = audit.status === 0 ? audit.stdout : audit.stdout + audit.stderr;
  for (const line of said.trimEnd().split('\n')) tell(line);
  return audit.status === 0;
}

async function playPayments(stage: Stage, theatre: Theatre): Promise<void> {
  const { narrator } = stage;
  await playWallet(stage);
  await playCard(stage);
  await playFollowUps(stage);
  await playKonbini(stage);
  await checkBooks(stage);
  narrator.step('The audit of the whole ledger: no money was made or lost');
  narrator.check(auditTable(narrator, theatre.dynamodbEndpoint), 'the ledger balances');
}

async function playOnGateway(narrator: Narrator, tunnel: boolean): Promise<void> {
  const theatre = await openTheatre();
  try {
    if (theatre.simulatorUrl === undefined) throw new Error('The demo needs the Stripe simulator.');
    const stage: Stage = {
      gateway: createGatewayClient(theatre.gatewayUrl),
      simulator: createSimulatorControls(theatre.simulatorUrl),
      cast: await castFor(theatre),
      narrator,
    };
    const whose = theatre.own ? 'a gateway of its own' : 'the running gateway';
    process.stdout.write(`\nPlaying against ${whose} at ${theatre.gatewayUrl}\n`);
    await (tunnel ? playTunnel(stage, theatre.gatewayUrl) : playPayments(stage, theatre));
  } finally {
    await theatre.stop();
  }
}

/** Which stories to play; neither: whole payments. */
export interface Programme {
  readonly tunnel: boolean;
  readonly migrate: boolean;
}

/** Plays the demo on standard output; gives how many of its checks did not hold. */
export async function playDemo({ tunnel, migrate }: Programme): Promise<number> {
  const narrator = createNarrator((line) => process.stdout.write(`${line}\n`));
  if (tunnel || !migrate) await playOnGateway(narrator, tunnel);
  if (migrate) await playMigration(narrator);
  return narrator.failures();
}
