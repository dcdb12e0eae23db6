import { describe, expect, it } from 'vitest';
import { dueAtMs } from '../../../src/ledger/model/orders/due.ts';
import { defined } from '../../../src/ledger/kernel/defined.ts';
import { note } from '../../../src/ledger/model/orders/order-changes.ts';
import type { Order, Step } from '../../../src/ledger/model/orders/order.ts';
import {
  DEFAULT_STEP_POLICY,
  type StepPolicy,
  claimDueSteps,
  completeStep,
  confirmOrder,
  failStep,
  ownSteps,
  releaseStep,
  retryWaitMs,
  reviveStep,
} from '../../../src/ledger/model/orders/steps.ts';
import { PAID_AT_MS, paidOrder } from './orders.ts';

const POLICY: StepPolicy = { leaseMs: 60_000, maxAttempts: 3, firstRetryMs: 1_000, maxRetryMs: 10_000 };
const SWEEP = { sweepAfterMs: 1_800_000 };
const NOW_MS = PAID_AT_MS + 5_000;

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('nothing');
  return value;
}

function claim(order: Order, owner: string, nowMs = NOW_MS): Order {
  return present(claimDueSteps(order, owner, POLICY, nowMs));
}

function failed(order: Order, owner: string, nowMs = NOW_MS): Order {
  const failure = { kind: 'RETRY', reason: 'HTTP 500' } as const;
  return present(failStep(order, 'a:paid', owner, failure, POLICY, nowMs, 0));
}

function step(order: Order, name = 'a:paid'): Partial<Step> {
  return defined(present(order.steps.find((one) => one.name === name)));
}

describe('claiming', () => {
  it('takes every due step for one owner until the lease ends, and is no change that clients see', () => {
    const order = paidOrder('a:paid', 'b:paid');
    const claimed = claim(order, 'w1');
    expect(ownSteps(claimed, 'w1').map(({ name }) => name)).toEqual(['a:paid', 'b:paid']);
    expect(step(claimed)).toEqual({
      name: 'a:paid',
      state: 'PENDING',
      attempts: 1,
      nextAttemptAtMs: PAID_AT_MS,
      owner: 'w1',
      leaseEndMs: NOW_MS + 60_000,
    });
    expect([claimed.version, claimed.rev]).toEqual([order.version, order.rev + 1]);
    expect(dueAtMs(claimed, SWEEP)).toBe(NOW_MS + 60_000);
  });

  it('leaves a step alone whose lease runs, and one whose time has not come', () => {
    const claimed = claim(paidOrder('a:paid'), 'w1');
    expect(claimDueSteps(claimed, 'w2', POLICY, NOW_MS + 59_999)).toBeUndefined();
    const waiting = failed(claimed, 'w1');
    expect(claimDueSteps(waiting, 'w2', POLICY, NOW_MS + 999)).toBeUndefined();
  });

  it('takes a step over once its lease is past, and the old owner can no longer finish it', () => {
    const taken = claim(claim(paidOrder('a:paid'), 'w1'), 'w2', NOW_MS + 60_000);
    expect(ownSteps(taken, 'w2')).toHaveLength(1);
    expect(step(taken).attempts).toBe(2);
    expect(completeStep(taken, 'a:paid', 'w1', NOW_MS)).toBeUndefined();
    expect(releaseStep(taken, 'a:paid', 'w1', NOW_MS)).toBeUndefined();
    const failure = { kind: 'RETRY', reason: 'late' } as const;
    expect(failStep(taken, 'a:paid', 'w1', failure, POLICY, NOW_MS, 0)).toBeUndefined();
  });

  it('buries a step that has killed its worker as often as it may run', () => {
    let order = paidOrder('a:paid', 'b:paid');
    for (let run = 0; run < 3; run += 1) order = claim(order, `w${run}`, NOW_MS + run * 60_000);
    const deadLettered = claim(order, 'w4', NOW_MS + 180_000);
    expect(step(deadLettered)).toMatchObject({
      state: 'DEAD',
      lastError: 'the worker stopped before it reported a result',
    });
    expect(deadLettered.timeline.slice(-2).map(({ cause, detail }) => [cause, detail])).toEqual([
      ['STEP_DEAD', 'a:paid'],
      ['STEP_DEAD', 'b:paid'],
    ]);
    expect(deadLettered.state).toBe('PAID');
  });

  it('also serves an order that was given back meanwhile', () => {
    const order: Order = { ...paidOrder('a:paid'), state: 'REFUNDED' };
    const done = present(completeStep(claim(order, 'w1'), 'a:paid', 'w1', NOW_MS));
    expect(step(done).state).toBe('DONE');
    expect(done.state).toBe('REFUNDED');
  });
});

