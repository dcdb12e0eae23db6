import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { printedAnswer, printedVerdict } from '../../dev/prove/printed-proof.ts';
import { keepProof, lastProof } from '../../dev/prove/proof-file.ts';
import { proofPage } from '../../dev/prove/proof-page.ts';
import type { Proof, ProvenClaim } from '../../dev/prove/proof.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hitotsu-proof-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function claim(found: string): ProvenClaim {
  const held = found === '200';
  return {
    id: 'charge-once',
    claim: 'A charge is made <once>.',
    held,
    tookMs: 9_870,
    done: '200 charges, each sent 5 times',
    checks: [{ what: 'entries of charges', expected: '200', found, held }],
    rules: [{ symbol: 'fingerprint', file: 'src/ledger/kernel/fingerprint.ts', line: 9 }],
    testFiles: 2,
    tests: 31,
    plantedBugs: 1,
  };
}

function proof(found: string): Proof {
  const one = claim(found);
  const { held } = one;
  const question = 'Can a customer be charged twice?';
  const answer = { id: 'double-charges', question, held, turnedRedBy: ['a bug'], claims: [one] };
  const run = { at: '2026-12-01T09:30:00.000Z', extent: 'full', seed: 7, tookMs: 81_400 } as const;
  return { ...run, held, questions: [answer] };
}

it('is printed with what was tried, seen, where the rule stands and what holds it', () => {
  const { questions } = proof('200');
  expect(questions.map((answer) => printedAnswer(answer, 1)).join('')).toBe(`
1. Can a customer be charged twice?   HELD
   turns red under: a bug

   ✓ A charge is made <once>.
     [charge-once, 9.9 s]
     tried    200 charges, each sent 5 times
     seen     entries of charges: 200
     rule     src/ledger/kernel/fingerprint.ts:9 fingerprint
     held by  31 tests in 2 files, 1 planted bug`);
  expect(printedVerdict(proof('200'))).toBe('\nAll 1 answer held: 1 of 1 claim (81.4 s, seed 7).\n');
});

it('is printed red where a count is another', () => {
  const red = proof('201');
  expect(printedAnswer(red.questions[0] ?? { ...EMPTY }, 1)).toContain('✗ entries of charges: 201, not 200');
  expect(printedVerdict(red)).toContain('NOT held: double-charges: 0 of 1 claim');
});

it('says on its page how to run it, before any run', async () => {
  const text = await (await proofPage(folder)()).text();
  expect(text).toContain('npm run prove');
  expect(text).not.toContain('✓');
});

it('is shown on its page as it was kept, every text escaped', async () => {
  const kept = proof('201');
  const file = keepProof(folder, kept);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(kept);
  expect(lastProof(folder)).toEqual(kept);
  const response = await proofPage(folder)();
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const text = await response.text();
  expect(text).toContain('A charge is made &lt;once&gt;.');
  expect(text).toContain('✗ did not hold');
  expect(text).toMatch(
    /<td>entries of charges<\/td>\s*<td class="number broken">201<\/td>\s*<td class="number">200<\/td>/,
  );
});

const EMPTY = { id: '', question: '', held: false, turnedRedBy: [], claims: [] };
