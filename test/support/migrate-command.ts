import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** `npm run migrate` on one table, as the process that an operator starts. */
export interface MigrateCommand {
  readonly run: (...args: readonly string[]) => Promise<Ended>;
  /** Starts it without waiting for its end. */
  readonly start: (...args: readonly string[]) => KillableCommand;
  /** Kills what still runs. */
  readonly stop: () => void;
}

export interface KillableCommand {
  /** SIGKILL. Resolves once it has ended; rejects where it had ended before, since then nothing was interrupted. */
  readonly kill: () => Promise<void>;
}

export function migrateCommand(table: {
  readonly endpoint: string;
  readonly tableName: string;
}): MigrateCommand {
  const running = new Set<ChildProcess>();
  const spawned = (args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/migrate.ts', ...args], {
      cwd: join(import.meta.dirname, '..', '..'),
      env: {
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
        DYNAMODB_ENDPOINT: table.endpoint,
        TABLE_NAME: table.tableName,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    return child;
  };
  return {
    run: async (...args) => {
      const child = spawned(args);
      if (child.stdout === null || child.stderr === null) throw new Error('no output');
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      return { out, err, code: child.exitCode };
    },
    start: (...args) => {
      const child = spawned(args);
      return {
        kill: async () => {
          if (!running.has(child)) throw new Error('it had ended before it was killed');
          const exited = once(child, 'exit');
          child.kill('SIGKILL');
          await exited;
        },
      };
    },
    stop: () => {
      for (const child of running) child.kill('SIGKILL');
    },
  };
}
