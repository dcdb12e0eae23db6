import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTree } from '../../dev/prove/evidence.ts';
import { QUESTIONS } from '../../dev/prove/questions.ts';

/** docs/CHECKLIST.md claims nothing that `npm run prove` doesn't try, and what it points at is there. */

const page = readFileSync(join(import.meta.dirname, '../../docs/CHECKLIST.md'), 'utf8');
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [, id = '', question = ''] = /^([a-z-]+): (.+)\n/.exec(section) ?? [];
    const claims = [...section.matchAll(/^- `([a-z-]+)` \*\*([^*]+)\*\*/gm)];
    return {
      id,
      question,
      claims: claims.map(([, claim = '', text = '']) => [claim, text.replace(/\s+/g, ' ')] as const),
    };
  });
const tree = readTree();
const claims = QUESTIONS.flatMap((question) => question.claims);

describe('docs/CHECKLIST.md', () => {
  it('asks what is answered, and claims what is tried, word for word', () => {
    const asked = sections.filter(({ id }) => id !== '');
    expect(asked).toHaveLength(6);
    expect(asked).toEqual(
      QUESTIONS.map(({ id, question, claims: tried }) => ({
        id,
        question,
        claims: tried.map(({ id: name, claim }) => [name, claim]),
      })),
    );
  });

  it('has no claim twice', () => {
    const ids = claims.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(20);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

describe('what a proof points at', () => {
  it.each(claims.map((claim) => [claim.id, claim] as const))(
    'is there for %s: its rules, each declared once, its tests and planted bugs',
    (_id, claim) => {
      const { rules, unfound, tests, plantedBugs } = tree.evidenceOf(claim);
      expect(unfound).toEqual([]);
      expect(rules.map(({ symbol }) => symbol)).toEqual(claim.rules);
      expect(tests).toBeGreaterThan(0);
      if (claim.rules.length > 0) expect(plantedBugs).toBeGreaterThan(0);
    },
  );

  it.each(claims.flatMap(({ tests }) => tests))('is a test that is there: %s', (path) => {
    expect(tree.evidenceOf({ ...ANY_CLAIM, tests: [path] }).testFiles).toBeGreaterThan(0);
  });

  it.each(QUESTIONS.map(({ id }) => id))('turns %s red: two planted bugs or more', (id) => {
    expect(tree.turnedRedBy(id).length).toBeGreaterThanOrEqual(2);
  });

  it('is found by searching, and not where it is not', () => {
    const { rules, unfound } = tree.evidenceOf({ ...ANY_CLAIM, rules: ['fingerprint', 'noSuchRule'] });
    expect(rules).toHaveLength(1);
    expect(rules[0]?.file).toBe('src/ledger/kernel/fingerprint.ts');
    const lines = readFileSync(
      join(import.meta.dirname, '../../src/ledger/kernel/fingerprint.ts'),
      'utf8',
    ).split('\n');
    expect(lines[(rules[0]?.line ?? 0) - 1]).toContain('function fingerprint(');
    expect(unfound).toEqual(['noSuchRule']);
  });
});

const ANY_CLAIM = {
  id: 'any',
  claim: 'any',
  rules: [],
  tests: [],
  attempt: () => Promise.reject(new Error('not tried')),
};
