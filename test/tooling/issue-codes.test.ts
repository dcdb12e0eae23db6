import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ISSUE_CODES } from '../../src/ledger/model/outcomes.ts';

it('every code of an issue is explained to those who write clients', async () => {
  const guide = await readFile(join(import.meta.dirname, '../../docs/CLIENTS.md'), 'utf8');
  expect(ISSUE_CODES.filter((code) => !guide.includes(`\`${code}\``))).toEqual([]);
});
