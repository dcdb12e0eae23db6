import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createMetadataSeal } from '../../src/auth/metadata-seal.ts';
import { createPaymentCodes } from '../../src/auth/payment-code.ts';
import type { Viewer } from '../../src/auth/viewer.ts';
import type { StoredItem } from '../../src/ledger/kernel/attributes.ts';
import { defined } from '../../src/ledger/kernel/defined.ts';
import { createDynamoDbClient } from '../../src/ledger/table/dynamodb.ts';
import type { TableClock } from '../../src/ledger/table/table-clock.ts';
import { type Entry, readEntry } from '../../src/ledger/model/entries/entry.ts';
import { type Ids, randomIds } from '../../src/ledger/kernel/ids.ts';
import { PREFIX, balanceKey, orderKey, partition } from '../../src/ledger/kernel/keys.ts';
import { decimal, plainDecimal } from '../../src/ledger/kernel/money.ts';
import { encodeNodeId } from '../../src/ledger/items/node-ids.ts';
import { adjustBalance } from '../../src/ledger/usecases/commands/adjust-balance.ts';
import { balanceOf } from '../../src/ledger/items/balance-item.ts';
import { createOrder } from '../../src/ledger/usecases/commands/create-order.ts';
import type { Ledger, LedgerCounter, LedgerSettings } from '../../src/ledger/usecases/runtime/ledger.ts';
import { readOrder } from '../../src/ledger/items/order-item.ts';
import type { Order, Refund } from '../../src/ledger/model/orders/order.ts';
import { byAge } from '../../src/ledger/usecases/queries/read-order-refunds.ts';
import { readRefunds } from '../../src/ledger/usecases/runtime/read-refunds.ts';
import { createStore } from '../../src/ledger/table/store.ts';
import { createTable } from '../../src/ledger/table/table.ts';
import { createTransactor } from '../../src/ledger/table/transact.ts';
import { createInProcessBus } from '../../src/realtime/bus/bus.ts';
import type { PaymentProvider } from '../../src/provider/port.ts';
import { type Tenant, type Tenants, parseTenants } from '../../src/config/tenants.ts';
import { type OwnedClock, ownedClock, recordedWaits } from './owned-time.ts';

/** Tenant `t_1` of the field cases: wallets in USD without rewards or cap, merchants m_1 and m_2. */
export const TEST_TENANTS: Tenants = parseTenants(
  {
    t_1: {
      name: 'Tenant One',
      currency: 'USD',
      assets: {
        ECOPAY: { scale: 2, pays: 'USD' },
        POINT: { scale: 0 },
        JCREDIT: { scale: 2, cap: '1000.00', pays: 'USD' },
      },
      paymentMethods: ['card'],
      returnUrls: ['https://shop.example'],
      merchants: { m_1: { name: 'Merchant One' }, m_2: { name: 'Merchant Two' } },
    },
    demo: {
      name: 'Demo',
      currency: 'JPY',
      assets: {
        ECOPAY: { scale: 0, cap: '50000', pays: 'JPY' },
        POINT: { scale: 0 },
        JCREDIT: { scale: 2 },
        'REGIONAL/kyoto': { scale: 0, pays: 'JPY' },
      },
      rewards: { pointRate: '0.01', co2KgRate: '0.01' },
      paymentMethods: ['card', 'konbini'],
      returnUrls: ['https://shop.example', 'hitotsu-demo://'],
      merchants: { cafe: { name: 'Café' } },
    },
  },
  { production: false },
);

/** The same tenants, where adjustments of more than 100.00 ECOPAY of `t_1` need a second admin. */
export const TENANTS_WITH_APPROVAL: Tenants = new Map(
  [...TEST_TENANTS].map(([name, tenant]) => [name, name === 't_1' ? withApproval(tenant) : tenant]),
);

function withApproval(tenant: Tenant): Tenant {
  const rule = tenant.assets.get('ECOPAY');
  if (rule === undefined) throw new Error('no such asset');
  const above = { ...rule, approvalAbove: decimal('100.00') };
  return { ...tenant, assets: new Map([...tenant.assets, ['ECOPAY', above]]) };
}

