import { systemClock } from '../../src/ledger/kernel/clock.ts';
import type { Claim, Question } from './claim.ts';
import { type Tree, readTree } from './evidence.ts';
import type { Answer, Proof, ProvenClaim } from './proof.ts';
import { type Extent, type ProvingGround, startProvingGround } from './proving-ground.ts';

export interface ProveOptions {
  readonly questions: readonly Question[];
  readonly extent: Extent;
  readonly seed: number;
  /** Told before the ground is started and before each attempt. */
  readonly onProgress?: (what: string) => void;
  readonly onAnswer?: (answer: Answer, place: number) => void;
}

/** Answers the questions one after another, on a proving ground that is started for them and ended after them. */
export async function prove(options: ProveOptions): Promise<Proof> {
  const { questions, extent, seed, onProgress = () => undefined, onAnswer } = options;
  const startMs = performance.now();
  const at = new Date(systemClock.nowMs()).toISOString();
  const tree = readTree();
  onProgress('starting an engine, a Stripe simulator, two gateways and a worker');
  const ground = await startProvingGround(extent, seed);
  const stopAndExit = (): void => {
    void ground.stop().finally(() => process.exit(130));
  };
  process.once('SIGINT', stopAndExit).once('SIGTERM', stopAndExit);
  try {
    const answers: Answer[] = [];
    for (const [index, question] of questions.entries()) {
      const answer = await answerQuestion(ground, question, tree, onProgress);
      onAnswer?.(answer, index + 1);
      answers.push(answer);
    }
    const held = answers.every((answer) => answer.held);
    return { at, extent, seed, tookMs: Math.round(performance.now() - startMs), held, questions: answers };
  } finally {
    await ground.stop();
    process.off('SIGINT', stopAndExit).off('SIGTERM', stopAndExit);
  }
}

/** Tries to break each claim of a question in turn. */
export async function answerQuestion(
  ground: ProvingGround,
  { id, question, claims }: Question,
  tree: Tree,
  onProgress: (what: string) => void = () => undefined,
): Promise<Answer> {
  const proven: ProvenClaim[] = [];
  for (const claim of claims) {
    onProgress(claim.id);
    proven.push(await tryToBreak(ground, claim, tree));
  }
  return {
    id,
    question,
    held: proven.every(({ held }) => held),
    turnedRedBy: [...tree.turnedRedBy(id)],
    claims: proven,
  };
}

async function tryToBreak(ground: ProvingGround, claim: Claim, tree: Tree): Promise<ProvenClaim> {
  const startMs = performance.now();
  const { rules, testFiles, tests, plantedBugs } = tree.evidenceOf(claim);
  const about = { id: claim.id, claim: claim.claim, rules: [...rules], testFiles, tests, plantedBugs };
  const tookMs = (): number => Math.round(performance.now() - startMs);
  try {
    const { done, checks } = await claim.attempt(ground);
    const held = checks.length > 0 && checks.every((one) => one.held);
    return { ...about, held, tookMs: tookMs(), done, checks: [...checks] };
  } catch (error) {
    // An attempt that doesn't come to its end proves nothing.
    const broke = error instanceof Error ? error.message : String(error);
    return { ...about, held: false, tookMs: tookMs(), done: '', checks: [], broke };
  } finally {
    // What one attempt left undone mustn't be the next one's trouble.
    ground.faults.calm();
    await ground.simulator.calm();
    await ground.simulator.setWebhooks({ on: true });
    await ground.simulator.release();
  }
}
