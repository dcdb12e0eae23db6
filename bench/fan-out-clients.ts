import { WebSocket } from 'ws';

/*
 * The clients of the fan-out benchmark, in a process of their own, so that their CPU isn't counted as the server's.
 * Reads `{ url, watchers, messages }` from its parent, opens the sockets, sends each its messages, says `ready` once all have
 * answered, and then counts what arrives.
 */

interface Orders {
  readonly url: string;
  /** What each socket sends once it is open, by its number. */
  readonly messages: readonly (readonly string[])[];
  /** Every socket hears this many messages before the measurement starts. */
  readonly greetings: number;
  /** And this many in it. */
  readonly events: number;
}

// The parent is bench/fan-out.ts, and sends nothing else.
process.once('message', (orders: Orders) => void run(orders));

async function run({ url, messages, greetings, events }: Orders): Promise<void> {
  let greeted = 0;
  let delivered = 0;
  const total = messages.length * events;
  const hear = (heard: number): void => {
    if (heard === greetings) {
      greeted += 1;
      if (greeted === messages.length) process.send?.('ready');
    } else if (heard > greetings) {
      delivered += 1;
      if (delivered === total) process.send?.('delivered');
    }
  };
  for (const own of messages) {
    const socket = new WebSocket(url, 'graphql-transport-ws', { perMessageDeflate: false });
    let heard = 0;
    socket.on('message', () => {
      heard += 1;
      hear(heard);
      // The protocol wants the acknowledgement before the rest.
      if (heard === 1) for (const message of own.slice(1)) socket.send(message);
    });
    await new Promise((resolve) => socket.once('open', resolve));
    const [first] = own;
    if (first !== undefined) socket.send(first);
  }
}