describe('a step that is done', () => {
  it('confirms the order with the last one, each as a transition of its own', () => {
    const claimed = claim(paidOrder('a:paid', 'b:paid'), 'w1');
    const one = present(completeStep(claimed, 'a:paid', 'w1', NOW_MS + 1));
    expect([one.state, one.version]).toEqual(['PAID', 3]);
    const both = present(completeStep(one, 'b:paid', 'w1', NOW_MS + 2));
    expect(both.timeline.slice(2)).toEqual([
      {
        version: 3,
        from: 'PAID',
        to: 'PAID',
        cause: 'STEP_DONE',
        detail: 'a:paid',
        actor: 'worker',
        atMs: NOW_MS + 1,
      },
      {
        version: 4,
        from: 'PAID',
        to: 'PAID',
        cause: 'STEP_DONE',
        detail: 'b:paid',
        actor: 'worker',
        atMs: NOW_MS + 2,
      },
      { version: 5, from: 'PAID', to: 'CONFIRMED', cause: 'COMPLETED', actor: 'worker', atMs: NOW_MS + 2 },
    ]);
    expect(dueAtMs(both, SWEEP)).toBeUndefined();
  });

  it('keeps neither owner nor lease nor error', () => {
    const again = claim(failed(claim(paidOrder('a:paid'), 'w1'), 'w1'), 'w2', NOW_MS + 1_000);
    const done = present(completeStep(again, 'a:paid', 'w2', NOW_MS));
    expect(step(done)).toEqual({
      name: 'a:paid',
      state: 'DONE',
      attempts: 2,
      nextAttemptAtMs: NOW_MS + 1_000,
    });
  });

  it('is done once: a second report finds nothing to change', () => {
    const done = present(completeStep(claim(paidOrder('a:paid'), 'w1'), 'a:paid', 'w1', NOW_MS));
    expect(completeStep(done, 'a:paid', 'w1', NOW_MS)).toBeUndefined();
  });

  it('does not confirm while another is dead', () => {
    const claimed = claim(paidOrder('a:paid', 'b:paid'), 'w1');
    const dead = present(
      failStep(claimed, 'a:paid', 'w1', { kind: 'GIVE_UP', reason: 'no' }, POLICY, NOW_MS, 0),
    );
    const done = present(completeStep(dead, 'b:paid', 'w1', NOW_MS));
    expect(done.state).toBe('PAID');
    expect(dueAtMs(done, SWEEP)).toBeUndefined();
  });
});

