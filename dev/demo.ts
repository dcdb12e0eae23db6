import { EXIT, type ExitCode, readWords, runCommandLine } from '../src/cli/command-line.ts';
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

async function main(args: readonly string[]): Promise<ExitCode> {
  const { has } = readWords(args, { flags: ['tunnel', 'migrate'] });
  // The whole product takes seconds to load: what only asks for help, or asks wrongly, needn't wait for it.
  const { playDemo } = await import('./demo/play-demo.ts');
  const failures = await playDemo({ tunnel: has('tunnel'), migrate: has('migrate') });
  process.stdout.write(failures === 0 ? '\nAll of it held.\n\n' : `\n${String(failures)} did NOT hold.\n\n`);
  return failures === 0 ? EXIT.done : EXIT.found;
}

await runCommandLine(HELP, main, describeStartFailure);
