import { AUDITS } from './audits.ts';
import { BALANCES } from './balances.ts';
import { type Claim, type Question, type Trial, checkNone } from './claim.ts';
import { DOUBLE_CHARGES } from './double-charges.ts';
import { readTree } from './evidence.ts';
import { FAILURES } from './failures.ts';
import { TAMPERING } from './tampering.ts';
import { WEBHOOKS } from './webhooks.ts';

const ATTACKS: readonly Question[] = [DOUBLE_CHARGES, BALANCES, TAMPERING, WEBHOOKS, FAILURES];
/** Two planted bugs for each answer: one alone might be noticed by chance. */
const LEAST_BUGS = 2;

/** Looks at the tree, not at the table: what keeps all this true tomorrow. */
function rulesAreTested(): Trial {
  const tree = readTree();
  const claims = [...ATTACKS, AUDITS].flatMap((question) => question.claims);
  const evidence = claims.map((claim) => ({ id: claim.id, ...tree.evidenceOf(claim) }));
  const without = (what: 'tests' | 'plantedBugs'): readonly string[] =>
    evidence.filter((of) => of[what] === 0).map(({ id }) => id);
  const questions = [...ATTACKS, AUDITS].filter(({ id }) => tree.turnedRedBy(id).length < LEAST_BUGS);
  return {
    done:
      `the source searched for the rules of ${String(claims.length)} claims, for the tests that hold them and for planted ` +
      `bugs: ${String(tree.tests)} tests in ${String(tree.testFiles)} files, ${String(tree.plantedBugs)} planted bugs`,
    checks: [
      checkNone(
        'rules that the source does not have',
        evidence.flatMap(({ unfound }) => unfound),
      ),
      checkNone('claims without tests', without('tests')),
      checkNone('claims without planted bugs', without('plantedBugs')),
      checkNone(
        `answers that fewer than ${String(LEAST_BUGS)} planted bugs turn red`,
        questions.map(({ id }) => id),
      ),
    ],
  };
}

const RULES_ARE_TESTED: Claim = {
  id: 'rules-are-tested',
  claim: 'Every rule has tests, and planted bugs that these tests have to notice.',
  rules: [],
  tests: ['test/tooling/planted.test.ts', 'test/tooling/checklist.test.ts'],
  attempt: () => Promise.resolve(rulesAreTested()),
};

/** The six questions of a careful buyer, in the order in which they are asked. */
export const QUESTIONS: readonly Question[] = [
  ...ATTACKS,
  { ...AUDITS, claims: [...AUDITS.claims, RULES_ARE_TESTED] },
];
