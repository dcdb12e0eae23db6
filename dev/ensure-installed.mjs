// Installs the dependencies when they are missing or older than the lock file, so that every npm script works on a fresh clone.
// Plain Node: it runs before anything is installed. Silent when there is nothing to do.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const required = engines.node.replace('>=', '');
if (isOlder(process.versions.node, required)) {
  console.error(`Hitotsu needs Node ${required} or later; this is ${process.versions.node}.`);
  process.exit(1);
}

if (needsInstall()) {
  console.error('Installing dependencies…');
  // npm names its own entry file, which also spares us the shell that npm needs on Windows.
  const npm = process.env.npm_execpath;
  const [command, ...prefix] = npm === undefined ? ['npm'] : [process.execPath, npm];
  const { status, error } = spawnSync(command, [...prefix, 'ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) {
    console.error(
      `The dependencies could not be installed${error === undefined ? '' : `: ${error.message}`}.`,
    );
    process.exit(1);
  }
}

/** npm writes its own copy of the lock at the end of a complete install. */
function needsInstall() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  return (
    !existsSync(installed) || statSync(installed).mtimeMs < statSync(join(root, 'package-lock.json')).mtimeMs
  );
}

function isOlder(version, minimum) {
  return version.localeCompare(minimum, 'en', { numeric: true }) < 0;
}
