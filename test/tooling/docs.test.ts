import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const ARCHITECTURE = 'docs/ARCHITECTURE.md';
const DESIGN = 'docs/DESIGN.md';
const LONGEST_SENTENCE = 40;
/** Trees that the layout of ARCHITECTURE.md shows folder by folder. */
const SHOWN_WHOLE = ['src', 'dev'];
/** What a path in a page may begin with. */
const TOP_LEVEL = /^(src|dev|test|scripts|bench|infra|docs)\//;

/** A glob ends a path at its folder: `src/cli/show-*.ts` is held to `src/cli/`. */
function withoutGlob(path: string): string {
  const glob = path.search(/[*{]/);
  return glob === -1 ? path : path.slice(0, path.lastIndexOf('/', glob) + 1);
}

function folders(): readonly string[] {
  const files = execFileSync('git', ['ls-files', ...SHOWN_WHOLE], { cwd: ROOT, encoding: 'utf8' });
  const all = new Set<string>();
  for (const file of files.split('\n').filter((name) => name.includes('/'))) {
    if (!existsSync(join(ROOT, file))) continue;
    for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) all.add(`${folder}/`);
  }
  return [...all].sort();
}

/** Paths in backquotes and in blocks of code. */
function pathsOf(page: string): readonly string[] {
  const blocks = [...page.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  const spans = [...page.replace(/^```[\s\S]+?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, span = '']) => span,
  );
  return [...blocks, ...spans]
    .flatMap((text) => text.split(/[\s,|]+/))
    .filter((word) => TOP_LEVEL.test(word))
    .map(withoutGlob);
}

/** The sentences of a page's running text: without tables, code blocks and headings; a span of code is one word. */
function sentencesOf(page: string): readonly string[] {
  const text = page
    .replace(/^```[\s\S]+?^```/gm, '')
    .replace(/`[^`\n]*`/g, 'code')
    .split('\n')
    .filter((line) => !/^\s*(\||#)/.test(line))
    .map((line) => line.replace(/^\s*(?:[-*]|\d+\.)\s+/, '\n\n'))
    .join('\n')
    .replace(/\*\*/g, '');
  return text
    .split(/\n\s*\n|(?<=[.!?][)"]?)\s+(?=\S)/)
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim());
}

function words(sentence: string): number {
  return sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

const architecture = readFileSync(join(ROOT, ARCHITECTURE), 'utf8');

describe('the architecture page', () => {
  it('shows every folder of the source and of the development tools', () => {
    const shown = new Set(pathsOf(architecture));
    expect(folders().length).toBeGreaterThan(40);
    expect(folders().filter((folder) => !shown.has(folder))).toEqual([]);
  });

  it('names no file or folder that is not there', () => {
    const named = pathsOf(architecture);
    expect(named.length).toBeGreaterThan(80);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('the pages about the code', () => {
  const pages = readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`);

  it.each(['README.md', 'CONTRIBUTING.md', ...pages])('%s names no path that is not there', (page) => {
    const named = pathsOf(readFileSync(join(ROOT, page), 'utf8'));
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('the design', () => {
  const sentences = sentencesOf(readFileSync(join(ROOT, DESIGN), 'utf8'));

  it(`has no sentence of more than ${String(LONGEST_SENTENCE)} words`, () => {
    expect(sentences.length).toBeGreaterThan(150);
    expect(sentences.filter((sentence) => words(sentence) > LONGEST_SENTENCE)).toEqual([]);
  });

  it('splits and counts sentences as a reader would', () => {
    const page =
      '# Title\n- **One** `a b c` two. Three (four.) Five\n  six!\n\n| a | table. |\n1. Seven → eight';
    expect(sentencesOf(page).filter((one) => one !== '')).toEqual([
      'One code two.',
      'Three (four.)',
      'Five six!',
      'Seven → eight',
    ]);
    expect(words('Seven → eight')).toBe(2);
  });

  it('has every section that the code names', () => {
    const named = execFileSync(
      'git',
      ['grep', '-hoE', 'DESIGN\\.md(\\]\\([^)]*\\))?,? §[0-9]+', '--', 'src', 'dev', 'test', 'docs'],
      {
        cwd: ROOT,
        encoding: 'utf8',
      },
    );
    const design = readFileSync(join(ROOT, DESIGN), 'utf8');
    const numbers = new Set([...named.matchAll(/§(\d+)/g)].map(([, number = '']) => number));
    expect(numbers.size).toBeGreaterThan(7);
    expect([...numbers].filter((number) => !design.includes(`\n## ${number}. `))).toEqual([]);
  });
});
