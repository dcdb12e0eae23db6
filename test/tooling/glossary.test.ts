import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const GLOSSARY = 'docs/GLOSSARY.md';

/** Words that once had a private meaning here; docs/GLOSSARY.md has those that took their place. */
const RETIRED_WORDS: ReadonlySet<string> = new Set(
  [
    'marker markers fact facts told booking bookings booked aside surplus slip slips owed lacking',
    'suffer suffers undergo undergone fate fates learn learnt news occasion occasions happening happenings',
    'bury buried census crew mirror mirrors mirrored conduct era',
  ]
    .join(' ')
    .split(' '),
);

/** The same for names of several words. */
const RETIRED_NAMES = [
  'lookUp',
  'giveBack',
  'sleepOn',
  'breakOff',
  'letGo',
  'AtOnce',
  'COME_AGAIN',
  'READ_AGAIN',
];

/** Public or stored names, which stay: each with the reason. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['SURPLUS', 'an enum value of the contract'],
  ['SURPLUS_RECEIVED', 'an enum value of the contract'],
  ['SurplusPayment', 'a metric'],
  ['surplus', 'an attribute of an order, and the prefix of an account'],
  ['slip', 'an attribute of an order'],
  ['booked_as', 'an attribute of a recorded payment'],
]);

/** Source files and their identifiers. Generated files have the schema's names, which the contract holds. */
function identifiersByFile(): ReadonlyMap<string, ReadonlySet<string>> {
  const files = execFileSync('git', ['ls-files', 'src', 'dev', 'test', 'scripts', 'bench'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const sources = files.split('\n').filter((file) => file.endsWith('.ts') && !file.includes('/generated/'));
  return new Map(sources.map((file) => [file, identifiersOf(file)]));
}

function identifiersOf(file: string): ReadonlySet<string> {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return names;
}

/** `readOrderAt`, `MAX_TRIES` and `read-order.ts` as lower-case words. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .map((word) => word.toLowerCase());
}

function isRetired(name: string): boolean {
  return (
    wordsOf(name).some((word) => RETIRED_WORDS.has(word)) || RETIRED_NAMES.some((one) => name.includes(one))
  );
}

/** Term and the name that stands for it in the code, row by row. */
function glossaryRows(): readonly (readonly [term: string, name: string])[] {
  const lines = readFileSync(join(ROOT, GLOSSARY), 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, term = '', code = ''] = line.split('|').map((cell) => cell.trim());
    const name = /^`(\w+)`$/.exec(code)?.[1];
    return name === undefined ? [] : [[term, name] as const];
  });
}

const identifiers = identifiersByFile();

describe('the glossary', () => {
  it('has terms, each once', () => {
    const terms = glossaryRows().map(([term]) => term);
    expect(terms.length).toBeGreaterThan(40);
    expect(terms).toEqual([...new Set(terms)]);
  });

  it.each(glossaryRows())('%s is %s in the source', (_term, name) => {
    const users = [...identifiers].filter(([file, names]) => file.startsWith('src/') && names.has(name));
    expect(users).not.toEqual([]);
  });

  it('has retired words that no identifier uses any more', () => {
    const left = [...identifiers].flatMap(([file, names]) =>
      [...names]
        .filter((name) => isRetired(name) && !EXCEPTIONS.has(name))
        .map((name) => `${name} in ${file}`),
    );
    expect(left).toEqual([]);
  });

  it('has retired words that no file is named by', () => {
    expect([...identifiers.keys()].filter(isRetired)).toEqual([]);
  });

  it('makes exceptions only for what is there', () => {
    const all = new Set([...identifiers.values()].flatMap((names) => [...names]));
    expect([...EXCEPTIONS.keys()].filter((name) => !all.has(name))).toEqual([]);
  });
});

describe('a word has one meaning', () => {
  it('so that no two files of the source export a name', () => {
    const homes = new Map<string, string[]>();
    for (const file of identifiers.keys()) {
      if (!file.startsWith('src/')) continue;
      for (const name of exportsOf(file)) homes.set(name, [...(homes.get(name) ?? []), file]);
    }
    expect([...homes].filter(([, files]) => files.length > 1)).toEqual([]);
  });
});

function exportsOf(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const declared = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm;
  return [...new Set([...text.matchAll(declared)].flatMap(([, name]) => (name === undefined ? [] : [name])))];
}
