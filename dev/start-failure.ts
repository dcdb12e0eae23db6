import { ConfigError } from '../src/config-error.ts';

/** Why a start failed, in words for whoever typed the command: never a stack. */
export function describeStartFailure(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'EADDRINUSE') {
    const port = 'port' in error && typeof error.port === 'number' ? String(error.port) : 'a port';
    return `Port ${port} is taken: stop what listens there, or set PORT or STRIPE_SIMULATOR_PORT to another (0 takes any).`;
  }
  return error.message;
}
