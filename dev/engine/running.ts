import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isRunning } from './processes.ts';

/** Where those say what runs where that keep nothing. Each has a file of its own: they share nothing. */
const MEMORY_DIR = join('.data', 'memory');

const markSchema = z.object({ pid: z.int().positive(), startedAt: z.string().optional() });

/** What is written of an `npm start`: who it is from its first moment, and what it runs as soon as that runs. */
const recordSchema = markSchema.extend({
  engine: markSchema.optional(),
  gatewayUrl: z.url().optional(),
  simulatorUrl: z.url().optional(),
  dynamodbEndpoint: z.url().optional(),
});
export type RunningRecord = z.output<typeof recordSchema>;

/** An `npm start` that is ready, and where what it runs is. */
export interface Running extends RunningRecord {
  readonly gatewayUrl: string;
}

/** Where an `npm start` on this DATA_DIR says what runs where, so that the other commands find it. */
export function runningFile(dataDir: string, pid: number): string {
  return dataDir === 'memory' ? join(MEMORY_DIR, `${String(pid)}.json`) : join(dataDir, 'running.json');
}

/** What runs on this DATA_DIR now; undefined if nothing does, or if what wrote the file has ended without a word. */
export function findRunning(dataDir: string): Running | undefined {
  const files = dataDir === 'memory' ? memoryFiles() : [runningFile(dataDir, process.pid)];
  for (const file of files) {
    const record = readRecord(file);
    if (record?.gatewayUrl !== undefined && isRunning(record)) {
      return { ...record, gatewayUrl: record.gatewayUrl };
    }
  }
  return undefined;
}

function memoryFiles(): readonly string[] {
  try {
    return readdirSync(MEMORY_DIR).map((name) => join(MEMORY_DIR, name));
  } catch {
    return [];
  }
}

/** What the file says; undefined if it isn't there, or isn't a record. */
export function readRecord(file: string): RunningRecord | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}
