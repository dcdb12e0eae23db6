import { stepName } from '../../../../../src/fulfilment/follow-up.ts';
import { createMetadataSeal } from '../../../../../src/auth/metadata-seal.ts';
import { createPaymentCodes } from '../../../../../src/auth/payment-code.ts';
import type { StoredItem } from '../../../../../src/ledger/kernel/attributes.ts';
import { toAttributes } from '../../../../../src/ledger/kernel/attributes.ts';
import { type Entry, ledgerAccount, netChanges } from '../../../../../src/ledger/model/entries/entry.ts';
import { randomIds } from '../../../../../src/ledger/kernel/ids.ts';
import {
  type ItemKey,
  assetOfBalanceType,
  orderKey,
  refundPrefix,
} from '../../../../../src/ledger/kernel/keys.ts';
import { type Decimal, ZERO, add, decimal } from '../../../../../src/ledger/kernel/money.ts';
import type { Ledger, LedgerCounter } from '../../../../../src/ledger/usecases/runtime/ledger.ts';
import { orderAttributes, readOrder } from '../../../../../src/ledger/items/order-item.ts';
import { putRefund, readRefund } from '../../../../../src/ledger/items/refund-item.ts';
import type { RefundChange } from '../../../../../src/ledger/model/orders/refunds.ts';
import type { Order, Refund } from '../../../../../src/ledger/model/orders/order.ts';
import type { Plan } from '../../../../../src/ledger/items/plan.ts';
import type { CommitResult } from '../../../../../src/ledger/table/transact.ts';
import { createInProcessBus } from '../../../../../src/realtime/bus/bus.ts';
import type {
  PaymentProvider,
  ProviderDispute,
  ProviderPayment,
  ProviderRefund,
  ProviderResult,
  ProviderSession,
} from '../../../../../src/provider/port.ts';
import { TEST_TENANTS } from '../../../../support/harness.ts';
import { type OwnedClock, ownedClock } from '../../../../support/owned-time.ts';

/** What the provider says when it is asked, by id. */
export interface ProviderState {
  readonly sessions: Map<string, ProviderSession>;
  readonly payments: Map<string, ProviderPayment>;
  readonly refunds: Map<string, ProviderRefund>;
  readonly disputes: Map<string, ProviderDispute>;
}

/**
 * The operations on a table in memory, so that thousands of event sequences run in a second. It takes plans one after
 * the other and trusts their orders and entries; conditions and conflicts are the engine-backed tests' business.
 */
export interface MemoryLedger {
  readonly ledger: Ledger;
  readonly clock: OwnedClock;
  readonly provider: ProviderState;
  readonly counted: Map<LedgerCounter, number>;
  readonly entries: Entry[];
  readonly put: (order: Order) => void;
  /** Writes a refund and its order as a change of ours left them. */
  readonly putChange: (change: RefundChange) => void;
  readonly order: (order: Order) => Order;
  readonly refunds: (order: Order) => readonly Refund[];
  /** Takes value out of a wallet as a purchase elsewhere would. */
  readonly spend: (amount: string) => void;
  readonly balance: () => Decimal;
}

const WALLET = { accountId: 'alice', asset: 'ECOPAY' } as const;

