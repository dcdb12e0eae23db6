import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Proof, proofSchema } from './proof.ts';

/** Where the last run is kept for the page, beside what `npm start` keeps; in memory it keeps nothing, a proof stays. */
function proofFile(dataDir: string): string {
  return join(dataDir === 'memory' ? '.data' : dataDir, 'proof.json');
}

export function keepProof(dataDir: string, proof: Proof): string {
  const file = proofFile(dataDir);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(proof, undefined, 2)}\n`);
  return file;
}

/** The last run; undefined if there was none, or if what is there isn't one. */
export function lastProof(dataDir: string): Proof | undefined {
  try {
    return proofSchema.safeParse(JSON.parse(readFileSync(proofFile(dataDir), 'utf8'))).data;
  } catch {
    return undefined;
  }
}
