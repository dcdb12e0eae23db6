import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** The cases of docs/FIELD-CASES.md, each with its tests by file and title. */
const cases = (await readFile(join(root, 'docs/FIELD-CASES.md'), 'utf8'))
  .split(/^\*\*(?=C\d\d\.)/m)
  .slice(1)
  .map((text) => ({
    id: text.slice(0, 3),
    tests: [...text.matchAll(/^- `(.+)` “(.+)”$/gm)].map(([, file = '', title = '']) => ({ file, title })),
  }));

describe('docs/FIELD-CASES.md', () => {
  it('has 42 cases, each once', () => {
    expect(cases).toHaveLength(42);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(42);
  });

  it.each(cases)('$id is protected by tests that are there', async ({ tests }) => {
    expect(tests).not.toEqual([]);
    for (const { file, title } of tests) {
      const source = await readFile(join(root, 'test', file), 'utf8');
      expect(source.replaceAll("\\'", "'"), file).toContain(title);
    }
  });
});
