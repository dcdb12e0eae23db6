import { z } from 'zod';

/** What a run of `npm run prove` gives, also as its own JSON. */
export const proofSchema = z.object({
  at: z.iso.datetime(),
  extent: z.enum(['full', 'short']),
  /** Decides what a run does by chance: the same seed tries the same. */
  seed: z.number(),
  tookMs: z.number(),
  held: z.boolean(),
  questions: z.array(
    z.object({
      id: z.string(),
      question: z.string(),
      held: z.boolean(),
      turnedRedBy: z.array(z.string()),
      claims: z.array(
        z.object({
          id: z.string(),
          claim: z.string(),
          held: z.boolean(),
          tookMs: z.number(),
          done: z.string(),
          checks: z.array(
            z.object({ what: z.string(), expected: z.string(), found: z.string(), held: z.boolean() }),
          ),
          /** Why the attempt didn't come to its end. */
          broke: z.string().optional(),
          rules: z.array(z.object({ symbol: z.string(), file: z.string(), line: z.number() })),
          testFiles: z.number(),
          tests: z.number(),
          plantedBugs: z.number(),
        }),
      ),
    }),
  ),
});
export type Proof = z.output<typeof proofSchema>;
export type Answer = Proof['questions'][number];
export type ProvenClaim = Answer['claims'][number];
