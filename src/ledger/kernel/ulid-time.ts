const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;
const MAX_TIME_MS = 2 ** 48 - 1;

/** The instant that a ULID names, in milliseconds. */
export function ulidTimeMs(ulid: string): number {
  let atMs = 0;
  for (const character of ulid.slice(0, TIME_CHARACTERS)) atMs = atMs * 32 + ALPHABET.indexOf(character);
  return atMs;
}

/** The least ULID of an instant: everything made before it sorts below, so it bounds a range by time. */
export function leastUlidAt(atMs: number): string {
  let left = Math.min(Math.max(Math.floor(atMs), 0), MAX_TIME_MS);
  let time = '';
  for (let place = 0; place < TIME_CHARACTERS; place += 1) {
    time = ALPHABET.charAt(left % 32) + time;
    left = Math.floor(left / 32);
  }
  return time + '0'.repeat(RANDOM_CHARACTERS);
}
