import {
  EXIT,
  type ExitCode,
  UsageError,
  readCount,
  readWords,
  runCommandLine,
  showProgress,
} from '../src/cli/command-line.ts';
import { loadConfig } from '../src/config/config.ts';
import { describeStartFailure } from './start-failure.ts';

const HELP = `Usage: npm run prove -- [--json] [--short] [--only QUESTION] [--seed N]

Answers the questions of docs/CHECKLIST.md by trying to break Hitotsu: on an engine, a Stripe simulator, gateways and a
worker of its own, which end with it. About three minutes; the page /proof of npm start shows the last run.

  --json           prints the proof as data
  --short          tries the same with less, in about a minute
  --only QUESTION  answers one: double-charges, balances, tampering, webhooks, failures or audits
  --seed N         what happens by chance: another number tries something else; 1 unless given

Examples:
  npm run prove
  npm run prove -- --only webhooks --seed 7

Exit codes: 0 every answer held, 1 one did not, 2 asked wrongly, 3 it could not be tried`;

const MAX_SEED = 2 ** 31 - 1;

async function main(args: readonly string[]): Promise<ExitCode> {
  const { has, valueOf } = readWords(args, { flags: ['json', 'short'], options: ['only', 'seed'] });
  const seed = readCount('--seed', valueOf('seed') ?? '1', MAX_SEED);
  // The whole product takes seconds to load: what only asks for help, or asks wrongly, needn't wait for it.
  const { QUESTIONS } = await import('./prove/questions.ts');
  const only = valueOf('only');
  const questions = QUESTIONS.filter(({ id }) => only === undefined || id === only);
  if (questions.length === 0)
    throw new UsageError(`--only takes ${QUESTIONS.map(({ id }) => id).join(', ')}, not "${only ?? ''}".`);
  const { prove } = await import('./prove/prove.ts');
  const { printedAnswer, printedVerdict } = await import('./prove/printed-proof.ts');
  const print = (text: string): void => {
    showProgress();
    if (!has('json')) process.stdout.write(`${text}\n`);
  };
  const proof = await prove({
    questions,
    extent: has('short') ? 'short' : 'full',
    seed,
    onProgress: showProgress,
    onAnswer: (answer, place) => {
      print(printedAnswer(answer, place));
    },
  });
  print(printedVerdict(proof));
  if (has('json')) process.stdout.write(`${JSON.stringify(proof, undefined, 2)}\n`);
  // The page shows whole runs: a part would look as if the rest had not been asked.
  if (only === undefined) (await import('./prove/proof-file.ts')).keepProof(loadConfig().dataDir, proof);
  return proof.held ? EXIT.done : EXIT.found;
}

await runCommandLine(HELP, main, describeStartFailure);
