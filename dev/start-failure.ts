import { startFailure } from '../src/config/config-error.ts';

/** Why the product did not start on this machine, in words for whoever typed the command: never a stack. */
export function describeStartFailure(error: unknown): string {
  return startFailure(error, 'PORT or STRIPE_SIMULATOR_PORT');
}