const FAR_MS = 4_000_000_000_000;

export function customer(subject: string, tenant = 't_1'): Viewer {
  return { tenant, subject, role: 'CUSTOMER', expiresAtMs: FAR_MS };
}
export function merchant(merchantId = 'm_1', tenant = 't_1'): Viewer {
  return { tenant, subject: `${merchantId}-office`, role: 'MERCHANT', merchantId, expiresAtMs: FAR_MS };
}
export function terminal(merchantId = 'm_1', tenant = 't_1', subject = `${merchantId}-till`): Viewer {
  return { tenant, subject, role: 'TERMINAL', merchantId, expiresAtMs: FAR_MS };
}
export function admin(tenant = 't_1', subject = 'root'): Viewer {
  return { tenant, subject, role: 'ADMIN', expiresAtMs: FAR_MS };
}

export interface HarnessOptions {
  /** Where the engine, or a proxy before it, listens. */
  readonly endpoint: string;
  /** Where the table is made and checked; the engine itself when `endpoint` is a proxy. */
  readonly directEndpoint?: string;
  readonly tableName?: string;
  readonly ids?: Ids;
  readonly clock?: OwnedClock;
  /** In the place of `clock`: this process's own idea of the table's time. */
  readonly tableClock?: TableClock;
  readonly provider?: PaymentProvider;
  readonly settings?: Partial<LedgerSettings>;
  readonly tenants?: Tenants;
  readonly streams?: boolean;
  readonly requestTimeoutMs?: number;
  readonly overrides?: Partial<Ledger>;
}

/** A ledger on a table of its own, with time in the test's hand. */
export interface Harness {
  readonly ledger: Ledger;
  readonly clock: OwnedClock;
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** How long the executor waited before each of its retries. */
  readonly waitedMs: readonly number[];
  readonly counted: ReadonlyMap<LedgerCounter, number>;
  /** A key that no other test uses. */
  readonly key: () => string;
  /** A balance as the table has it now, in its shortest form. */
  readonly balance: (tenant: string, accountId: string, asset?: string) => Promise<string>;
  readonly entries: (tenant: string, accountId: string) => Promise<readonly Entry[]>;
  readonly order: (tenant: string, accountId: string, orderId: string) => Promise<Order>;
  /** Its refunds, the oldest first. */
  readonly refunds: (tenant: string, accountId: string, orderId: string) => Promise<readonly Refund[]>;
  /** Puts value into a wallet by an admin's adjustment. */
  readonly fund: (tenant: string, accountId: string, amount: string, asset?: string) => Promise<void>;
  /** Opens a purchase of one line, as an admin does, and gives its public id. */
  readonly openOrder: (
    tenant: string,
    accountId: string,
    amount: string,
    merchantId?: string,
  ) => Promise<OpenedOrder>;
  readonly close: () => void;
}

export interface OpenedOrder {
  readonly id: string;
  readonly orderId: string;
}

