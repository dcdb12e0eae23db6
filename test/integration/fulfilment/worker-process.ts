import { createRegistry, followUpsOf } from '../../../src/fulfilment/follow-up.ts';
import { startWorker } from '../../../src/fulfilment/worker.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { TEST_TENANTS, makeHarness } from '../../support/harness.ts';

/** The points of a step at which its worker may be killed, in their order. */
export const KILL_POINTS = [
  'before the claim',
  'after the claim',
  'before the effect',
  'after the effect',
  'before the result is recorded',
  'after the result is recorded',
] as const;
export type KillPoint = (typeof KILL_POINTS)[number];

/*
 * A worker in a process of its own that stands still at one point of a step, tells its parent, and waits to be killed.
 * Arguments: the engine's endpoint, the table, where the step's effect is POSTed to, the point.
 */
const [endpoint = '', tableName = '', effectUrl = '', pointGiven = ''] = process.argv.slice(2);

async function reach(point: KillPoint): Promise<void> {
  if (point !== pointGiven) return;
  process.send?.(point);
  await new Promise(() => undefined);
}

async function main(): Promise<void> {
  const registry = createRegistry({
    name: 'probe',
    appliesTo: ({ kind }) => kind === 'paid',
    run: async ({ key }) => {
      await reach('before the effect');
      await fetch(effectUrl, { method: 'POST', body: key });
      await reach('after the effect');
      return { kind: 'DONE' };
    },
  });
  const followUps = followUpsOf(registry, TEST_TENANTS);
  const { ledger, clock } = await makeHarness({ endpoint, tableName, overrides: { followUps } });
  let commits = 0;
  const killable: Ledger = {
    ...ledger,
    transactor: {
      commit: async (plan) => {
        commits += 1;
        const claims = commits === 1;
        await reach(claims ? 'before the claim' : 'before the result is recorded');
        const result = await ledger.transactor.commit(plan);
        await reach(claims ? 'after the claim' : 'after the result is recorded');
        return result;
      },
    },
  };
  startWorker(killable, registry, {
    sweep: () => Promise.resolve(),
    metrics: createMetrics(),
    logger: createLogger({ level: 'silent', clock }),
    settings: { busyPollMs: 5, idlePollMs: 80 },
  });
}

if (endpoint !== '') await main();
