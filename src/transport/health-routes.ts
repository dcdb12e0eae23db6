import { Hono } from 'hono';
import type { KeySetStatus } from '../auth/key-set.ts';
import { defined } from '../ledger/kernel/defined.ts';
import { systemKey } from '../ledger/kernel/keys.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';

export interface HealthOptions {
  readonly ledger: Ledger;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Whether the process is going away: load balancers should look elsewhere. */
  readonly isDraining: () => boolean;
  /** Of the identity provider's keys, in a process that checks tokens by them. */
  readonly keySetStatus?: () => KeySetStatus | undefined;
}

/**
 * `/healthz`: the process lives. `/readyz`: it can work, since the table can be read and the clock is right. `/metrics`: Prometheus'
 * text.
 */
export function healthRoutes({ ledger, metrics, logger, isDraining, keySetStatus }: HealthOptions): Hono {
  const app = new Hono();
  const isReadable = tableCheck(ledger, logger);
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/readyz', async (context) => {
    if (isDraining()) return context.json({ status: 'draining' }, 503);
    if (!(await isReadable())) return context.json({ status: 'unavailable', table: 'unreadable' }, 503);
    if (!ledger.clock.isRight()) return context.json({ status: 'unavailable', clock: 'wrong' }, 503);
    // A bus that is down delays live updates and nothing else: subscribers read the table.
    // Without keys no token can be checked here, but neither can it elsewhere: taking all servers away would help nobody.
    const keys = keySetStatus?.()?.toLowerCase();
    return context.json({ status: 'ok', table: 'readable', bus: ledger.bus.status(), ...defined({ keys }) });
  });
  app.get('/metrics', async () => {
    const { contentType, body } = await metrics.render();
    return new Response(body, { headers: { 'content-type': contentType } });
  });
  return app;
}

/** For how long the table that was read counts as readable, or not. */
const READING_SERVES_MS = 1_000;

/** Whether the table can be read. Anybody may ask, as often as they like: it is read once a second at most. */
function tableCheck({ store, clock }: Ledger, logger: Logger): () => Promise<boolean> {
  let last: { readonly atMs: number; readonly reading: Promise<boolean> } | undefined;
  const read = async (): Promise<boolean> => {
    try {
      await store.get([systemKey('health', 'READY')]);
      return true;
    } catch (error) {
      logger.warn('the table can not be read', {}, error);
      return false;
    }
  };
  return () => {
    const nowMs = clock.nowMs();
    if (last === undefined || Math.abs(nowMs - last.atMs) >= READING_SERVES_MS)
      last = { atMs: nowMs, reading: read() };
    return last.reading;
  };
}
