import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { TokenVerifier } from '../../auth/token.ts';
import type { Viewer } from '../../auth/viewer.ts';
import type { Clock } from '../../ledger/kernel/clock.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { principalOf } from '../live-sources.ts';
import { type Cancel, type Timers, runAt } from '../timers.ts';

/** Close codes beside the library's. Its client comes again after 1012, 1013 and 4403, with fresh parameters; 4401 ends it. */
export const CLOSE = { restart: 1012, tryLater: 1013 } as const;

/** What is known of a socket while it is open. */
export interface Session {
  readonly socket: WebSocket;
  /** Who speaks, once `connection_init` said so. */
  viewer?: Viewer;
  /** Gives back what the socket took. */
  readonly undo: Cancel[];
}

export interface AdmissionOptions {
  readonly verifier: TokenVerifier;
  readonly socketsPerPrincipal: number;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'count'>;
  readonly timers: Timers;
  readonly close: (socket: WebSocket, code: number, reason: string) => void;
}

/** Closes with a code; a client that doesn't answer is cut off, so that nothing of its subscriptions stays. */
export function closeSocket(
  socket: WebSocket,
  code: number,
  reason: string,
  timers: Timers,
  graceMs: number,
): void {
  socket.close(code, reason);
  const cancel = timers.after(graceMs, () => {
    socket.terminate();
  });
  socket.once('close', cancel);
}

/**
 * Lets a socket in by the token in its `connection_init` payload `{ "authorization": "Bearer …" }`, and closes it when the token
 * ends. False: not let in, and closed with a code that tells the client what to do.
 */
export function createAdmission(
  options: AdmissionOptions,
): (session: Session, authorization: unknown) => Promise<boolean> {
  const { clock, close } = options;
  const perPrincipal = new Map<string, number>();

  function refuse(socket: WebSocket, code: number, reason: string): false {
    close(socket, code, reason);
    return false;
  }

  function enter(session: Session, viewer: Viewer): boolean {
    const principal = principalOf(viewer);
    const before = perPrincipal.get(principal) ?? 0;
    if (before >= options.socketsPerPrincipal) {
      return refuse(session.socket, CLOSE.tryLater, 'Too many sockets');
    }
    perPrincipal.set(principal, before + 1);
    session.viewer = viewer;
    session.undo.push(
      () => {
        const left = (perPrincipal.get(principal) ?? 0) - 1;
        if (left <= 0) perPrincipal.delete(principal);
        else perPrincipal.set(principal, left);
      },
      runAt(viewer.expiresAtMs, clock.nowMs, options.timers, () => {
        close(session.socket, CloseCode.Forbidden, 'Token expired');
      }),
    );
    return true;
  }

  return async (session, authorization) => {
    const { socket } = session;
    const credentials = typeof authorization === 'string' ? authorization : undefined;
    const verdict = await options.verifier.verify(credentials, clock.nowMs());
    // It may have gone meanwhile, and then nobody would give back what it takes.
    if (socket.readyState !== socket.OPEN) return false;
    switch (verdict.kind) {
      case 'VIEWER':
        return enter(session, verdict.viewer);
      case 'UNAVAILABLE':
        return refuse(socket, CLOSE.tryLater, 'Try again later');
      case 'REFUSED':
        options.metrics.count('TokenRefused', { reason: verdict.reason });
        return verdict.reason === 'EXPIRED'
          ? refuse(socket, CloseCode.Forbidden, 'Token expired')
          : refuse(socket, CloseCode.Unauthorized, 'Unauthorized');
    }
  };
}
