import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { idText, parseInput, shortText } from '../../../../../src/ledger/usecases/runtime/input.ts';

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

describe('what is wrong with an input', () => {
  const schema = z.strictObject({ sku: idText, name: shortText(5), lines: z.array(idText).min(1).max(2) });

  it('is said field by field, with what the field takes and nothing of what it got', () => {
    const parsed = parseInput(schema, { sku: 'coffee #1', name: '  ', lines: [], password: 'hunter2' });
    expect(parsed).toEqual({
      kind: 'INVALID',
      failure: {
        kind: 'InvalidInput',
        issues: [
          {
            path: ['sku'],
            code: 'bad_id',
            message: 'must be 1 to 128 letters, digits and any of _ . : | -, the first a letter or digit',
          },
          { path: ['name'], code: 'too_small', message: 'must not be empty' },
          { path: ['lines'], code: 'too_small', message: 'must not be empty' },
          { path: [], code: 'unknown_field', message: 'has a field that is unknown here' },
        ],
      },
    });
  });
});
