import { spawnSync } from 'node:child_process';
import { EXIT, type ExitCode, readWords, runCommandLine } from '../src/cli/command-line.ts';
import { defined } from '../src/ledger/defined.ts';
import { playFollowUps } from './demo-follow-ups.ts';
import { playKonbini } from './demo-konbini.ts';
import { playMigration } from './demo-migrate.ts';
import { type Stage, checkBooks, playCard, playWallet } from './demo-payment.ts';
import { type Theatre, castFor, openTheatre } from './demo-theatre.ts';
import { playTunnel } from './demo-tunnel.ts';
import { createGatewayClient } from './gateway-client.ts';
import { type Narrator, createNarrator } from './narrator.ts';
import { createSimulatorControls } from './simulator-controls.ts';
import { describeStartFailure } from './start-failure.ts';

const HELP = `Usage: npm run demo -- [--tunnel] [--migrate]

Drives the running gateway, or one of its own, over real HTTP and WebSocket, and prints what happened.

  (nothing)    plays whole payments: wallet, card, follow-ups, convenience store; then the audit
  --tunnel     a connection that is cut in the middle of a payment
  --migrate    a migration under traffic, on a table of its own; with --tunnel one story after the other

Examples:
  npm run demo
  npm run demo -- --tunnel --migrate

Exit codes: 0 all of it held, 1 something did not, 2 asked wrongly, 3 it could not be played`;

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

async function main(args: readonly string[]): Promise<ExitCode> {
  const { has } = readWords(args, { flags: ['tunnel', 'migrate'] });
  const narrator = createNarrator((line) => process.stdout.write(`${line}\n`));
  if (has('tunnel') || !has('migrate')) await playOnGateway(narrator, has('tunnel'));
  if (has('migrate')) await playMigration(narrator);
  const failures = narrator.failures();
  process.stdout.write(failures === 0 ? '\nAll of it held.\n\n' : `\n${String(failures)} did NOT hold.\n\n`);
  return failures === 0 ? EXIT.done : EXIT.found;
}

await runCommandLine(HELP, main, describeStartFailure);
