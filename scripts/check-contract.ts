import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { compareWithContract } from './contract.ts';
import { committedSchema, ROOT, runAsProgram } from './generated-file.ts';

/**
 * Compares schema.graphql with contract.graphql. Fails on anything breaking, and on anything missing that contract-missing.txt
 * doesn't name; a name there that is missing no longer fails too, so that the list only ever tells the truth.
 */

const ALLOWED_MISSING = join(ROOT, 'contract-missing.txt');

/** What a run of the check finds: lines to print, and whether it passes. */
export interface ContractVerdict {
  readonly passed: boolean;
  readonly lines: readonly string[];
}

/** Judges the schema by the contract and by the coordinates that may still be missing. */
export function judge(
  contractText: string,
  schemaText: string,
  allowedMissing: ReadonlySet<string>,
): ContractVerdict {
  const { breaking, missing } = compareWithContract(buildSchema(contractText), buildSchema(schemaText));
  const unexpected = missing.filter((coordinate) => !allowedMissing.has(coordinate));
  const stale = [...allowedMissing].filter((coordinate) => !missing.includes(coordinate));
  return {
    passed: breaking.length === 0 && unexpected.length === 0 && stale.length === 0,
    lines: [
      ...breaking.map((change) => `breaking: ${change}`),
      ...missing.map(
        (coordinate) => `missing${allowedMissing.has(coordinate) ? ' (for now)' : ''}: ${coordinate}`,
      ),
      ...stale.map((coordinate) => `no longer missing, remove it from contract-missing.txt: ${coordinate}`),
      ...(breaking.length + missing.length === 0 ? ['The schema keeps the whole contract.'] : []),
    ],
  };
}

/** One coordinate a line; blank lines and lines that start with # don't count. */
export function parseAllowedMissing(text: string): ReadonlySet<string> {
  return new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#')),
  );
}

await runAsProgram(import.meta, async () => {
  const contract = await readFile(join(ROOT, 'contract.graphql'), 'utf8');
  const allowed = await readFile(ALLOWED_MISSING, 'utf8').catch(() => '');
  const { passed, lines } = judge(contract, await committedSchema(), parseAllowedMissing(allowed));
  for (const line of lines) console.log(line);
  return passed;
});
