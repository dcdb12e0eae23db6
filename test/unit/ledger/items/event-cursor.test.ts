import { describe, expect, it } from 'vitest';
import { credibleCursor, nextPlace } from '../../../../src/ledger/items/event-cursor.ts';

const HOUR_S = 3_600;
const NOW_S = 1_900_000_000;

function after(fromS: number, leftS: readonly number[], heldForS?: number): unknown {
  const held = heldForS === undefined ? {} : { heldSinceS: NOW_S - heldForS };
  return nextPlace({ fromS, ...held }, leftS, NOW_S);
}

describe('the cursor of events', () => {
  const begun = NOW_S - 10 * HOUR_S;
  const pinned = NOW_S - 9 * HOUR_S;

  it('trails an hour where nothing was left, and never goes back', () => {
    expect(after(begun, [])).toEqual({ fromS: NOW_S - HOUR_S });
    expect(after(begun, [], 5 * HOUR_S)).toEqual({ fromS: NOW_S - HOUR_S });
    expect(after(NOW_S - 60, [])).toEqual({ fromS: NOW_S - 60 });
    expect(after(pinned, [begun])).toEqual({ fromS: pinned, heldSinceS: NOW_S });
  });

  it('stays with what was left, from the first time on', () => {
    expect(after(begun, [pinned, NOW_S - 300])).toEqual({ fromS: pinned, heldSinceS: NOW_S });
    expect(after(begun, [NOW_S - 300])).toEqual({ fromS: NOW_S - HOUR_S });
    expect(after(begun, [pinned], 6 * HOUR_S - 1)).toEqual({
      fromS: pinned,
      heldSinceS: NOW_S - 6 * HOUR_S + 1,
    });
  });

  it('goes on after six hours without what held it, and stays with what has come since', () => {
    expect(after(begun, [pinned], 6 * HOUR_S)).toEqual({ fromS: NOW_S - HOUR_S });
    const since = NOW_S - 5 * HOUR_S;
    expect(after(begun, [since, pinned], 6 * HOUR_S)).toEqual({ fromS: since, heldSinceS: NOW_S });
    const lateListed = NOW_S - 7 * HOUR_S;
    expect(after(begun, [lateListed, pinned], 6 * HOUR_S)).toEqual({
      fromS: lateListed,
      heldSinceS: NOW_S,
    });
  });

  it('gives events that are first seen after a long outage their hours too', () => {
    const old = NOW_S - 20 * 24 * HOUR_S;
    expect(after(old - 1, [old])).toEqual({ fromS: old, heldSinceS: NOW_S });
  });
});

describe('a cursor that a wrong clock wrote', () => {
  const WAIT_MS = 600_000;
  const credible = (fromS: number, notBeforeMs: number) =>
    credibleCursor({ fromS, notBeforeMs, rev: 7, heldSinceS: NOW_S - 60 }, NOW_S * 1000, WAIT_MS);

  it('goes back by a day where it is ahead of what a right clock would have written', () => {
    const aheadS = 75 * 60;
    expect(credible(NOW_S + aheadS - HOUR_S, (NOW_S + aheadS) * 1000)).toEqual({
      fromS: NOW_S - 24 * HOUR_S,
      notBeforeMs: 0,
      rev: 7,
    });
    expect(credible(NOW_S - HOUR_S + 61, 0).fromS).toBe(NOW_S - 24 * HOUR_S);
  });

  it('stays where it may be true, with its wait', () => {
    const kept = { fromS: NOW_S - HOUR_S + 60, notBeforeMs: NOW_S * 1000 + WAIT_MS, rev: 7 };
    expect(credible(kept.fromS, kept.notBeforeMs)).toEqual({ ...kept, heldSinceS: NOW_S - 60 });
    expect(credible(kept.fromS, kept.notBeforeMs + 1)).toEqual({
      ...kept,
      heldSinceS: NOW_S - 60,
      notBeforeMs: 0,
    });
  });
});
