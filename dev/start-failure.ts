import { ConfigError } from '../src/config/config-error.ts';
import { listenFailure } from '../src/main/listen-failure.ts';

/** Why a start failed, in words for whoever typed the command: never a stack. */
export function describeStartFailure(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return String(error);
  return listenFailure(error, 'PORT or STRIPE_SIMULATOR_PORT') ?? error.message;
}
