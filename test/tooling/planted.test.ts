import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PLANTED_BUGS } from '../../scripts/planted-bugs.ts';

/** `npm run test:planted` plants each of them. One that can't be planted any more would be found only there. */

const ROOT = join(import.meta.dirname, '..', '..');

it.each(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))(
  '"%s" can still be planted',
  async (_name, { file, from, to, tests }) => {
    const source = await readFile(join(ROOT, file), 'utf8');
    expect(source.split(from)).toHaveLength(2);
    expect(to).not.toBe(from);
    for (const test of tests) {
      expect(test).toMatch(/\.test\.ts$/);
      await expect(access(join(ROOT, test))).resolves.toBeUndefined();
    }
  },
);
