import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { RefusalReason, TokenVerifier } from '../../auth/token.ts';
import type { Viewer } from '../../auth/viewer.ts';
import type { Clock } from '../../ledger/kernel/clock.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { createQuota } from '../live-sources.ts';
import { type Cancel, type Timers, runAt } from '../timers.ts';

/**
 * Close codes beside the library's. Its client connects again after 1012, 1013 and 4403, with fresh parameters; after 4401 it
 * doesn't.
 */
export const CLOSE = { restart: 1012, tryLater: 1013 } as const;

/** What a fresh token or a moment's wait mends. After 4401 a client wouldn't come again. */
const CLOSE_OF_REFUSED: Partial<Readonly<Record<RefusalReason, readonly [code: number, reason: string]>>> = {
  EXPIRED: [CloseCode.Forbidden, 'Token expired'],
  NOT_YET: [CLOSE.tryLater, 'Token not valid yet'],
};

export type Close = (socket: WebSocket, code: number, reason: string) => void;

/** What is known of a socket while it is open. */
export interface Session {
  readonly socket: WebSocket;
  /** Known once `connection_init` has named it. */
  viewer?: Viewer;
  /** Releases what the socket took. */
  readonly undo: Cancel[];
}

export interface AdmissionOptions {
  readonly verifier: TokenVerifier;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'count'>;
  readonly timers: Timers;
}

/** Closes with a code. A client that doesn't answer in `graceMs` is cut off, so that nothing of its subscriptions stays. */
export function createClose(timers: Timers, graceMs: number): Close {
  return (socket, code, reason) => {
    socket.close(code, reason);
    const cancel = timers.after(graceMs, () => {
      socket.terminate();
    });
    socket.once('close', cancel);
  };
}

/**
 * Admits a socket by the token in its `connection_init` payload `{ "authorization": "Bearer …" }`, and closes it when the token
 * expires. Resolves to false if it isn't admitted: it is then closed with a code that tells the client what to do.
 */
export function createAdmission(
  { verifier, clock, metrics, timers }: AdmissionOptions,
  socketsPerPrincipal: number,
  close: Close,
): (session: Session, authorization: unknown) => Promise<boolean> {
  const quota = createQuota(socketsPerPrincipal);

  function refuse(socket: WebSocket, code: number, reason: string): false {
    close(socket, code, reason);
    return false;
  }

  function admit(session: Session, viewer: Viewer): boolean {
    const free = quota.take(viewer);
    if (free === undefined) return refuse(session.socket, CLOSE.tryLater, 'Too many sockets');
    const cancelExpiry = runAt(viewer.expiresAtMs, clock.nowMs, timers, () => {
      close(session.socket, CloseCode.Forbidden, 'Token expired');
    });
    session.viewer = viewer;
    session.undo.push(free, cancelExpiry);
    return true;
  }

  return async (session, authorization) => {
    const { socket } = session;
    const credentials = typeof authorization === 'string' ? authorization : undefined;
    const verdict = await verifier.verify(credentials, clock.nowMs());
    // It may have closed meanwhile. Nobody would release what it takes now.
    if (socket.readyState !== socket.OPEN) return false;
    if (verdict.kind === 'VIEWER') return admit(session, verdict.viewer);
    if (verdict.kind === 'UNAVAILABLE') return refuse(socket, CLOSE.tryLater, 'Try again later');
    metrics.count('TokenRefused', { reason: verdict.reason });
    const [code, reason] = CLOSE_OF_REFUSED[verdict.reason] ?? [CloseCode.Unauthorized, 'Unauthorized'];
    return refuse(socket, code, reason);
  };
}
