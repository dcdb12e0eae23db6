import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startEngine } from './engine.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the DynamoDB engine that the project's test files share; each file makes a table of its own. */
    readonly engineEndpoint: string;
  }
}

/**
 * Starts one engine for the project, gives its endpoint to `inject('engineEndpoint')`, and stops it at the end.
 *
 * Dynoxide keeps every client token for ten minutes, and a transaction costs it twice the time after some ten thousand: a test
 * file that sends thousands of transactions starts an engine of its own, with `startEngine()`.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engine = await startEngine();
  project.provide('engineEndpoint', engine.endpoint);
  return engine.stop;
}
