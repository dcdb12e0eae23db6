/**
 * What stops start-up: the environment or the tenants' file holds something that the gateway can't run with.
 * The message is one sentence per problem, each on its own line. It says what is wrong and what to give instead, and never
 * repeats a value, which may be a secret.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/**
 * Why a program could not start, in words for whoever typed its command: never a stack.
 * @param portNames the variables that set its ports, such as `PORT`
 */
export function startFailure(error: unknown, portNames: string): string {
  if (!(error instanceof Error)) return String(error);
  const { message, code, port = 'a port' }: ListenError = error;
  return (
    LISTEN_FAILURES[code ?? '']?.replace('{port}', String(port)).replace('{names}', portNames) ?? message
  );
}

/** Node's error of a server that can't listen; other errors have a code of another kind, or none. */
interface ListenError extends Error {
  readonly code?: string;
  readonly port?: number | string;
}

const NO_ADDRESS =
  'HOST must name an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them.';

/** What to do, by the code of Node's error. */
const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Port {port} is taken: stop what listens there, or set {names} to another (0 takes any).',
  EACCES: 'Port {port} is not for everyone to listen on: set {names} to one above 1023 (0 takes any).',
  EADDRNOTAVAIL: NO_ADDRESS,
  EINVAL: NO_ADDRESS,
  ENOTFOUND: NO_ADDRESS,
  EAI_AGAIN: NO_ADDRESS,
};
