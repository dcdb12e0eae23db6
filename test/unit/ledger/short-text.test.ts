import { describe, expect, it } from 'vitest';
import { shortText } from '../../../src/ledger/operations/input.ts';

describe('text that people read', () => {
  it.each([
    ['コーヒー', 'コーヒー'],
    ['  flat white ☕️ ', 'flat white ☕️'],
    ['👩‍🍳', '👩‍🍳'],
  ])('is taken, trimmed: %j', (text, taken) => {
    expect(shortText(100).parse(text)).toBe(taken);
  });

  // Half of a letter would be stored as another one, and its fingerprint, of the half, would be nobody's.
  it.each([['a\u0000b'], ['a\nb'], ['a\u009fb'], ['a\ud800b'], ['\udc00'], ['a\ud83d']])(
    'is bad_text with control characters, and with halves of letters: %j',
    (text) => {
      const [issue] = shortText(100).safeParse(text).error?.issues ?? [];
      expect(issue).toMatchObject({
        params: { code: 'bad_text' },
        message: 'has control characters, or half of a letter',
      });
    },
  );
});
