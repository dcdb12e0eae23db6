import { describe, expect, it } from 'vitest';
import { type CancellationVerdict, readCancellation } from '../../../../src/ledger/table/cancellation.ts';

function verdict(codes: readonly string[], recordFirst = true): CancellationVerdict {
  return readCancellation(
    codes.map((Code) => ({ Code })),
    codes.length,
    recordFirst,
  );
}

const NONE = 'None';
const CONDITION = 'ConditionalCheckFailed';
const CONFLICT = 'TransactionConflict';
const INVALID = 'ValidationError';
const THROTTLES = ['ThrottlingError', 'ProvisionedThroughputExceeded', 'RequestLimitExceeded'];

describe('the reasons of a cancelled transaction (marker, wallet, merchant, entry)', () => {
  it('that are conflicts alone are contention', () => {
    expect(verdict([NONE, CONFLICT, NONE, NONE])).toEqual({ kind: 'CONFLICT' });
    expect(verdict([CONFLICT, CONFLICT, CONFLICT, CONFLICT])).toEqual({ kind: 'CONFLICT' });
  });

  it('that begin with the marker’s condition are a replay, whatever else failed', () => {
    const item = { fingerprint: { S: 'f' } };
    for (const rest of [CONFLICT, NONE, CONDITION, INVALID, ...THROTTLES]) {
      const reasons = [{ Code: CONDITION, Item: item }, { Code: rest }, { Code: NONE }, { Code: NONE }];
      expect(readCancellation(reasons, 4, true)).toEqual({ kind: 'SEEN', record: item });
    }
  });

  it('that mix a condition with contention or a throttle are never a business answer', () => {
    expect(verdict([NONE, CONDITION, CONFLICT, NONE])).toEqual({ kind: 'UNCLEAR' });
    expect(verdict([CONFLICT, CONDITION, NONE, NONE])).toEqual({ kind: 'UNCLEAR' });
    for (const throttle of THROTTLES)
      expect(verdict([NONE, CONDITION, throttle, NONE])).toEqual({ kind: 'UNCLEAR' });
    // Without an idempotency record, the first item's condition is one like any other.
    expect(verdict([CONDITION, CONFLICT, NONE, NONE], false)).toEqual({ kind: 'UNCLEAR' });
  });

  it('that hold any throttle ask for the longer back-off', () => {
    for (const throttle of THROTTLES) {
      expect(verdict([NONE, CONFLICT, throttle, NONE])).toEqual({ kind: 'THROTTLED' });
      expect(verdict([NONE, throttle, NONE, NONE])).toEqual({ kind: 'THROTTLED' });
    }
  });

  it('that hold a validation error are a bug, and never retried', () => {
    expect(verdict([NONE, INVALID, CONFLICT, NONE])).toEqual({ kind: 'INVALID' });
    expect(verdict([NONE, INVALID, CONDITION, NONE])).toEqual({ kind: 'INVALID' });
  });

  it('that are conditions alone say which rules said no, and what stood there', () => {
    const old = { balance: { N: '5' } };
    const reasons = [{ Code: NONE }, { Code: CONDITION, Item: old }, { Code: NONE }, { Code: CONDITION }];
    expect(readCancellation(reasons, 4, true)).toEqual({
      kind: 'REFUSED',
      failed: new Map([
        [1, old],
        [3, undefined],
      ]),
    });
    expect(verdict([CONDITION, NONE], false)).toEqual({ kind: 'REFUSED', failed: new Map([[0, undefined]]) });
  });

  it('that can’t be read are no answer', () => {
    expect(readCancellation(undefined, 4, true)).toEqual({ kind: 'UNCLEAR' });
    expect(readCancellation([], 4, true)).toEqual({ kind: 'UNCLEAR' });
    expect(readCancellation([{ Code: CONDITION }], 4, true)).toEqual({ kind: 'UNCLEAR' });
    expect(verdict([NONE, 'DuplicateItem', NONE, NONE])).toEqual({ kind: 'UNCLEAR' });
    expect(verdict([NONE, CONDITION, 'SomethingNew', NONE])).toEqual({ kind: 'UNCLEAR' });
  });

  it('that are all None, or empty, are tried again and never a no', () => {
    expect(verdict([NONE, NONE, NONE, NONE])).toEqual({ kind: 'CONFLICT' });
    expect(readCancellation([{}, {}, {}, {}], 4, true)).toEqual({ kind: 'CONFLICT' });
  });
});
