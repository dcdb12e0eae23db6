import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startEngine } from './engine.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the DynamoDB engine that the project's test files share; each file makes a table of its own. */
    readonly engineEndpoint: string;
  }
}

/** Starts one engine for the project, gives its endpoint to `inject('engineEndpoint')`, and stops it at the end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engine = await startEngine();
  project.provide('engineEndpoint', engine.endpoint);
  return engine.stop;
}
