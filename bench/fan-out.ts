import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { startDynoxide } from '../dev/engine/engine.ts';
import { signToken } from '../dev/sign-token.ts';
import type { Viewer } from '../src/auth/viewer.ts';
import { loadConfig } from '../src/config/config.ts';
import { createDynamoDbClient } from '../src/ledger/table/dynamodb.ts';
import { orderKey } from '../src/ledger/kernel/keys.ts';
import { encodeNodeId } from '../src/ledger/items/node-ids.ts';
import { createOrder } from '../src/ledger/usecases/commands/create-order.ts';
import { type Ledger, commit } from '../src/ledger/usecases/runtime/ledger.ts';
import { note } from '../src/ledger/model/orders/order-changes.ts';
import { readOrder } from '../src/ledger/items/order-item.ts';
import { updateOrder } from '../src/ledger/items/order-writes.ts';
import type { Order } from '../src/ledger/model/orders/order.ts';
import { plan } from '../src/ledger/items/plan.ts';
import { createTable } from '../src/ledger/table/table.ts';
import { startServer } from '../src/main/listen.ts';

/** CPU of the serving process for one event to one watcher. */
export interface FanOutResult {
  readonly name: string;
  readonly deliveries: number;
  readonly cpuMicrosPerDelivery: number;
}

export interface FanOutOptions {
  readonly watchers: number;
  readonly events: number;
}

const UNLIMITED = { perSecond: 1e9, burst: 1e9 };
const TENANT = 'demo';
const SELECTION =
  'version from to cause detail actor at order { id state version amount currency refundableAmount updatedAt }';

/**
 * What it costs to tell many watchers of one order's transitions over graphql-ws, commits and reads included: once where they all
 * ask for the same, once where each asks with a document of its own, and beside both a bare `ws` broadcast of as many bytes.
 * Everything in one run, so that the machine is the same.
 */
export async function runFanOut(options: FanOutOptions): Promise<readonly FanOutResult[]> {
  const engine = await startDynoxide();
  const environment = {
    PORT: '0',
    WORKER: 'off',
    LOG_LEVEL: 'error',
    TABLE_NAME: 'fan-out',
    DYNAMODB_ENDPOINT: engine.endpoint,
  };
  const config = loadConfig(environment);
  const table = createDynamoDbClient({ region: config.table.region, endpoint: engine.endpoint });
  await createTable(table, { tableName: config.table.name, streams: false, protectedFromLoss: false });
  table.destroy();
  const gateway = await startServer(config, {
    rates: { subscription: UNLIMITED },
    sockets: { socketsPerPrincipal: options.watchers },
    realtime: { maxSubscriptionsPerPrincipal: options.watchers },
  });
  const { ledger } = gateway.app;
  const token = await signToken(
    config.auth,
    { subject: 'office', role: 'MERCHANT', tenant: TENANT, merchantId: 'cafe', ttlS: 3_600 },
    ledger.clock.nowMs(),
  );
  const url = `${gateway.url.replace(/^http/, 'ws')}/graphql`;
  const measureGateway = async (
    name: string,
    selection: (watcher: number) => string,
  ): Promise<FanOutResult> => {
    const order = await openOrder(ledger);
    return await measure(
      name,
      options,
      url,
      (watcher) => subscription(token, order, selection(watcher)),
      () => declines(ledger, order, options.events),
    );
  };
  try {
    const same = await measureGateway('graphql-ws, one selection for all', () => SELECTION);
    const each = await measureGateway(
      'graphql-ws, a selection for each',
      (watcher) => `own${watcher}: version ${SELECTION}`,
    );
    return [same, each, await measureBroadcast(options)];
  } finally {
    await gateway.close();
    await engine.stop();
  }
}

