import { createServer } from 'node:net';

/**
 * A TCP port that nothing listens on at 127.0.0.1 right now, for a program that can't report the port it chose itself.
 * It may be taken again before it is used: whoever passes it on has to notice and ask for another.
 */
export async function freePort(): Promise<number> {
  return await listenOnce(0);
}

/** Whether a program could listen on this port of 127.0.0.1 right now. */
export async function isFree(port: number): Promise<boolean> {
  return await listenOnce(port).then(
    () => true,
    () => false,
  );
}

/** Listens for a moment, and resolves to the port once it is closed again. */
function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string')
          reject(new Error('A TCP server without a port.'));
        else resolve(address.port);
      });
    });
  });
}
