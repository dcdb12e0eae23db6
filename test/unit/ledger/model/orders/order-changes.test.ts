import { describe, expect, it } from 'vitest';
import { decimal } from '../../../../../src/ledger/kernel/money.ts';
import {
  type TransitionDetails,
  MAX_LISTED_TRANSITIONS,
  move,
  newTransitions,
  note,
  touch,
} from '../../../../../src/ledger/model/orders/order-changes.ts';
import { SAMPLE_AT_MS, sampleOrder, samplePaidOrder } from '../../../../support/sample-orders.ts';

const what: TransitionDetails = { cause: 'STEP_RETRIED', actor: 'root', atMs: SAMPLE_AT_MS + 5 };

describe('rev and version', () => {
  it('rise together by one for what clients see', () => {
    const order = sampleOrder();
    const noted = note(order, what);
    expect([noted.version, noted.rev, noted.state]).toEqual([2, 2, 'CREATED']);
    expect(noted.timeline.at(-1)).toEqual({
      version: 2,
      from: 'CREATED',
      to: 'CREATED',
      cause: 'STEP_RETRIED',
      actor: 'root',
      atMs: SAMPLE_AT_MS + 5,
    });
  });

  it('part where clients see nothing: rev alone rises', () => {
    const touched = touch(sampleOrder(), SAMPLE_AT_MS + 5, { refundable: decimal('1') });
    expect([touched.version, touched.rev]).toEqual([1, 2]);
    expect(touched.timeline).toHaveLength(1);
    expect(touched.updatedAtMs).toBe(SAMPLE_AT_MS + 5);
  });

  it('leave what they started from as it was', () => {
    const order = sampleOrder();
    note(order, what);
    expect(order.version).toBe(1);
    expect(order.timeline).toHaveLength(1);
  });

  it('tell exactly what is new', () => {
    const before = samplePaidOrder();
    const after = note(note(before, what), { ...what, cause: 'STEP_DONE' });
    expect(newTransitions(before, after).map(({ version, cause }) => [version, cause])).toEqual([
      [3, 'STEP_RETRIED'],
      [4, 'STEP_DONE'],
    ]);
    expect(newTransitions(undefined, before).map(({ version }) => version)).toEqual([1, 2]);
    expect(newTransitions(after, touch(after, 1, {}))).toEqual([]);
  });
});

describe('a full timeline', () => {
  let full = samplePaidOrder();
  while (full.timeline.length < MAX_LISTED_TRANSITIONS) full = note(full, what);

  it('counts further notes without listing them', () => {
    const after = note(note(full, what), what);
    expect(after.timeline).toHaveLength(300);
    expect(after.unlistedNotes).toBe(2);
    expect(after.version).toBe(full.version);
    expect(after.rev).toBe(full.rev + 2);
  });

  it('still lists every change of state', () => {
    const after = move(full, 'STEPS_DONE', 'CONFIRMED', { ...what, cause: 'COMPLETED' });
    expect(after.timeline).toHaveLength(301);
    expect(after.version).toBe(full.version + 1);
  });

  it('cuts a detail that would grow the item without end', () => {
    const noted = note(sampleOrder(), { ...what, detail: 'x'.repeat(5_000) });
    expect(noted.timeline.at(-1)?.detail).toHaveLength(200);
  });
});
