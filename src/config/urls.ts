const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Reads an absolute URL; undefined if it isn't one. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Whether a parsed URL's host is this machine. */
export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return LOOPBACK_HOSTS.includes(hostname);
}

/** Whether a URL carries a user or a password: a place to hide another host, and a secret in a place that gets logged. */
export function hasUserInfo({ username, password }: Pick<URL, 'username' | 'password'>): boolean {
  return username !== '' || password !== '';
}
