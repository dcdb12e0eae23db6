import { add } from '../../kernel/money.ts';
import { cutText } from '../../kernel/text.ts';
import { type TransitionDetails, move, note, touch } from './order-changes.ts';
import { type Order, type Step, stepsDone, overpaymentStepName } from './order.ts';

/** How often and for how long a step is tried (docs/DESIGN.md §10). */
export interface StepPolicy {
  /** How long a claimed step is left to its worker; then another one takes it up. */
  readonly leaseMs: number;
  /** Runs before a step is DEAD. Counted when it is claimed, so that a step that kills its worker dies too. */
  readonly maxAttempts: number;
  /** The wait after the first failed run; it doubles with every further one, up to `maxRetryMs`. */
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
}

/** Eighteen runs over about 21 hours: a merchant's server may be down for a night. */
export const DEFAULT_STEP_POLICY: StepPolicy = {
  leaseMs: 60_000,
  maxAttempts: 18,
  firstRetryMs: 1_000,
  maxRetryMs: 6 * 3_600_000,
};

/** Who makes the changes of steps on the timeline, where no person does. */
export const WORKER_ACTOR = 'worker';

/** What a timeline entry and a step say of a worker that never reported back. */
export const INTERRUPTED = 'the worker stopped before it reported a result';

const MAX_ERROR_LENGTH = 200;

/** Why a step's run wasn't its last: told by the run, redacted by whoever caught it. */
export type StepFailure =
  | { readonly kind: 'RETRY'; readonly reason: string }
  /** Trying again can't help. */
  | { readonly kind: 'GIVE_UP'; readonly reason: string };

/** The pending steps that somebody may take up now: their time has come, and no lease on them is running. */
export function dueSteps(order: Order, nowMs: number): readonly Step[] {
  return order.steps.filter(
    (step) => step.state === 'PENDING' && (step.leaseEndMs ?? step.nextAttemptAtMs) <= nowMs,
  );
}

/** The steps whose lease is this owner's. */
export function ownSteps(order: Order, owner: string): readonly Step[] {
  return order.steps.filter((step) => step.state === 'PENDING' && step.owner === owner);
}

/**
 * Takes up every due step for one owner, in one write. Those that have used up their runs, because each worker that
 * took them up died, are DEAD instead. Undefined if there is none: a step that another owner holds stays with it.
 */
export function claimDueSteps(
  order: Order,
  owner: string,
  policy: StepPolicy,
  nowMs: number,
): Order | undefined {
  const due = dueSteps(order, nowMs);
  if (due.length === 0) return undefined;
  const exhausted = due.filter((step) => step.attempts >= policy.maxAttempts);
  const claimed = due.filter((step) => step.attempts < policy.maxAttempts);
  const deadLettered = exhausted.reduce(
    (sofar, step) => moveToDeadLetter(sofar, step, INTERRUPTED, nowMs),
    order,
  );
  if (claimed.length === 0) return deadLettered;
  const names = new Set(claimed.map((step) => step.name));
  return touch(deadLettered, nowMs, {
    steps: deadLettered.steps.map((step) =>
      names.has(step.name)
        ? { ...step, attempts: step.attempts + 1, owner, leaseEndMs: nowMs + policy.leaseMs }
        : step,
    ),
  });
}

/**
 * A step is done; with the last one a PAID order is CONFIRMED. Undefined if the owner doesn't hold the step any more.
 * @param refunds of the step of an overpayment: how many refunds of it the provider has now
 */
export function completeStep(
  order: Order,
  name: string,
  owner: string,
  nowMs: number,
  refunds?: number,
): Order | undefined {
  const step = heldStep(order, name, owner);
  if (step === undefined) return undefined;
  const what: TransitionDetails = { cause: 'STEP_DONE', actor: WORKER_ACTOR, atMs: nowMs, detail: name };
  const done = note(order, what, {
    steps: replacedStep(order, { ...free(step), state: 'DONE', lastError: undefined }),
    overpayments: order.overpayments.map((payment) =>
      overpaymentStepName(payment.paymentId) === name ? { ...payment, asked: refunds } : payment,
    ),
  });
  return confirmOrder(done, nowMs) ?? done;
}

/**
 * A run of a step failed: it is due again after a wait that doubles with every run, or DEAD once its runs are used up.
 * Undefined if the owner doesn't hold the step any more.
 * @param jitter from 0 to 1; adds up to half of the wait, so that steps that failed together don't return together
 */