export function memoryLedger(): MemoryLedger {
  const items = new Map<string, StoredItem>();
  const entries: Entry[] = [];
  const counted = new Map<LedgerCounter, number>();
  const clock = ownedClock();
  const provider: ProviderState = {
    sessions: new Map(),
    payments: new Map(),
    refunds: new Map(),
    disputes: new Map(),
  };
  const settings = {
    sweepAfterMs: 1_800_000,
    idempotencyKeyPhase: 'required',
    contentKeyWindowS: 300,
    leaseMs: 30_000,
  } as const;
  let spent = ZERO;
  const balance = (): Decimal => {
    const nets = entries.flatMap((entry) => netChanges(entry, ledgerAccount.wallet(WALLET.accountId)));
    return add(...nets.map(({ net }) => net)).minus(spent);
  };
  const put = (order: Order): void => {
    // What the codec writes is what it reads: so the sequences test the codec too.
    items.set(keyText(orderKey(order)), toAttributes(orderAttributes(order, settings)));
  };
  const query = (uuid: string, prefix: string): readonly StoredItem[] =>
    [...items.values()]
      .filter((item) => keyOf(item).uuid === uuid && keyOf(item).type.startsWith(prefix))
      .sort((one, other) => (keyOf(one).type < keyOf(other).type ? -1 : 1));
  const get = (key: ItemKey): StoredItem | undefined =>
    key.type.startsWith('BALANCE#') && assetOfBalanceType(key.type) === WALLET.asset
      ? toAttributes({ ...key, balance: balance() })
      : items.get(keyText(key));
  const commit = (plan: Plan): CommitResult => {
    const puts = plan.items.flatMap(({ role, item }) =>
      'Put' in item && (role === 'event' || role === 'payment' || role === 'refund')
        ? [{ role, item: item.Put.Item, read: item.Put.ExpressionAttributeValues?.[':read'] }]
        : [],
    );
    for (const { role, item, read } of puts) {
      const old = items.get(keyText(keyOf(item)));
      const isRead = JSON.stringify(old?.['rev']) === JSON.stringify(read);
      if (role === 'refund' && !isRead) throw new Error('a refund is written unread');
      if (role === 'payment' && old !== undefined) throw new Error('a payment is booked twice');
      if (role === 'event' && old !== undefined && old['outcome']?.S !== 'FAILED')
        return { kind: 'SEEN', record: old };
    }
    for (const { item } of puts) items.set(keyText(keyOf(item)), item);
    for (const { order } of plan.orders) put(order);
    entries.push(...plan.entries);
    if (balance().isNegative()) throw new Error('a balance below zero');
    return { kind: 'COMMITTED' };
  };
  const ledger: Ledger = {
    store: {
      get: (keys) => Promise.resolve(keys.map(get)),
      snapshot: (keys) => Promise.resolve(keys.map(get)),
      query: ({ uuid, prefix, limit }) => Promise.resolve(query(uuid, prefix).slice(0, limit)),
      queryIndex: notHere,
      scan: notHere,
    },
    transactor: { commit: (plan) => Promise.resolve(commit(plan)) },
    clock,
    ids: randomIds(),
    tenants: TEST_TENANTS,
    provider: providerOf(provider),
    paymentCodes: createPaymentCodes('a-test-secret-for-payment-codes-0123456789'),
    metadataSeal: createMetadataSeal(['a-test-secret-for-metadata-0123456789abcdef']),
    bus: createInProcessBus(),
    followUps: (trigger) => [stepName('receipt', trigger)],
    count: (counter) => counted.set(counter, (counted.get(counter) ?? 0) + 1),
    settings,
  };
  return {
    ledger,
    clock,
    provider,
    counted,
    entries,
    put,
    balance,
    putChange: (change) => {
      put(change.order);
      for (const { item } of putRefund(change).items)
        if ('Put' in item) items.set(keyText(keyOf(item.Put.Item)), item.Put.Item);
    },
    refunds: (order) => query(orderKey(order).uuid, refundPrefix(order)).map(readRefund),
    order: (order) => readOrder(items.get(keyText(orderKey(order))) ?? {}),
    spend: (amount) => {
      spent = spent.plus(decimal(amount));
    },
  };
}

function providerOf(state: ProviderState): PaymentProvider {
  const found = <Value>(value: Value | undefined): Promise<ProviderResult<Value>> =>
    Promise.resolve(
      value === undefined ? { kind: 'REFUSED', code: 'resource_missing' } : { kind: 'DONE', value },
    );
  return {
    livemode: false,
    createSession: notHere,
    retrieveSession: (id) => found(state.sessions.get(id)),
    listSessions: notHere,
    expireSession: notHere,
    retrievePayment: (id) => found(state.payments.get(id)),
    listPayments: notHere,
    createRefund: notHere,
    retrieveRefund: (id) => found(state.refunds.get(id)),
    listRefunds: ({ paymentId }) =>
      found({
        items: [...state.refunds.values()].filter((refund) => refund.paymentId === paymentId),
        hasMore: false,
      }),
    retrieveRefundedAmount: notHere,
    retrieveDispute: (id) => found(state.disputes.get(id)),
    listDisputes: notHere,
    retrieveEvent: notHere,
    retrieveEventObject: notHere,
    listEvents: notHere,
    readWebhook: notHere,
  };
}

function notHere(): never {
  throw new Error('nobody should need this here');
}

function keyText({ uuid, type }: ItemKey): string {
  return `${uuid}\n${type}`;
}

function keyOf(item: StoredItem): ItemKey {
  return { uuid: item['uuid']?.S ?? '', type: item['type']?.S ?? '' };
}
