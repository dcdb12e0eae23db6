import { startDynamoDbLocal } from '../../dev/engine/dynamodb-local.ts';
import { startDynoxide, type Engine } from '../../dev/engine/engine.ts';

export type TestEngine = 'dynoxide' | 'dynamodb-local';

/** The engine that TEST_ENGINE names: `dynoxide` (the default) or `dynamodb-local`. */
export function testEngine(): TestEngine {
  const name = process.env['TEST_ENGINE'] ?? 'dynoxide';
  if (name === 'dynoxide' || name === 'dynamodb-local') return name;
  throw new Error(`TEST_ENGINE is "${name}"; it takes dynoxide or dynamodb-local.`);
}

/** Starts the engine that TEST_ENGINE names, in memory, on a free port. */
export async function startEngine(): Promise<Engine> {
  return testEngine() === 'dynoxide' ? startDynoxide() : startDynamoDbLocal();
}
