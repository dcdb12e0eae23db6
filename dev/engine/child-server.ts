import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, isFree } from './free-port.ts';

/** A server program to run as a child process on a port of 127.0.0.1. */
export interface ChildServerSpec {
  /** What the program is called in error messages. */
  readonly name: string;
  readonly command: string;
  readonly args: (port: number) => readonly string[];
  /** A fixed port; without it any free one. */
  readonly port?: number;
  /** The folder it runs in; without it, the current one. */
  readonly workingDir?: string;
  /** Whether the server answers on this port yet. It may throw while it doesn't. */
  readonly answers: (port: number) => Promise<boolean>;
  readonly startTimeoutMs: number;
}

/** A running child server. `stop` asks it to end (SIGTERM), and waits until it has; calling it again is harmless. */
export interface ChildServer {
  readonly pid: number;
  readonly port: number;
  /** Resolves when it has ended without having been told to. */
  readonly lost: Promise<void>;
  readonly stop: () => Promise<void>;
}

/** How long a server may take to end by itself before it is killed. */
const STOP_TIMEOUT_MS = 5_000;
const POLL_INTERVAL_MS = 5;
const PORT_ATTEMPTS = 3;
/** Enough of what the program wrote to see why it gave up. */
const OUTPUT_TAIL_CHARACTERS = 2_000;

/** Starts the program and waits until it answers. Throws an Error with its last output when it ends or stays silent. */
export async function startChildServer(spec: ChildServerSpec): Promise<ChildServer> {
  if (spec.port !== undefined) {
    // Else the stranger that listens there would be taken for the child.
    if (!(await isFree(spec.port)))
      throw new Error(`Port ${spec.port} is taken, so ${spec.name} can't start on it.`);
    return await startOn(spec.port, spec);
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOn(await freePort(), spec);
    } catch (error) {
      // Another program may have taken the free port in between; a real fault shows on every port.
      if (attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function startOn(port: number, spec: ChildServerSpec): Promise<ChildServer> {
  // Its own process group: Ctrl-C in a terminal must reach the one who started it alone, which stops it when it has drained.
  const child = spawn(spec.command, spec.args(port), {
    cwd: spec.workingDir,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collectOutput(child);
  const ended = new AbortController();
  child.once('error', (error) => {
    output.add(error.message);
    ended.abort();
  });
  child.once('exit', () => {
    ended.abort();
  });
  const killWithParent = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', killWithParent);
  watchOver(child);
  let reported = false;
  const lost = new Promise<void>((resolve) => {
    child.once('exit', () => {
      if (!reported) resolve();
    });
  });

  const stop = async (): Promise<void> => {
    reported = true;
    process.off('exit', killWithParent);
    await stopChild(child);
  };
  const answered = await waitUntilAnswering(port, spec, ended.signal);
  if (answered && child.pid !== undefined) return { pid: child.pid, port, lost, stop };
  const why = ended.signal.aborted ? 'ended at once' : `did not answer within ${spec.startTimeoutMs} ms`;
  await stop();
  throw new Error(`${spec.name} on port ${port} ${why}. ${output.tail()}`.trim());
}

/** Reads until the end of its input, which comes when whoever holds the other end has gone; then it kills. */
const WATCHDOG = 'while read -r line; do :; done; kill -9 "$1"';

/** Ends the child when this process is killed: no handler of ours runs then, but the watchdog's input ends. */
function watchOver(child: ChildProcess): void {
  if (child.pid === undefined || process.platform === 'win32') return;
  // Its own process group, as the child's: what ends this process mustn't end the watchdog first.
  const watchdog = spawn('sh', ['-c', WATCHDOG, 'watchdog', String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell the child is what it would be without a watchdog.
  watchdog.once('error', () => undefined);
  child.once('exit', () => watchdog.kill('SIGKILL'));
}

async function waitUntilAnswering(port: number, spec: ChildServerSpec, ended: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + spec.startTimeoutMs;
  while (!ended.aborted && performance.now() < deadline) {
    const answers = await spec.answers(port).catch(() => false);
    if (answers) return !ended.aborted;
    await delay(POLL_INTERVAL_MS);
  }
  return false;
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

function collectOutput(child: ChildProcess): { add: (text: string) => void; tail: () => string } {
  let text = '';
  const add = (more: string): void => {
    text = (text + more).slice(-OUTPUT_TAIL_CHARACTERS);
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', add);
  }
  return { add, tail: () => text.trim() };
}

/** Whether anything speaks HTTP on the port, whatever it says: engines answer a bare GET with an error, and that's enough. */
export async function answersHttp(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1_000) });
  await response.body?.cancel();
  return true;
}
