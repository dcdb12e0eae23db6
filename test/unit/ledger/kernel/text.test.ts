import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText } from '../../../../src/ledger/kernel/text.ts';

describe('a text that is cut', () => {
  it.each([
    ['is whole where it fits', 'coffee', 6, 'coffee'],
    ['ends where there is no more room', 'coffee', 3, 'cof'],
    ['never ends within a surrogate pair', `${'x'.repeat(199)}🍣`, 200, 'x'.repeat(199)],
    ['keeps what fits of several', '🍣🍣🍣', 5, '🍣🍣'],
    ['never leaves an accent behind', 'cafe\u0301', 4, 'caf'],
    ['never takes a family apart', 'a👨‍👩‍👧', 6, 'a'],
    ['of which not even the first character fits is empty', '👨‍👩‍👧', 4, ''],
  ])('%s', (_name, text, most, cut) => {
    expect(cutText(text, most)).toBe(cut);
  });

  it('is a beginning of it, no longer than asked, and well formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, most) => {
        const cut = cutText(text, most);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(most);
        expect(Buffer.from(cut, 'utf8').toString('utf8')).toBe(cut);
      }),
    );
  });
});
