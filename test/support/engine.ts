import { startDynamoDbLocal } from '../../dev/dynamodb-local.ts';
import { startDynoxide, type Engine } from '../../dev/engine.ts';

/** The engine that TEST_ENGINE names: `dynoxide` (the default) or `dynamodb-local`. In memory, on a free port. */
export async function startEngine(): Promise<Engine> {
  const name = process.env['TEST_ENGINE'] ?? 'dynoxide';
  switch (name) {
    case 'dynoxide':
      return await startDynoxide();
    case 'dynamodb-local':
      return await startDynamoDbLocal();
    default:
      throw new Error(`TEST_ENGINE is "${name}"; it takes dynoxide or dynamodb-local.`);
  }
}
