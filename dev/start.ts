import { type Development, startDevelopment } from './development.ts';
import { announceRunning, forgetRunning } from './running.ts';
import { describeStartFailure } from './start-failure.ts';

/** `npm start`: everything on this machine, until Ctrl-C. */
async function main(): Promise<void> {
  const development = await startDevelopment(process.env);
  const { gatewayUrl, simulatorUrl, dynamodbEndpoint, stop } = development;
  announceRunning({
    pid: process.pid,
    gatewayUrl,
    ...(simulatorUrl === undefined ? {} : { simulatorUrl }),
    ...(dynamodbEndpoint === undefined ? {} : { dynamodbEndpoint }),
  });
  process.stdout.write(welcome(development));
  let stopping: Promise<void> | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stopping ??= stop().then(() => {
        forgetRunning();
        process.exit(0);
      });
    });
  }
}

function welcome({ gatewayUrl, simulatorUrl, tokens }: Development): string {
  const { customer, terminal, merchant, admin } = tokens;
  return `
  Hitotsu is ready.

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
  Ctrl-C stops everything.

`;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${describeStartFailure(error)}\n`);
  process.exit(1);
}
