import { digest } from '../ledger/kernel/fingerprint.ts';
import type { StepOutcome } from '../ledger/usecases/steps/finish-step.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import { redact } from '../observability/redaction.ts';
import { type StepResult, readStepName } from './follow-up.ts';
import type { Registry } from './registry.ts';

export interface RunLimits {
  /** How long a run may take; well below the lease, which must outlast the run and its recording. */
  readonly runTimeoutMs: number;
  /** Aborts when the worker stops and can't wait for this run. */
  readonly stopping: AbortSignal;
}

/** The idempotency key of a step: stable over attempts and workers, and no other step's. */
export function stepKey({ tenant, accountId, orderId }: Order, name: string): string {
  return digest('step', tenant, accountId, orderId, name);
}

/**
 * Runs one step that is held under a lease, within its time. Never throws: what the run throws is a reason to try
 * again, and its message is redacted, since it is stored.
 */
export async function runStep(
  registry: Registry,
  order: Order,
  name: string,
  { runTimeoutMs, stopping }: RunLimits,
): Promise<StepOutcome> {
  const { followUpName, trigger } = readStepName(name);
  const followUp = registry.get(followUpName);
  if (followUp === undefined) return { kind: 'RETRY', reason: 'no follow-up of this name is registered' };
  const ended = new AbortController();
  const timer = setTimeout(() => {
    ended.abort(new StepTimeoutError(runTimeoutMs));
  }, runTimeoutMs);
  const signal = AbortSignal.any([ended.signal, stopping]);
  try {
    const run = followUp.run({ order, trigger, key: stepKey(order, name), signal });
    const result = await Promise.race([run, aborted(signal)]);
    // A run that was broken off may say so itself, before we do.
    if (result.kind === 'RETRY' && stopping.aborted) return { kind: 'RELEASED' };
    return clean(result);
  } catch (error) {
    if (stopping.aborted) return { kind: 'RELEASED' };
    const reason = signal.reason instanceof StepTimeoutError ? signal.reason.message : messageOf(error);
    return clean({ kind: 'RETRY', reason });
  } finally {
    clearTimeout(timer);
    // Whoever listens to the signal lets go of it.
    ended.abort();
  }
}

class StepTimeoutError extends Error {
  constructor(runTimeoutMs: number) {
    super(`not done within ${runTimeoutMs} ms`);
    this.name = 'StepTimeoutError';
  }
}

/** Rejects when the signal aborts, so that a run that doesn't listen to it is not waited for. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const give = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}

function clean(result: StepResult): StepResult {
  return result.kind === 'DONE' ? result : { kind: result.kind, reason: redact(result.reason) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'it threw what is no Error';
}
