import { loadConfig } from '../src/config/config.ts';
import { type DataDirClaim, claimDataDir } from './engine/data-dir.ts';
import { type Development, startDevelopment } from './development.ts';
import { describeStartFailure } from './start-failure.ts';

/** `npm start`: everything on this machine, until Ctrl-C, or until the engine has gone. */
async function main(): Promise<void> {
  const claim = await claimDataDir(loadConfig().dataDir);
  const development = await startOn(claim);
  const { gatewayUrl, simulatorUrl, dynamodbEndpoint } = development;
  claim.announce({ gatewayUrl, simulatorUrl, dynamodbEndpoint });
  process.stdout.write(welcome(development));
  let stopping: Promise<void> | undefined;
  const stop = (exitCode: number): void => {
    stopping ??= development.stop().then(() => {
      claim.release();
      process.exit(exitCode);
    });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stop(0);
    });
  }
  void development.engineLost.then(() => {
    process.stderr.write('The embedded engine has ended by itself, or was killed: everything stops.\n');
    stop(1);
  });
}

async function startOn(claim: DataDirClaim): Promise<Development> {
  try {
    return await startDevelopment(quietly(process.env), claim);
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** The screen is for people: what a program logs by default, a line for each mutation, is for who asks for it. */
function quietly(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { LOG_LEVEL = '' } = environment;
  return { ...environment, LOG_LEVEL: LOG_LEVEL === '' ? 'warn' : LOG_LEVEL };
}

function welcome({ gatewayUrl, simulatorUrl, tokens }: Development): string {
  const { customer, terminal, merchant, admin } = tokens;
  return `
  Hitotsu is ready.

  Everything        ${gatewayUrl}/
  GraphiQL          ${gatewayUrl}/graphql
  Stripe simulator  ${simulatorUrl ?? "none: talking to Stripe's own API"}

  Tokens of the demo tenant (12 hours)
  customer alice
    ${customer}
  terminal cafe-till
    ${terminal}
  merchant cafe
    ${merchant}
  admin root
    ${admin}

  Next: open GraphiQL, its tabs run as they are; or type  npm run demo  in another terminal.
  Ctrl-C stops everything. LOG_LEVEL=info shows a line for each mutation and webhook.

`;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${describeStartFailure(error)}\n`);
  process.exit(1);
}
