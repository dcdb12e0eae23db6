import { ConfigError } from '../src/config-error.ts';

/** Why a start failed, in words for whoever typed the command: never a stack. */
export function describeStartFailure(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const sentence = 'code' in error ? LISTEN_FAILURES[String(error.code)] : undefined;
  return sentence?.replace('{port}', 'port' in error ? String(error.port) : 'a port') ?? error.message;
}

const PORT_NAMES = 'PORT or STRIPE_SIMULATOR_PORT';
const NO_ADDRESS =
  'HOST must name an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them.';

/** What Node says of an address that can't be listened on, by its code. */
const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: `Port {port} is taken: stop what listens there, or set ${PORT_NAMES} to another (0 takes any).`,
  EACCES: `Port {port} is not for everyone to listen on: set ${PORT_NAMES} to one above 1023 (0 takes any).`,
  EADDRNOTAVAIL: NO_ADDRESS,
  EINVAL: NO_ADDRESS,
  ENOTFOUND: NO_ADDRESS,
  EAI_AGAIN: NO_ADDRESS,
};
