import type { OrderRef } from '../ledger/kernel/keys.ts';
import { orderNodeId } from '../ledger/items/node-ids.ts';
import { type FinishedStep, type StepOutcome, finishStep } from '../ledger/usecases/steps/finish-step.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { takeUpOrder } from '../ledger/usecases/steps/take-up-order.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import { INTERRUPTED, type StepPolicy } from '../ledger/model/orders/steps.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { readStepName } from './follow-up.ts';
import type { Registry } from './registry.ts';
import { type RunLimits, runStep } from './run-step.ts';

/** What working on an order takes. */
export interface WorkDeps {
  readonly ledger: Ledger;
  readonly registry: Registry;
  readonly policy: StepPolicy;
  readonly limits: RunLimits;
  /** Asks the provider about an order that waits for its word, or takes over a claim whose lease has passed. */
  readonly sweep: (ref: OrderRef) => Promise<void>;
  readonly metrics: Pick<Metrics, 'count' | 'observe'>;
  /** Told of every run when it begins, by 1, and when it has ended, by -1. */
  readonly onRunning: (change: 1 | -1) => void;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/**
 * Does what a due order needs: its due steps, all at once since they're independent, their results written one after
 * another; its confirmation; the provider's word. What fails stays due, so nothing is lost. Says whether its steps or its
 * state moved on. Throws for bugs and for what the sweeper throws.
 */
export async function workOnOrder(deps: WorkDeps, ref: OrderRef): Promise<boolean> {
  const owner = deps.ledger.ids.token();
  const taken = await takeUpOrder(deps.ledger, ref, owner, deps.policy);
  if (taken.kind === 'GONE') return false;
  if (taken.kind === 'FAILED') {
    deps.logger.warn('A due order could not be taken up', { ...fields(ref), reason: taken.failure.kind });
    return false;
  }
  for (const step of taken.buried) reportDead(deps, taken.order, step.name, step.attempts, INTERRUPTED);
  if (taken.confirmed) reportConfirmed(deps, taken.order);
  const oneByOne = inTurn();
  await Promise.all(
    taken.steps.map(async ({ name, attempts }) => {
      deps.onRunning(1);
      const outcome = await runStep(deps.registry, taken.order, name, deps.limits);
      deps.onRunning(-1);
      // All results are written into one item: steps that end together would outrun each other there, and who loses
      // too often runs again although it is done.
      const finished = await oneByOne(() =>
        finishStep(deps.ledger, ref, { stepName: name, owner }, outcome, deps.policy),
      );
      report(deps, taken.order, { name, attempts }, outcome, finished);
    }),
  );
  if (taken.sweep && !deps.limits.stopping.aborted) await deps.sweep(ref);
  return taken.confirmed || taken.steps.length > 0 || taken.buried.length > 0;
}

/** Lets tasks run one after another: each begins when the one before it has ended, however that ended. */
function inTurn(): <Value>(task: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task, task);
    last = turn;
    return turn;
  };
}

function report(
  deps: WorkDeps,
  order: Order,
  { name, attempts }: { readonly name: string; readonly attempts: number },
  outcome: StepOutcome,
  finished: FinishedStep,
): void {
  const line = { ...fields(order), stepName: name, attempt: attempts };
  if (finished.kind === 'LOST') {
    count(deps, name, 'lost');
    deps.logger.warn('A step was taken over before its result came', line);
  } else if (finished.kind === 'FAILED') {
    // Its lease will pass, and then it runs again.
    count(deps, name, 'unrecorded');
    deps.logger.warn("A step's result could not be recorded", { ...line, reason: finished.failure.kind });
  } else if (finished.state === 'DEAD') {
    reportDead(deps, order, name, attempts, 'reason' in outcome ? outcome.reason : '');
  } else if (outcome.kind === 'DONE') {
    count(deps, name, 'done');
    deps.logger.info('A step is done', line);
    if (finished.confirmed) reportConfirmed(deps, finished.order);
  } else if (outcome.kind === 'RELEASED') {
    count(deps, name, 'released');
  } else {
    count(deps, name, 'retried');
    deps.logger.info('A step failed and will run again', { ...line, reason: outcome.reason });
  }
}

function reportDead(deps: WorkDeps, order: Order, name: string, attempt: number, reason: string): void {
  count(deps, name, 'dead');
  deps.logger.error('A step is dead', { ...fields(order), stepName: name, attempt, reason });
}

function reportConfirmed({ metrics }: WorkDeps, order: Order): void {
  if (order.payment === undefined) return;
  metrics.observe('paidToConfirmedS', (order.updatedAtMs - order.payment.atMs) / 1000);
}

type StepRunResult = 'done' | 'retried' | 'dead' | 'released' | 'lost' | 'unrecorded';

/** Counted by the follow-up's name: a step's own would be a time series per refund. */
function count({ metrics, registry }: WorkDeps, name: string, result: StepRunResult): void {
  const { followUpName } = readStepName(name);
  metrics.count('StepRun', { step: registry.has(followUpName) ? followUpName : 'unknown', result });
}

function fields(ref: OrderRef): { readonly tenant: string; readonly orderId: string } {
  return { tenant: ref.tenant, orderId: orderNodeId(ref) };
}
