import { describe, expect, it } from 'vitest';
import { MAX_SKEW_MS, createTableClock } from '../../../../src/ledger/table/table-clock.ts';
import { ownedClock } from '../../../support/owned-time.ts';

const TABLE_MS = 1_900_000_000_000;
const MINUTE_MS = 60_000;

/** A process whose clock is ahead of the table's by so much, and requests that take 20 ms each. */
function processAhead(aheadMs: number) {
  const own = ownedClock(TABLE_MS + aheadMs);
  const measured: number[] = [];
  const clock = createTableClock(own, (skewMs) => measured.push(skewMs));
  let aheadNowMs = aheadMs;
  const tableMs = (): number => own.nowMs() - aheadNowMs;
  return {
    clock,
    own,
    measured,
    tableMs,
    setAhead: (ms: number) => {
      own.advance(ms - aheadNowMs);
      aheadNowMs = ms;
    },
    request: (tookMs = 20, date?: string) => {
      const answeredAt = clock.timeRequest();
      own.advance(tookMs / 2);
      const header = new Date(tableMs()).toUTCString();
      own.advance(tookMs / 2);
      answeredAt(date ?? header);
    },
  };
}

describe("the table's clock", () => {
  it.each([75, 10, -10, -75])('is right within a second on a process that is %d minutes off', (minutes) => {
    const { clock, request, tableMs, own } = processAhead(minutes * MINUTE_MS);
    for (let requests = 0; requests < 30; requests += 1) {
      request();
      own.advance(370);
      expect(Math.abs(clock.nowMs() - tableMs())).toBeLessThanOrEqual(1_020);
      expect(clock.isRight()).toBe(false);
    }
    expect(Math.round(clock.skewMs() / MINUTE_MS)).toBe(minutes);
  });

  it('never corrects a clock that is right, however long an answer takes', () => {
    const { clock, request, own, measured } = processAhead(0);
    for (const tookMs of [1, 20, 999, 4_000, 90_000]) {
      request(tookMs);
      own.advance(333);
    }
    expect(measured).toEqual([0, 0, 0, 0, 0]);
    expect(clock.nowMs()).toBe(own.nowMs());
    expect(clock.isRight()).toBe(true);
  });

  it('takes no lease before the table has answered', () => {
    const { clock, request } = processAhead(0);
    expect(clock.isRight()).toBe(false);
    request();
    expect(clock.isRight()).toBe(true);
  });

  it('bears ten seconds, and is right again once the clock is set', () => {
    const { clock, request, setAhead } = processAhead(MAX_SKEW_MS - 1_000);
    request();
    expect(clock.isRight()).toBe(true);
    setAhead(MAX_SKEW_MS + 1_000);
    request();
    expect(clock.isRight()).toBe(false);
    setAhead(0);
    request();
    expect(clock.isRight()).toBe(true);
    expect(Math.abs(clock.skewMs())).toBeLessThanOrEqual(1_020);
  });

  it('learns nothing from an answer without a time', () => {
    const { clock, measured } = processAhead(75 * MINUTE_MS);
    clock.timeRequest()(undefined);
    clock.timeRequest()('soon');
    expect([measured, clock.skewMs(), clock.isRight()]).toEqual([[], 0, true]);
  });
});
