/** What stands where something was that no log may hold (promise I6 of docs/DESIGN.md). */
const REDACTED = '[redacted]';

/** A log line's text is cut here: nobody reads more, and the patterns below stay cheap. */
const MAX_LENGTH = 8192;

/** Of a text that was cut, this much of its end goes too, so that no half of an address or number is left. */
const CUT_MARGIN = 512;

/**
 * From the most particular to the most general. Each can begin in few places only (a word's start, a slash, a digit), so that a
 * hostile text costs no more than a plain one.
 * They'd rather hide too much: names of ours are letters and digits mixed, so ULIDs and Stripe's ids stay readable.
 */
const PATTERNS: readonly RegExp[] = [
  /\bbearer\s+[^\s"',]+/gi,
  // JSON Web Tokens: a header that begins `{"`, in base64url.
  /eyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g,
  // Stripe's keys, the webhook's signing secrets, client secrets and signatures.
  /(?:sk|rk|pk)_(?:live|test)_\w+/g,
  /whsec_[\w+/=-]+/g,
  /(?<!\w)\w+_secret_\w+/g,
  /\bv\d[=,][\w+/=-]{16,}/g,
  // The parts of a URL that let someone in.
  /\/\/[^\s/@:]{0,255}:[^\s/@]{0,255}@/g,
  // Email addresses, also as they look in URLs and in escaped JSON.
  /(?<![^\s@"'`<>()[\]{},;:\\/=&?])[^\s@"'`<>()[\]{},;:\\/=&?]+(?:@|%40|\\u0040)[^\s@"'`<>()[\]{},;:\\/=&?]+/gi,
  // Card numbers: 13 digits and more, also in groups.
  /\d(?:[ -]?\d){12,}/g,
  // Telephone numbers: international, or 10 digits and more in groups.
  /\+\d(?:[ ().-]{0,2}\d){6,}/g,
  /(?<![\w.])\(?\d(?:[ ()-]{0,2}\d){9,}(?!\w)/g,
];

/** An id of ours or of a client's request: its digits may look like a card's, and it is nobody's. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The text without email addresses, telephone and card numbers, keys, tokens, secrets and signatures. */
export function redact(text: string): string {
  if (UUID.test(text)) return text;
  const cut = text.length > MAX_LENGTH;
  const clean = PATTERNS.reduce(
    (sofar, pattern) => sofar.replace(pattern, REDACTED),
    cut ? text.slice(0, MAX_LENGTH) : text,
  );
  return cut ? `${clean.slice(0, -CUT_MARGIN)}…` : clean;
}
