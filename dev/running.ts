import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

/** Where a running `npm start` says what runs where, so that the other commands find it. */
export const RUNNING_FILE = '.data/running.json';

const runningSchema = z.object({
  pid: z.int(),
  gatewayUrl: z.url(),
  simulatorUrl: z.url().optional(),
  dynamodbEndpoint: z.url().optional(),
});
export type Running = z.output<typeof runningSchema>;

export function announceRunning(running: Running): void {
  mkdirSync('.data', { recursive: true });
  writeFileSync(RUNNING_FILE, `${JSON.stringify(running, null, 2)}\n`);
}

export function forgetRunning(): void {
  rmSync(RUNNING_FILE, { force: true });
}

/** What runs now; undefined if nothing does, or if what wrote the file has ended without a word. */
export function findRunning(): Running | undefined {
  let text: string;
  try {
    text = readFileSync(RUNNING_FILE, 'utf8');
  } catch {
    return undefined;
  }
  const running = runningSchema.safeParse(JSON.parse(text)).data;
  return running !== undefined && isAlive(running.pid) ? running : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
