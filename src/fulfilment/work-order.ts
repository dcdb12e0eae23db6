import type { OrderRef } from '../ledger/kernel/keys.ts';
import { orderNodeId } from '../ledger/items/node-ids.ts';
import { type FinishedStep, type StepOutcome, finishStep } from '../ledger/usecases/steps/finish-step.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { findRefund } from '../ledger/usecases/queries/read-order-refunds.ts';
import { takeUpOrder } from '../ledger/usecases/steps/take-up-order.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import { INTERRUPTED, type StepPolicy } from '../ledger/model/orders/steps.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type Registry, readStepName } from './follow-up.ts';
import { type RunLimits, runStep } from './run-step.ts';

export interface WorkOrderDeps {
  readonly ledger: Ledger;
  readonly registry: Registry;
  readonly policy: StepPolicy;
  readonly limits: RunLimits;
  /** Asks the provider about an order that waits for it, or takes over one whose lease has expired. */
  readonly sweep: (ref: OrderRef) => Promise<void>;
  readonly metrics: Pick<Metrics, 'count' | 'observe'>;
  /** Called with 1 when a run begins and with -1 when it has ended. */
  readonly onRunning: (change: 1 | -1) => void;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/**
 * Does what a due order needs: its due steps, its confirmation, the provider's state of it. Steps are independent, so they run
 * all at once; their results are written one after another. What fails stays due, so nothing is lost. Resolves to whether its
 * steps or its state moved on; a process whose clock is wrong leaves it to others. Throws for bugs and what the sweeper throws.
 */
export async function workOnOrder(deps: WorkOrderDeps, ref: OrderRef): Promise<boolean> {
  const { ledger, registry, policy, limits, logger } = deps;
  if (!ledger.clock.isRight()) return false;
  const owner = ledger.ids.token();
  const taken = await takeUpOrder(ledger, ref, owner, policy);
  if (taken.kind === 'GONE') return false;
  if (taken.kind === 'FAILED') {
    logger.warn('A due order could not be taken up', { ...fields(ref), reason: taken.failure.kind });
    return false;
  }
  for (const { name, attempts } of taken.deadLettered)
    reportDead(deps, taken.order, name, attempts, INTERRUPTED);
  if (taken.confirmed) reportConfirmed(deps, taken.order);
  const oneByOne = inTurn();
  await Promise.all(
    taken.steps.map(async (step) => {
      deps.onRunning(1);
      const outcome = await runStep(registry, taken.order, step.name, limits, (order, refundId) =>
        findRefund(ledger, order, refundId),
      );
      deps.onRunning(-1);
      // All results go into one item. Written at once they would conflict, and a step that loses too often runs again although
      // it is done.
      const finished = await oneByOne(() =>
        finishStep(ledger, ref, { stepName: step.name, owner }, outcome, policy),
      );
      report(deps, taken.order, step, outcome, finished);
    }),
  );
  if (taken.sweep && !limits.stopping.aborted) await deps.sweep(ref);
  return taken.confirmed || taken.steps.length > 0 || taken.deadLettered.length > 0;
}

/** Runs tasks one after another: each begins when the one before it has ended or failed. */
function inTurn(): <Value>(task: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task, task);
    last = turn;
    return turn;
  };
}

function report(
  deps: WorkOrderDeps,
  order: Order,
  { name, attempts: attempt }: { readonly name: string; readonly attempts: number },
  outcome: StepOutcome,
  finished: FinishedStep,
): void {
  const line = { ...fields(order), stepName: name, attempt };
  if (finished.kind === 'LOST') {
    count(deps, name, 'lost');
    deps.logger.warn('A step was taken over before its result came', line);
  } else if (finished.kind === 'FAILED') {
    // Its lease expires, and then it runs again.
    count(deps, name, 'unrecorded');
    deps.logger.warn("A step's result could not be recorded", { ...line, reason: finished.failure.kind });
  } else if (finished.state === 'DEAD') {
    reportDead(deps, order, name, attempt, 'reason' in outcome ? outcome.reason : '');
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

function reportDead(
  deps: WorkOrderDeps,
  order: Order,
  stepName: string,
  attempt: number,
  reason: string,
): void {
  count(deps, stepName, 'dead');
  deps.logger.error('A step is dead', { ...fields(order), stepName, attempt, reason });
}

function reportConfirmed({ metrics }: WorkOrderDeps, { payment, updatedAtMs }: Order): void {
  if (payment !== undefined) metrics.observe('paidToConfirmedS', (updatedAtMs - payment.atMs) / 1000);
}

type StepRunResult = 'done' | 'retried' | 'dead' | 'released' | 'lost' | 'unrecorded';

/** Labelled by the follow-up's name: a step's own name would be a time series per refund. */
function count({ metrics, registry }: WorkOrderDeps, stepName: string, result: StepRunResult): void {
  const { followUpName } = readStepName(stepName);
  metrics.count('StepRun', { step: registry.has(followUpName) ? followUpName : 'unknown', result });
}

function fields(ref: OrderRef): { readonly tenant: string; readonly orderId: string } {
  return { tenant: ref.tenant, orderId: orderNodeId(ref) };
}
