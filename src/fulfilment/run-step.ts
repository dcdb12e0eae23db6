import { digest } from '../ledger/kernel/fingerprint.ts';
import type { StepOutcome } from '../ledger/usecases/steps/finish-step.ts';
import type { Order, Refund } from '../ledger/model/orders/order.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { redact } from '../observability/redaction.ts';
import { type Registry, type StepResult, readStepName } from './follow-up.ts';

export interface RunLimits {
  /** How long a run may take. Well below the lease, which must outlast the run and the recording of its result. */
  readonly runTimeoutMs: number;
  /** Aborts when the worker stops and can't wait for this run. */
  readonly stopping: AbortSignal;
}

/** Reads a refund of the order for the step that follows it. */
export type ReadRefund = (order: Order, refundId: string) => Promise<Refund | undefined>;

/** The idempotency key of a step: the same for all attempts and workers, and no other step's. */
export function stepKey({ tenant, accountId, orderId }: Order, name: string): string {
  return digest('step', tenant, accountId, orderId, name);
}

/**
 * Runs one step that is held under a lease, within its time. Never throws. What the run throws becomes a RETRY; its message is
 * redacted, since it is stored. RELEASED if the worker stopped the run.
 */
export async function runStep(
  registry: Registry,
  order: Order,
  name: string,
  { runTimeoutMs, stopping }: RunLimits,
  readRefund: ReadRefund,
): Promise<StepOutcome> {
  const { followUpName, trigger } = readStepName(name);
  const followUp = registry.get(followUpName);
  if (followUp === undefined) return { kind: 'RETRY', reason: 'no follow-up of this name is registered' };
  const ended = new AbortController();
  const timeout = new Error(`not done within ${runTimeoutMs} ms`);
  const timer = setTimeout(() => {
    ended.abort(timeout);
  }, runTimeoutMs);
  const signal = AbortSignal.any([ended.signal, stopping]);
  try {
    const run = async (): Promise<StepResult> => {
      const refund = 'refundId' in trigger ? await readRefund(order, trigger.refundId) : undefined;
      return followUp.run({ order, trigger, key: stepKey(order, name), signal, ...defined({ refund }) });
    };
    const result = await Promise.race([run(), aborted(signal)]);
    // An aborted run may fail by itself before `aborted` rejects.
    if (result.kind === 'RETRY' && stopping.aborted) return { kind: 'RELEASED' };
    return redacted(result);
  } catch (error) {
    if (stopping.aborted) return { kind: 'RELEASED' };
    return redacted({
      kind: 'RETRY',
      reason: signal.reason === timeout ? timeout.message : messageOf(error),
    });
  } finally {
    clearTimeout(timer);
    // Releases whatever listens to the signal.
    ended.abort();
  }
}

/** Rejects when the signal aborts, so that a run that ignores the signal is not waited for. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function redacted(result: StepResult): StepResult {
  return result.kind === 'DONE' ? result : { kind: result.kind, reason: redact(result.reason) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'it threw what is no Error';
}
