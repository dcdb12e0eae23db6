/** Why a program could not listen, in a sentence that names the variables to set; undefined for an error of another kind. */
export function listenFailure(error: unknown, portNames: string): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const port = 'port' in error ? String(error.port) : 'a port';
  return SENTENCES[String(error.code)]?.replace('{port}', port).replace('{names}', portNames);
}

const NO_ADDRESS =
  'HOST must name an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them.';

/** What Node says of an address that can't be listened on, by its code. */
const SENTENCES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Port {port} is taken: stop what listens there, or set {names} to another (0 takes any).',
  EACCES: 'Port {port} is not for everyone to listen on: set {names} to one above 1023 (0 takes any).',
  EADDRNOTAVAIL: NO_ADDRESS,
  EINVAL: NO_ADDRESS,
  ENOTFOUND: NO_ADDRESS,
  EAI_AGAIN: NO_ADDRESS,
};
