import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTree } from '../../dev/prove/evidence.ts';
import { answerQuestion } from '../../dev/prove/prove.ts';
import type { ProvenClaim } from '../../dev/prove/proof.ts';
import { type StartedGround, startProvingGround } from '../../dev/prove/proving-ground.ts';
import { QUESTIONS } from '../../dev/prove/questions.ts';

/** The short form of `npm run prove`. Under the bugs of scripts/planted-bugs-prove.ts an answer has to turn red. */

const SEED = 1;

let ground: StartedGround;
beforeAll(async () => {
  ground = await startProvingGround('short', SEED);
}, 120_000);
afterAll(async () => {
  await ground.stop();
});

/** What did not hold, as somebody would want to read it. */
function notHeld({ id, broke, checks }: ProvenClaim): readonly string[] {
  const red = checks.filter(({ held }) => !held);
  return [
    ...(broke === undefined ? [] : [`${id} broke off: ${broke}`]),
    ...red.map(({ what, found, expected }) => `${id}: ${what}: ${found}, not ${expected}`),
  ];
}

describe('every claim of the checklist holds against', () => {
  it.each(QUESTIONS.map((question) => [question.id, question] as const))(
    '%s',
    async (_id, question) => {
      const answer = await answerQuestion(ground, question, readTree());
      expect(answer.claims.flatMap(notHeld)).toEqual([]);
      expect(answer.held).toBe(true);
      expect(answer.claims.map(({ id }) => id)).toEqual(question.claims.map(({ id }) => id));
      expect(answer.claims.flatMap(({ checks }) => checks).length).toBeGreaterThan(8);
    },
    180_000,
  );
});
