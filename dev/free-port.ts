import { createServer } from 'node:net';

/**
 * A TCP port that nothing listens on at 127.0.0.1 right now, for a program that can't report the port it chose itself.
 * It may be taken again before it is used: whoever passes it on has to notice and ask for another.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string')
          reject(new Error('A TCP server without a port.'));
        else resolve(address.port);
      });
    });
  });
}