describe('a step that failed', () => {
  it('is due again after a wait that doubles, with jitter of up to half, up to a limit', () => {
    const waits = [1, 2, 3, 4, 5, 6, 100].map((attempts) => retryWaitMs(attempts, POLICY, 0));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
    expect(retryWaitMs(2, POLICY, 0.5)).toBe(2_500);
    expect(retryWaitMs(2, POLICY, 0.999)).toBe(2_999);
  });

  it('says so on the timeline, keeps the reason, and lets go of the lease', () => {
    const again = failed(claim(paidOrder('a:paid'), 'w1'), 'w1');
    expect(step(again)).toEqual({
      name: 'a:paid',
      state: 'PENDING',
      attempts: 1,
      nextAttemptAtMs: NOW_MS + 1_000,
      lastError: 'HTTP 500',
    });
    expect(again.timeline.at(-1)).toMatchObject({ version: 3, cause: 'STEP_RETRIED', detail: 'a:paid' });
    expect(dueAtMs(again, SWEEP)).toBe(NOW_MS + 1_000);
  });

  it('is DEAD after its last run, and at once when trying again cannot help', () => {
    let order = claim(paidOrder('a:paid'), 'w1');
    for (let run = 1; run < 3; run += 1)
      order = claim(failed(order, 'w1', NOW_MS), 'w1', NOW_MS + run * 20_000);
    const dead = failed(order, 'w1');
    expect(step(dead)).toMatchObject({ state: 'DEAD', attempts: 3, lastError: 'HTTP 500' });
    expect(dead.timeline.at(-1)).toMatchObject({ cause: 'STEP_DEAD', detail: 'a:paid', actor: 'worker' });

    const once = claim(paidOrder('a:paid'), 'w1');
    const failure = { kind: 'GIVE_UP', reason: 'gone' } as const;
    expect(step(present(failStep(once, 'a:paid', 'w1', failure, POLICY, NOW_MS, 0)))).toMatchObject({
      state: 'DEAD',
      attempts: 1,
    });
  });

  it('keeps a reason of 200 characters at most, so that an order stays small', () => {
    const failure = { kind: 'RETRY', reason: 'x'.repeat(5_000) } as const;
    const order = claim(paidOrder('a:paid'), 'w1');
    const again = present(failStep(order, 'a:paid', 'w1', failure, POLICY, NOW_MS, 0));
    expect(step(again).lastError).toHaveLength(200);
  });

  it('runs for most of a day by default, and a step has ended before its lease', () => {
    const waits = Array.from({ length: DEFAULT_STEP_POLICY.maxAttempts - 1 }, (_, run) =>
      retryWaitMs(run + 1, DEFAULT_STEP_POLICY, 0),
    );
    const hours = waits.reduce((sum, wait) => sum + wait, 0) / 3_600_000;
    expect(hours).toBeGreaterThan(20);
    expect(hours).toBeLessThan(24);
  });
});

describe('a worker that stops', () => {
  it('gives a step back: due at once, the run not counted, nothing that clients see', () => {
    const order = claim(paidOrder('a:paid'), 'w1');
    const released = present(releaseStep(order, 'a:paid', 'w1', NOW_MS + 7));
    expect(step(released)).toEqual({
      name: 'a:paid',
      state: 'PENDING',
      attempts: 0,
      nextAttemptAtMs: NOW_MS + 7,
    });
    expect(released.version).toBe(order.version);
  });
});

describe('an operator who revives a dead step', () => {
  const dead = present(
    failStep(
      claim(paidOrder('a:paid'), 'w1'),
      'a:paid',
      'w1',
      { kind: 'GIVE_UP', reason: 'gone' },
      POLICY,
      NOW_MS,
      0,
    ),
  );

  it('makes it due at once, with all its runs before it', () => {
    const revived = present(reviveStep(dead, 'a:paid', 'root', NOW_MS + 9));
    expect(step(revived)).toMatchObject({ state: 'PENDING', attempts: 0, nextAttemptAtMs: NOW_MS + 9 });
    expect(revived.timeline.at(-1)).toMatchObject({ cause: 'STEP_RETRIED', actor: 'root', detail: 'a:paid' });
    expect(dueAtMs(revived, SWEEP)).toBe(NOW_MS + 9);
  });

  it('changes nothing of any other step', () => {
    expect(reviveStep(paidOrder('a:paid'), 'a:paid', 'root', NOW_MS)).toBeUndefined();
    expect(reviveStep(claim(paidOrder('a:paid'), 'w1'), 'a:paid', 'root', NOW_MS)).toBeUndefined();
    expect(reviveStep(dead, 'b:paid', 'root', NOW_MS)).toBeUndefined();
  });
});

describe('confirming', () => {
  it('is for a PAID order with nothing left to do, and happens once', () => {
    const confirmed = present(confirmOrder(paidOrder(), NOW_MS));
    expect(confirmed.state).toBe('CONFIRMED');
    expect(confirmOrder(confirmed, NOW_MS)).toBeUndefined();
    expect(confirmOrder(paidOrder('a:paid'), NOW_MS)).toBeUndefined();
  });

  it('is listed on a timeline that is full of notes', () => {
    let order = paidOrder('a:paid');
    for (let notes = 0; notes < 400; notes += 1)
      order = note(order, { cause: 'STEP_RETRIED', actor: 'worker', atMs: NOW_MS });
    const done = present(completeStep(claim(order, 'w1'), 'a:paid', 'w1', NOW_MS));
    expect(done.timeline.at(-1)).toMatchObject({ cause: 'COMPLETED', to: 'CONFIRMED' });
    expect(done.timeline).toHaveLength(301);
  });
});
