// Everything that can be said about the code without running it. Independent steps run side by side; only failures speak.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);

/** The slowest first, so that the others fit beside it. */
const STEPS = [
  { name: 'lint', command: [bin('eslint'), '.', '--max-warnings', '0'] },
  { name: 'types', command: [bin('tsc'), '--noEmit', '-p', '.'] },
  {
    name: 'layers',
    command: [
      bin('depcruise'),
      '--config',
      '.dependency-cruiser.cjs',
      'src',
      'dev',
      'scripts',
      'test',
      'codegen.ts',
    ],
  },
  { name: 'format', command: [bin('prettier'), '--check', '--log-level', 'warn', '.'] },
  { name: 'schema is up to date', command: [bin('tsx'), 'scripts/print-schema.ts', '--check'] },
  { name: 'generated documents are up to date', command: [bin('tsx'), 'codegen.ts', '--check'] },
  { name: 'contract', command: [bin('tsx'), 'scripts/check-contract.ts'] },
  { name: 'full selections', command: [bin('tsx'), 'scripts/full-selection.ts'] },
];

const startedAt = performance.now();
const waiting = [...STEPS];
let failed = 0;
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
if (failed > 0) {
  console.error(`${failed} of ${STEPS.length} checks failed.`);
  process.exit(1);
}
console.log(`${STEPS.length} checks passed in ${seconds(startedAt)}.`);

async function work() {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    const stepStartedAt = performance.now();
    const { code, output } = await run(step.command);
    console.log(`${code === 0 ? '✓' : '✗'} ${step.name} (${seconds(stepStartedAt)})`);
    if (code === 0) continue;
    failed += 1;
    console.error(output.trim());
  }
}

function run([program, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.once('error', (error) => resolve({ code: 1, output: error.message }));
    child.once('close', (code) => resolve({ code, output }));
  });
}

function seconds(sinceMs) {
  return `${((performance.now() - sinceMs) / 1_000).toFixed(1)} s`;
}