export async function makeHarness(options: HarnessOptions): Promise<Harness> {
  const tableName = options.tableName ?? `t${randomUUID()}`;
  const ids = options.ids ?? randomIds();
  const clock = options.clock ?? ownedClock();
  const { wait, waitedMs } = recordedWaits();
  const { endpoint, requestTimeoutMs } = options;
  const client = createDynamoDbClient({
    region: 'local',
    endpoint,
    clock: options.tableClock,
    ...defined({ requestTimeoutMs }),
  });
  const directEndpoint = options.directEndpoint ?? endpoint;
  const direct = createDynamoDbClient({ region: 'local', endpoint: directEndpoint });
  await createTable(direct, { tableName, streams: options.streams ?? false, protectedFromLoss: false });
  const counted = new Map<LedgerCounter, number>();
  const count = (counter: LedgerCounter): void => {
    counted.set(counter, (counted.get(counter) ?? 0) + 1);
  };
  const ledger: Ledger = {
    store: createStore({ client, tableName, ids, wait }),
    transactor: createTransactor({
      client,
      tableName,
      ids,
      wait,
    }),
    clock: options.tableClock ?? clock,
    ids,
    tenants: options.tenants ?? TEST_TENANTS,
    provider: options.provider ?? unusedProvider(),
    paymentCodes: createPaymentCodes('a-test-secret-for-payment-codes-0123456789'),
    metadataSeal: createMetadataSeal(['a-test-secret-for-metadata-0123456789abcdef']),
    bus: createInProcessBus(),
    followUps: () => [],
    count,
    settings: {
      sweepAfterMs: 30 * 60_000,
      idempotencyKeyPhase: 'required',
      contentKeyWindowS: 300,
      leaseMs: 30_000,
      ...options.settings,
    },
    ...options.overrides,
  };
  const directStore = createStore({ client: direct, tableName, ids, wait });
  const readers = tableReaders(directStore);
  return {
    ledger,
    clock,
    client: direct,
    tableName,
    waitedMs,
    counted,
    key: () => randomUUID(),
    ...readers,
    ...writers(ledger),
    close: () => {
      client.destroy();
      direct.destroy();
    },
  };
}

type Readers = Pick<Harness, 'balance' | 'entries' | 'order' | 'refunds'>;

function tableReaders(store: Ledger['store']): Readers {
  return {
    balance: async (tenant, accountId, asset = 'ECOPAY') => {
      const [item] = await store.get([balanceKey({ tenant, accountId, asset })]);
      return plainDecimal(balanceOf(item));
    },
    entries: async (tenant, accountId) => {
      const items = await store.query({
        uuid: partition(tenant, accountId),
        prefix: PREFIX.entry,
        limit: 10_000,
        newestFirst: false,
      });
      return items.map(readEntry);
    },
    refunds: async (tenant, accountId, orderId) =>
      byAge(await readRefunds({ store }, { tenant, accountId, orderId })),
    order: async (tenant, accountId, orderId) => {
      const [item] = await store.get([orderKey({ tenant, accountId, orderId })]);
      return readOrder(found(item));
    },
  };
}

function writers(ledger: Ledger): Pick<Harness, 'fund' | 'openOrder'> {
  return {
    fund: async (tenant, accountId, amount, asset = 'ECOPAY') => {
      const input = { accountId, asset, amount, reason: 'test funds' };
      const outcome = await adjustBalance(ledger, admin(tenant), randomUUID(), input);
      if (outcome.kind !== 'AdjustBalanceSuccess') throw new Error(`not funded: ${outcome.kind}`);
    },
    openOrder: async (tenant, accountId, amount, merchantId = tenant === 'demo' ? 'cafe' : 'm_1') => {
      const input = { merchantId, accountId, amount, description: 'test order' };
      const outcome = await createOrder(ledger, admin(tenant), randomUUID(), input);
      if (outcome.kind !== 'CreateOrderSuccess') throw new Error(`not opened: ${outcome.kind}`);
      const { orderId } = outcome;
      return { orderId, id: encodeNodeId('Order', tenant, accountId, orderId) };
    },
  };
}

function found(item: StoredItem | undefined): StoredItem {
  if (item === undefined) throw new Error('no such item');
  return item;
}

/** For tests in which nobody may call the provider. */
function unusedProvider(): PaymentProvider {
  const refuse = (): never => {
    throw new Error('the provider was called');
  };
  return {
    livemode: false,
    createSession: refuse,
    retrieveSession: refuse,
    listSessions: refuse,
    expireSession: refuse,
    retrievePayment: refuse,
    listPayments: refuse,
    createRefund: refuse,
    retrieveRefundedAmount: refuse,
    retrieveRefund: refuse,
    listRefunds: refuse,
    retrieveDispute: refuse,
    listDisputes: refuse,
    retrieveEvent: refuse,
    retrieveEventObject: refuse,
    listEvents: refuse,
    readWebhook: refuse,
  };
}
