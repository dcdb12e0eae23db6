import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PlantedBug } from '../../scripts/planted-bug.ts';
import { PLANTED_BUGS } from '../../scripts/planted-bugs.ts';
import type { Claim } from './claim.ts';

/*
 * Where a rule stands and what holds it, found in the tree by the run itself: nothing here knows a line or a count.
 */

/** Where a function or constant is declared. */
export interface Place {
  readonly symbol: string;
  readonly file: string;
  readonly line: number;
}

export interface Evidence {
  readonly rules: readonly Place[];
  /** Names of rules that the source doesn't declare, or declares twice. */
  readonly unfound: readonly string[];
  readonly testFiles: number;
  /** Tests as they are written: a table of cases counts once. */
  readonly tests: number;
  readonly plantedBugs: number;
}

export interface Tree {
  readonly evidenceOf: (claim: Claim) => Evidence;
  /** The planted bugs that a question's answer must turn red under, by name. */
  readonly turnedRedBy: (questionId: string) => readonly string[];
  readonly testFiles: number;
  readonly tests: number;
  readonly plantedBugs: number;
}

const ROOT = join(import.meta.dirname, '..', '..');
/** The test in which planted bugs are noticed by the answers themselves. */
export const PROVE_TEST = 'test/prove/answers.test.ts';
const TEST_CALL = /^ *(?:it|test)(?:\.(?:each|for|skipIf|runIf|prop))?\s*\(/gm;

function textsUnder(folder: string, ending: string): ReadonlyMap<string, string> {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return new Map(
    files
      .filter((file) => file.endsWith(ending))
      .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
      .sort()
      .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
  );
}

/** Reads the tree once. */
export function readTree(): Tree {
  const sources = textsUnder('src', '.ts');
  const testCounts = new Map(
    [...textsUnder('test', '.test.ts')].map(([file, text]) => [file, text.match(TEST_CALL)?.length ?? 0]),
  );
  const sum = (files: readonly string[]): number =>
    files.reduce((all, file) => all + (testCounts.get(file) ?? 0), 0);
  return {
    evidenceOf: ({ rules, tests }) => {
      const found = rules.map((symbol) => [symbol, placesOf(symbol, sources)] as const);
      const places = found.flatMap(([, all]) => all);
      const files = [...testCounts.keys()].filter((file) => tests.some((path) => file.startsWith(path)));
      const ruled = new Set(places.map(({ file }) => file));
      return {
        rules: places,
        unfound: found.filter(([, all]) => all.length !== 1).map(([symbol]) => symbol),
        testFiles: files.length,
        tests: sum(files),
        plantedBugs: PLANTED_BUGS.filter(
          (bug) => ruled.has(bug.file) || bug.tests.some((test) => files.includes(test)),
        ).length,
      };
    },
    turnedRedBy: (questionId) =>
      PLANTED_BUGS.filter((bug) => isForProve(bug) && bug.only === questionId).map(({ name }) => name),
    testFiles: testCounts.size,
    tests: sum([...testCounts.keys()]),
    plantedBugs: PLANTED_BUGS.length,
  };
}

function isForProve({ tests }: PlantedBug): boolean {
  return tests.includes(PROVE_TEST);
}

/** Where it is declared. A rule that others use is the one that is meant: a helper elsewhere may have the same name. */
function placesOf(symbol: string, sources: ReadonlyMap<string, string>): readonly Place[] {
  const exported = declarations(symbol, sources, 'export ');
  return exported.length > 0 ? exported : declarations(symbol, sources, '');
}

function declarations(
  symbol: string,
  sources: ReadonlyMap<string, string>,
  prefix: string,
): readonly Place[] {
  const declaration = new RegExp(
    String.raw`^${prefix}(?:async )?(?:function\*?|const|class) ${symbol}\b`,
    'm',
  );
  return [...sources].flatMap(([file, text]) => {
    const at = text.search(declaration);
    return at === -1 ? [] : [{ symbol, file, line: text.slice(0, at).split('\n').length }];
  });
}
