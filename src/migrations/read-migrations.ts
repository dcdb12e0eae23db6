import type { Store } from '../ledger/store.ts';
import { HEARTBEAT_PREFIX, type Heartbeat, isLiveHeartbeat, readHeartbeat } from './heartbeat.ts';
import { type MigrationState, STATE_PREFIX, SYSTEM_NAME, readState } from './state.ts';

const MAX_ITEMS = 1_000;

/** Every migration that was ever begun on this table. */
export async function readStates(store: Store): Promise<readonly MigrationState[]> {
  const items = await store.query(systemQuery(STATE_PREFIX));
  return items.map(readState);
}

/** The processes that may be acting on this table now. */
export async function readFleet(store: Store, nowMs: number): Promise<readonly Heartbeat[]> {
  const items = await store.query(systemQuery(HEARTBEAT_PREFIX));
  return items.map(readHeartbeat).filter((heartbeat) => isLiveHeartbeat(heartbeat, nowMs));
}

function systemQuery(prefix: string): Parameters<Store['query']>[0] {
  return { uuid: `system#${SYSTEM_NAME}`, prefix, limit: MAX_ITEMS, newestFirst: false };
}