/** Connects the watchers, makes the events, and waits until every watcher has every event. */
async function measure(
  name: string,
  { watchers, events }: FanOutOptions,
  url: string,
  messagesOf: (watcher: number) => readonly string[],
  makeEvents: () => Promise<void>,
): Promise<FanOutResult> {
  const clients = fork(join(import.meta.dirname, 'fan-out-clients.ts'), { execArgv: ['--import', 'tsx'] });
  const said = (word: string): Promise<void> =>
    new Promise((resolve) =>
      clients.on('message', (message) => {
        if (message === word) resolve();
      }),
    );
  const [ready, delivered] = [said('ready'), said('delivered')];
  const messages = Array.from({ length: watchers }, (_unused, watcher) => messagesOf(watcher));
  clients.send({ url, messages, events, greetings: messages[0]?.length ?? 0 });
  await ready;
  const before = process.cpuUsage();
  await makeEvents();
  await delivered;
  const { user, system } = process.cpuUsage(before);
  clients.kill();
  const deliveries = watchers * events;
  return { name, deliveries, cpuMicrosPerDelivery: (user + system) / deliveries };
}

/** What one watcher says: who it is, and what it wants. Both are answered: by an acknowledgement, and by the first transition. */
function subscription(token: string, order: Order, selection: string): readonly string[] {
  const orderId = encodeNodeId('Order', order.tenant, order.accountId, order.orderId);
  const query = `subscription { orderTransitions(orderId: "${orderId}") { ${selection} } }`;
  return [
    { type: 'connection_init', payload: { authorization: `Bearer ${token}` } },
    { id: '1', type: 'subscribe', payload: { query } },
  ].map((message) => JSON.stringify(message));
}

async function openOrder(ledger: Ledger): Promise<Order> {
  const admin: Viewer = {
    tenant: TENANT,
    subject: 'root',
    role: 'ADMIN',
    expiresAtMs: Number.MAX_SAFE_INTEGER,
  };
  const input = { merchantId: 'cafe', accountId: 'alice', amount: '480', description: 'coffee' };
  const outcome = await createOrder(ledger, admin, randomUUID(), input);
  if (outcome.kind !== 'CreateOrderSuccess') throw new Error(outcome.kind);
  const [item] = await ledger.store.get([
    orderKey({ tenant: TENANT, accountId: 'alice', orderId: outcome.orderId }),
  ]);
  if (item === undefined) throw new Error('the order is gone');
  return readOrder(item);
}

/** Declined payments, each committed and told by itself. */
async function declines(ledger: Ledger, opened: Order, events: number): Promise<void> {
  let order = opened;
  for (let count = 0; count < events; count += 1) {
    const trigger = {
      cause: 'PAYMENT_DECLINED',
      actor: 'stripe',
      atMs: ledger.clock.nowMs(),
      detail: 'card_declined',
    } as const;
    const after = note(order, trigger);
    const result = await commit(ledger, plan(ledger.ids.token(), updateOrder(order, after, ledger.settings)));
    if (result.kind !== 'COMMITTED') throw new Error(result.kind);
    order = after;
  }
}

/** As many bytes to as many sockets, by nothing but `ws`. */
async function measureBroadcast(options: FanOutOptions): Promise<FanOutResult> {
  const server: Server = createServer();
  const sockets = new WebSocketServer({
    server,
    perMessageDeflate: false,
    handleProtocols: () => 'graphql-transport-ws',
  });
  const payload = 'x'.repeat(480);
  sockets.on('connection', (socket) =>
    socket.on('message', () => {
      socket.send(payload);
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The address of a server that listens on TCP.
  const { port } = server.address() as AddressInfo;
  try {
    return await measure(
      'bare ws broadcast',
      options,
      `ws://127.0.0.1:${port}`,
      () => ['hello', 'again'],
      async () => {
        for (let count = 0; count < options.events; count += 1) {
          await Promise.all(
            [...sockets.clients].map(
              (socket) =>
                new Promise<void>((resolve) => {
                  socket.send(payload, () => {
                    resolve();
                  });
                }),
            ),
          );
        }
      },
    );
  } finally {
    sockets.close();
    server.closeAllConnections();
    server.close();
  }
}

if (process.argv[1] === import.meta.filename) {
  const options = { watchers: 500, events: 100 };
  console.log(`${options.watchers} watchers of one order, ${options.events} transitions:`);
  for (const { name, deliveries, cpuMicrosPerDelivery } of await runFanOut(options)) {
    console.log(
      `  ${name.padEnd(36)} ${cpuMicrosPerDelivery.toFixed(1).padStart(7)} µs of CPU a delivery, ${deliveries} deliveries`,
    );
  }
}