export function failStep(
  order: Order,
  name: string,
  owner: string,
  failure: StepFailure,
  policy: StepPolicy,
  nowMs: number,
  jitter: number,
): Order | undefined {
  const step = heldStep(order, name, owner);
  if (step === undefined) return undefined;
  if (failure.kind === 'GIVE_UP' || step.attempts >= policy.maxAttempts)
    return moveToDeadLetter(order, step, failure.reason, nowMs);
  const what: TransitionDetails = { cause: 'STEP_RETRIED', actor: WORKER_ACTOR, atMs: nowMs, detail: name };
  return note(order, what, {
    steps: replacedStep(order, {
      ...free(step),
      lastError: cut(failure.reason),
      nextAttemptAtMs: nowMs + retryWaitMs(step.attempts, policy, jitter),
    }),
  });
}

/** Gives a step back whose worker stops: due at once, the run not counted. Undefined if the owner doesn't hold it. */
export function releaseStep(order: Order, name: string, owner: string, nowMs: number): Order | undefined {
  const step = heldStep(order, name, owner);
  if (step === undefined) return undefined;
  const released = { ...free(step), attempts: step.attempts - 1, nextAttemptAtMs: nowMs };
  return touch(order, nowMs, { steps: replacedStep(order, released) });
}

/** Puts a DEAD step back to work, due at once, all its runs before it. Undefined if it isn't DEAD. */
export function reviveStep(order: Order, name: string, actor: string, nowMs: number): Order | undefined {
  const step = order.steps.find((one) => one.name === name);
  if (step?.state !== 'DEAD') return undefined;
  const revived: Step = { ...step, state: 'PENDING', attempts: 0, nextAttemptAtMs: nowMs };
  const what: TransitionDetails = { cause: 'STEP_RETRIED', actor, atMs: nowMs, detail: name };
  return note(order, what, { steps: replacedStep(order, revived) });
}

/**
 * A person lets a DEAD step be: it never runs, and stands in nothing's way. Undefined if it isn't DEAD.
 * @param reason on the timeline, after the step's name
 */
export function letStepBe(
  order: Order,
  name: string,
  { actor, reason }: { readonly actor: string; readonly reason: string },
  nowMs: number,
): Order | undefined {
  const step = order.steps.find((one) => one.name === name);
  if (step?.state !== 'DEAD') return undefined;
  const what: TransitionDetails = {
    cause: 'STEP_SKIPPED',
    actor,
    atMs: nowMs,
    detail: `${name}: ${reason}`,
  };
  const skipped = note(order, what, { steps: replacedStep(order, { ...step, state: 'SKIPPED' }) });
  return confirmOrder(skipped, nowMs) ?? skipped;
}

/** Whether a step is to give money back that is still ours: only its refund, or a lost dispute, ends that. */
export function holdsMoney({ overpayments, disputes }: Order, name: string): boolean {
  return overpayments.some(({ paymentId, amount, refunded }) => {
    if (overpaymentStepName(paymentId) !== name) return false;
    const lost = disputes.filter((dispute) => dispute.paymentId === paymentId && dispute.recorded);
    return add(refunded, ...lost.map((dispute) => dispute.amount)).lt(amount);
  });
}

/** CONFIRMED: everything that had to follow has followed. Undefined if the order isn't PAID or something is left. */
export function confirmOrder(order: Order, nowMs: number): Order | undefined {
  if (order.state !== 'PAID' || !stepsDone(order)) return undefined;
  return move(order, 'STEPS_DONE', 'CONFIRMED', { cause: 'COMPLETED', actor: WORKER_ACTOR, atMs: nowMs });
}

/** The wait after a failed run: doubled with every run, up to the policy's end, and up to half more by jitter. */
export function retryWaitMs(attempts: number, policy: StepPolicy, jitter: number): number {
  const doubled = policy.firstRetryMs * 2 ** Math.min(attempts - 1, 30);
  return Math.floor(Math.min(doubled, policy.maxRetryMs) * (1 + jitter / 2));
}

function moveToDeadLetter(order: Order, step: Step, reason: string, nowMs: number): Order {
  const what: TransitionDetails = { cause: 'STEP_DEAD', actor: WORKER_ACTOR, atMs: nowMs, detail: step.name };
  return note(order, what, {
    steps: replacedStep(order, { ...free(step), state: 'DEAD', lastError: cut(reason) }),
  });
}

function heldStep(order: Order, name: string, owner: string): Step | undefined {
  return ownSteps(order, owner).find((step) => step.name === name);
}

function free(step: Step): Step {
  return { ...step, owner: undefined, leaseEndMs: undefined };
}

function cut(reason: string): string {
  return cutText(reason, MAX_ERROR_LENGTH);
}

function replacedStep(order: Order, step: Step): readonly Step[] {
  return order.steps.map((other) => (other.name === step.name ? step : other));
}
