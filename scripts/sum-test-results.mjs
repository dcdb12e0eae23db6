// Ends a CI run: prints "N passed, N failed" over every JSON result in a folder. Exit status 1 if anything failed or nothing ran.
// Arguments: the folder, then the names of the steps that failed. One that reports no failed test (it didn't get that far)
// counts as one.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const [folder, ...names] = process.argv.slice(2);
const failedSteps = new Set(names);

let passed = 0;
let failed = 0;
for (const file of resultFiles()) {
  const result = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  // A file that could not be loaded has failed without a single test.
  const unloaded = result.testResults.filter(
    (one) => one.status === 'failed' && one.assertionResults.length === 0,
  );
  const failures = result.numFailedTests + unloaded.length;
  passed += result.numPassedTests;
  failed += failures;
  if (failures > 0) failedSteps.delete(basename(file, '.json'));
}
failed += failedSteps.size;
if (failedSteps.size > 0) console.log(`Failed without a test's verdict: ${[...failedSteps].join(', ')}`);
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || passed === 0) process.exit(1);

function resultFiles() {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}
