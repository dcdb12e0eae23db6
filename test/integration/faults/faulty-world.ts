import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { inject } from 'vitest';
import { type StripeSimulator, startStripeSimulator } from '../../../dev/stripe-simulator/server.ts';
import { type StoredItem, readDecimal, readString } from '../../../src/ledger/kernel/attributes.ts';
import { readEntry } from '../../../src/ledger/model/entries/entry.ts';
import { partition } from '../../../src/ledger/kernel/keys.ts';
import { plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { readProposal } from '../../../src/ledger/items/proposal-item.ts';
import { readOrder } from '../../../src/ledger/items/order-item.ts';
import { createStripeProvider } from '../../../src/provider/stripe/stripe-adapter.ts';
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Harness, TENANTS_WITH_APPROVAL, makeHarness } from '../../support/harness.ts';
import { ownedClock } from '../../support/owned-time.ts';

/** A ledger whose every request to the engine goes through a fault proxy, and a provider that works. */
export interface FaultyWorld extends Harness {
  readonly proxy: FaultProxy;
  readonly simulator: StripeSimulator;
  /** An account that no other test uses. */
  readonly account: () => string;
  /** Everything that a wallet's partition holds, in words, read past the proxy. */
  readonly picture: (accountId: string) => Promise<Picture>;
  readonly stop: () => Promise<void>;
}

export interface Picture {
  /** Asset → balance, in its shortest form. */
  readonly balances: Readonly<Record<string, string>>;
  /** The operation of each entry, oldest first. */
  readonly entries: readonly string[];
  /** Each order's state, version and what may still be refunded. */
  readonly orders: readonly string[];
  /** What became of each proposal; absent where there is none. */
  readonly proposals?: readonly string[];
}

let lastAccount = 0;

export async function makeFaultyWorld(options: Omit<FaultProxyOptions, 'target'> = {}): Promise<FaultyWorld> {
  const clock = ownedClock();
  const engine = inject('engineEndpoint');
  const proxy = await startFaultProxy({ target: engine, ...options });
  const simulator = await startStripeSimulator({
    secretKey: 'sk_test_1',
    webhookSecret: 'whsec_test_1',
    clock,
    seed: 'faults',
  });
  const provider = createStripeProvider({
    secretKey: 'sk_test_1',
    webhookSecrets: ['whsec_test_1'],
    apiBase: new URL(simulator.url),
    timeoutMs: 5_000,
  });
  const harness = await makeHarness({
    endpoint: proxy.endpoint,
    directEndpoint: engine,
    clock,
    provider,
    tenants: TENANTS_WITH_APPROVAL,
    overrides: {
      followUps: ({ kind }) => (kind === 'paid' ? ['probe'] : []),
    },
  });
  return {
    ...harness,
    proxy,
    simulator,
    account: () => {
      lastAccount += 1;
      return `u_${String(lastAccount)}`;
    },
    picture: async (accountId) => pictureOf(await itemsOf(harness, accountId)),
    stop: async () => {
      harness.close();
      await proxy.stop();
      await simulator.close();
    },
  };
}

async function itemsOf({ client, tableName }: Harness, accountId: string): Promise<readonly StoredItem[]> {
  const { Items } = await client.send(
    new QueryCommand({
      TableName: tableName,
      ConsistentRead: true,
      KeyConditionExpression: '#uuid = :uuid',
      ExpressionAttributeNames: { '#uuid': 'uuid' },
      ExpressionAttributeValues: { ':uuid': { S: partition('t_1', accountId) } },
    }),
  );
  return Items ?? [];
}

function pictureOf(items: readonly StoredItem[]): Picture {
  const ofType = (prefix: string): readonly StoredItem[] =>
    items.filter((item) => readString(item, 'type').startsWith(prefix));
  const balances = ofType('BALANCE#').map(
    (item) =>
      [
        readString(item, 'type').slice('BALANCE#'.length),
        plainDecimal(readDecimal(item, 'balance')),
      ] as const,
  );
  const proposals = ofType('PROPOSAL#').map((item) => readProposal(item).state);
  return {
    balances: Object.fromEntries(balances),
    entries: ofType('ENTRY#').map((item) => readEntry(item).operation),
    orders: ofType('ORDER#').map((item) => {
      const { state, version, refundable } = readOrder(item);
      return `${state} v${String(version)} refundable ${plainDecimal(refundable)}`;
    }),
    ...(proposals.length > 0 && { proposals }),
  };
}
