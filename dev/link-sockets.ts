import type { Socket } from 'node:net';

/** Has the two sides of a proxied connection end together. @param open holds each of them while it is open */
export function linkSockets(client: Socket, upstream: Socket, open: Set<Socket>): void {
  for (const socket of [client, upstream]) {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      open.delete(socket);
      client.destroy();
      upstream.destroy();
    });
  }
}
