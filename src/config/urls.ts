const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Reads an absolute URL; undefined if it isn't one. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Whether a parsed URL's host is this machine. */
export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return LOOPBACK_HOSTS.includes(hostname);
}

/** Web pages that may call the gateway: the configured origins, and outside production those of this machine. */
export function isAllowedOrigin(
  origin: string,
  { corsOrigins, production }: { readonly corsOrigins: readonly string[]; readonly production: boolean },
): boolean {
  if (corsOrigins.includes(origin)) return true;
  const url = production ? undefined : parseUrl(origin);
  return url?.protocol === 'http:' && url.origin === origin && isLoopback(url);
}

/** Whether a URL carries a user or a password: a place to hide another host, and a secret in a place that gets logged. */
export function hasUserInfo({ username, password }: Pick<URL, 'username' | 'password'>): boolean {
  return username !== '' || password !== '';
}

/** One entry of a tenant's allow-list of return URLs, parsed. */
export interface ReturnUrlRule {
  /** `https:`, `http:` (this machine, in development) or an app's own scheme. */
  readonly protocol: string;
  /** Absent for an app's scheme without a host: any host of that scheme. */
  readonly hostname?: string;
  /** Absent: any port, which only this machine may have. */
  readonly port?: string;
  /** The path and everything below it, without a slash at its end. */
  readonly path: string;
}

/** Schemes that run code, open files or call something other than a page or an app. */
const NO_APP_SCHEME: readonly string[] = [
  'about:',
  'blob:',
  'content:',
  'data:',
  'file:',
  'filesystem:',
  'ftp:',
  'intent:',
  'javascript:',
  'mailto:',
  'sms:',
  'tel:',
  'vbscript:',
  'view-source:',
  'ws:',
  'wss:',
];

const MAX_LENGTH = 2048;

/** Printable ASCII without backslash and quotes, in the full form `scheme://host`; in the host no `@` or escape. */
const PLAIN_URL = /^[a-z][a-z0-9+.-]*:\/\/(?!\/)[a-z0-9._:[\]-]*(?:[/?#][!#-&(-[\]-~]*)?$/i;

/** A slash or backslash that only some parsers see. */
const HIDDEN_SEPARATOR = /%(?:2f|5c)/i;

/** A URL that every parser reads alike, so that what is compared here is what a browser will open. */
function parsePlainUrl(text: string): URL | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const url = PLAIN_URL.test(text) ? parseUrl(text) : undefined;
  if (url === undefined || HIDDEN_SEPARATOR.test(url.pathname)) return undefined;
  return url;
}

/**
 * Reads an entry of the allow-list: `https://shop.example/return` (that path and below), `my-app://` or
 * `my-app://payment`, and where this machine is allowed `http://localhost:3000` or `http://localhost:*`.
 * Undefined for anything else.
 */
export function parseReturnUrlRule(
  text: string,
  { allowLoopback }: { readonly allowLoopback: boolean },
): ReturnUrlRule | undefined {
  const anyPort = /^http:\/\/[^/?#]+:\*(?=\/|$)/i.test(text);
  const url = parsePlainUrl(anyPort ? text.replace(':*', '') : text);
  if (url === undefined || /[?#]/.test(text)) return undefined;
  const path = url.pathname.replace(/\/$/, '');
  if (url.protocol === 'https:' || url.protocol === 'http:') {
    if (url.protocol === 'http:' && !(allowLoopback && isLoopback(url))) return undefined;
    return { protocol: url.protocol, hostname: url.hostname, path, ...(!anyPort && { port: url.port }) };
  }
  if (NO_APP_SCHEME.includes(url.protocol)) return undefined;
  const { protocol, hostname, port } = url;
  return hostname === '' ? { protocol, path } : { protocol, hostname, port, path };
}

/** Whether a URL that a client names is on the list. Compares parsed parts, never prefixes of text. */
export function isAllowedReturnUrl(rules: readonly ReturnUrlRule[], text: string): boolean {
  const url = parsePlainUrl(text);
  if (url === undefined) return false;
  return rules.some(
    (rule) =>
      rule.protocol === url.protocol &&
      (rule.hostname === undefined || rule.hostname === url.hostname) &&
      (rule.port === undefined || rule.port === url.port) &&
      (rule.path === '' || url.pathname === rule.path || url.pathname.startsWith(`${rule.path}/`)),
  );
}
