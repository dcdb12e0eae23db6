import type { Store } from '../ledger/table/store.ts';
import { HEARTBEAT_PREFIX, type Heartbeat, isLiveHeartbeat, readHeartbeat } from './heartbeat.ts';
import { wholeRange } from './range.ts';
import { type MigrationState, STATE_PREFIX, SYSTEM_NAME, readState } from './state.ts';

/** Every migration that was ever begun on this table. */
export async function readStates(store: Store): Promise<readonly MigrationState[]> {
  const items = await wholeRange(store, systemRange(STATE_PREFIX));
  return items.map(readState);
}

/** The processes that may be acting on this table now. Those that were killed long ago are there until TTL removes them. */
export async function readFleet(store: Store, nowMs: number): Promise<readonly Heartbeat[]> {
  const items = await wholeRange(store, systemRange(HEARTBEAT_PREFIX));
  return items.map(readHeartbeat).filter((heartbeat) => isLiveHeartbeat(heartbeat, nowMs));
}

function systemRange(prefix: string): { readonly uuid: string; readonly prefix: string } {
  return { uuid: `system#${SYSTEM_NAME}`, prefix };
}
