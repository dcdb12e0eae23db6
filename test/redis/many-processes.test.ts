import { randomUUID } from 'node:crypto';
import type { Client } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ChildServer } from '../../dev/engine/child-server.ts';
import type { Engine } from '../../dev/engine/engine.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createDynamoDbClient } from '../../src/ledger/table/dynamodb.ts';
import { createTable } from '../../src/ledger/table/table.ts';
import { type RunningServer, startServer } from '../../src/main/listen.ts';
import {
  type Watch,
  type SeenTransition,
  socketClient,
  watchOrder,
} from '../integration/realtime/support.ts';
import { startEngine } from '../support/engine.ts';
import { deployment, ending, ownRedis, run, startGatewayProcess, startProgram, token } from './support.ts';

/** An engine of its own: with streams on, it would slow the others down. */
let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
}, 90_000);
afterAll(() => engine.stop());

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

async function newDeployment(redisUrl = inject('redisUrl')): Promise<Readonly<Record<string, string>>> {
  const environment = deployment(engine.endpoint, redisUrl);
  const client = createDynamoDbClient({ region: 'local', endpoint: engine.endpoint });
  const tableName = environment['TABLE_NAME'] ?? '';
  await createTable(client, { tableName, streams: true, protectedFromLoss: false });
  client.destroy();
  return environment;
}

async function gatewayProcess(environment: Readonly<Record<string, string>>): Promise<ChildServer> {
  const server = await startGatewayProcess(environment);
  cleanUp.push(server.stop);
  return server;
}

/** The subscriber's gateway, in this process; `rereadMs` says how soon it heals by itself. */
async function ownGateway(
  environment: Readonly<Record<string, string>>,
  rereadMs: number,
): Promise<RunningServer> {
  const server = await startServer(loadConfig({ ...environment, PORT: '0', LOG_LEVEL: 'silent' }), {
    realtime: { rereadMs },
  });
  cleanUp.push(server.close);
  return server;
}

function connect(url: string): Client {
  const client = socketClient(url, () => token('alice', 'CUSTOMER'));
  cleanUp.push(() => client.dispose());
  return client;
}

const portOf = (url: string): number => Number.parseInt(new URL(url).port, 10);

/** Gives alice money and an order of hers. */
async function openOrder(port: number): Promise<string> {
  await run(
    port,
    await token('root', 'ADMIN'),
    'mutation ($key: IdempotencyKey!) { adjustBalance(idempotencyKey: $key, input: { accountId: "alice", asset: "ECOPAY", amount: "1000", reason: "test" }) { __typename } }',
    { key: randomUUID() },
  );
  const { createOrder } = await run<{ createOrder: { order: { id: string } } }>(
    port,
    await token('cafe-office', 'MERCHANT', 'cafe'),
    `mutation ($key: IdempotencyKey!) {
      createOrder(idempotencyKey: $key, input: { merchantId: "cafe", accountId: "alice", amount: "480", description: "coffee" }) {
        ... on CreateOrderSuccess { order { id } }
      }
    }`,
    { key: randomUUID() },
  );
  return createOrder.order.id;
}

async function charge(port: number, orderId: string): Promise<string> {
  const answer = await run<{ charge: { __typename: string } }>(
    port,
    await token('alice', 'CUSTOMER'),
    'mutation ($key: IdempotencyKey!, $orderId: ID!) { charge(idempotencyKey: $key, input: { orderId: $orderId }) { __typename } }',
    { key: randomUUID(), orderId },
  );
  return answer.charge.__typename;
}

async function sees(watched: Watch<SeenTransition>, states: readonly string[]): Promise<void> {
  await expect
    .poll(() => watched.seen.map(({ version, to }) => `${version} ${to}`), { timeout: 20_000 })
    .toEqual(states);
}

const NEVER_MS = 3_600_000;

describe('a charge', () => {
  it('on one gateway arrives at the subscriber of another', async () => {
    const environment = await newDeployment();
    const [one, other] = await Promise.all([gatewayProcess(environment), gatewayProcess(environment)]);
    const orderId = await openOrder(one.port);
    const watched = watchOrder(connect(`http://127.0.0.1:${other.port}/graphql`), orderId);
    await sees(watched, ['1 CREATED']);
    expect(await charge(one.port, orderId)).toBe('ChargeSuccess');
    await sees(watched, ['1 CREATED', '2 PAID']);
  });

  it.each([
    ['by the re-read of the gateway that has the subscriber', 300, false],
    ['by the relay', NEVER_MS, true],
  ])(
    'whose gateway is killed between commit and publication arrives all the same, %s',
    async (_how, rereadMs, relayed) => {
      const environment = await newDeployment();
      const gateway = await ownGateway(environment, rereadMs);
      if (relayed) {
        const relay = startProgram('src/relay.ts', [], environment);
        cleanUp.push(async () => {
          relay.kill('SIGTERM');
          expect(await ending(relay)).toBe(0);
        });
      }
      const orderId = await openOrder(portOf(gateway.url));
      const watched = watchOrder(connect(`${gateway.url}/graphql`), orderId);
      await sees(watched, ['1 CREATED']);
      const tableName = environment['TABLE_NAME'] ?? '';
      const killed = startProgram('test/redis/killed-after-commit.ts', [engine.endpoint, tableName, orderId]);
      expect(await ending(killed)).toBe('SIGKILL');
      await sees(watched, ['1 CREATED', '2 PAID']);
    },
  );
});

describe('when Redis is killed', () => {
  it('payments go on, readiness says degraded, and subscribers have caught up once it is back', async () => {
    const redis = await ownRedis();
    const redisServer = await redis.start();
    cleanUp.push(redisServer.stop);
    const environment = await newDeployment(redis.url);
    const payer = await gatewayProcess(environment);
    const gateway = await ownGateway(environment, NEVER_MS);
    const orderId = await openOrder(payer.port);
    const readiness = async (): Promise<unknown> => {
      const response = await fetch(`http://127.0.0.1:${payer.port}/readyz`);
      return [response.status, ((await response.json()) as { bus: string }).bus];
    };
    await expect.poll(readiness).toEqual([200, 'ready']);
    const watched = watchOrder(connect(`${gateway.url}/graphql`), orderId);
    await sees(watched, ['1 CREATED']);
    process.kill(redisServer.pid, 'SIGKILL');
    await expect.poll(readiness).toEqual([200, 'degraded']);
    expect(await charge(payer.port, orderId)).toBe('ChargeSuccess');
    // Who comes in the outage sees what is there; who was there hears of nothing yet.
    const other = await openOrder(payer.port);
    await charge(payer.port, other);
    await sees(watchOrder(connect(`${gateway.url}/graphql`), other), ['1 CREATED', '2 PAID']);
    expect(watched.seen.length).toBe(1);
    cleanUp.push((await redis.start()).stop);
    await sees(watched, ['1 CREATED', '2 PAID']);
    await expect.poll(readiness, { timeout: 10_000 }).toEqual([200, 'ready']);
  });
});
