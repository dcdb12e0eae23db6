import { expect } from 'vitest';
import { type AccountItems, judgeAccount, readAccount } from '../../src/ledger/audit/audit.ts';
import { PREFIX, metricsKey, partition } from '../../src/ledger/kernel/keys.ts';
import { plainDecimal } from '../../src/ledger/kernel/money.ts';
import { encodeNodeId } from '../../src/ledger/items/node-ids.ts';
import { adjustBalance } from '../../src/ledger/usecases/commands/adjust-balance.ts';
import { cancelOrder } from '../../src/ledger/usecases/commands/cancel-order.ts';
import { charge } from '../../src/ledger/usecases/commands/charge.ts';
import { createOrder } from '../../src/ledger/usecases/commands/create-order.ts';
import type { Ledger } from '../../src/ledger/usecases/runtime/ledger.ts';
import { refund } from '../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../src/ledger/usecases/commands/top-up.ts';
import { admin, customer, terminal } from './harness.ts';
import {
  type Model,
  type ModelOrder,
  type ModelRequest,
  type ModelTenant,
  TILL,
  amountText,
  plainText,
  refundableOf,
} from './model.ts';

/** Tenants of the harness, as the model knows them. */
export const MODEL_TENANTS: readonly ModelTenant[] = [
  {
    tenant: 'demo',
    merchantId: 'cafe',
    scales: { ECOPAY: 0, POINT: 0, JCREDIT: 2, 'REGIONAL/kyoto': 0 },
    caps: { ECOPAY: 50_000n },
    paying: ['ECOPAY', 'REGIONAL/kyoto'],
    currencyScale: 0,
    rewards: true,
  },
  {
    tenant: 't_1',
    merchantId: 'm_1',
    scales: { ECOPAY: 2, POINT: 0, JCREDIT: 2 },
    caps: { JCREDIT: 100_000n },
    paying: ['ECOPAY', 'JCREDIT'],
    currencyScale: 2,
    rewards: false,
  },
];

type Answer = Readonly<Record<string, unknown>> & { readonly kind: string };

/** Makes the request of the product. `padded`: amounts with zeros behind, which is the same request. */
export async function send(
  ledger: Ledger,
  rules: ModelTenant,
  request: ModelRequest,
  padded: boolean,
): Promise<Answer> {
  const { tenant, merchantId } = rules;
  const till = terminal(merchantId, tenant, TILL);
  const text = (amount: bigint, scale: number): string =>
    amountText(amount, scale) + (padded ? (scale === 0 ? '.0' : '0') : '');
  const price = (amount: bigint): string => text(amount, rules.currencyScale);
  const idOf = ({ accountId, orderId }: ModelOrder): string =>
    encodeNodeId('Order', tenant, accountId, orderId);
  const { key } = request;
  const answered = await (async (): Promise<{ readonly kind: string }> => {
    switch (request.kind) {
      case 'open': {
        const { accountId, amount } = request;
        const input = { merchantId, accountId, amount: price(amount), description: 'goods' };
        return createOrder(ledger, admin(tenant), key, input);
      }
      case 'openWithCode': {
        const input = {
          merchantId,
          paymentCode: request.code.text,
          amount: price(request.amount),
          description: 'goods',
        };
        return createOrder(ledger, till, key, input);
      }
      case 'buy': {
        const input = { merchantId, items: [{ sku: request.sku, quantity: request.quantity }] };
        return createOrder(ledger, customer(request.accountId, tenant), key, input);
      }
      case 'charge': {
        const viewer = request.by === 'terminal' ? till : customer(request.order.accountId, tenant);
        return charge(ledger, viewer, key, { orderId: idOf(request.order), asset: request.asset });
      }
      case 'cash': {
        const { accountId, asset } = request;
        return topUp(ledger, till, key, { accountId, asset, amount: price(request.amount), method: 'CASH' });
      }
      case 'adjust': {
        const { accountId, asset } = request;
        const amount = text(request.amount, rules.scales[asset] ?? 0);
        return adjustBalance(ledger, admin(tenant), key, { accountId, asset, amount, reason: 'test' });
      }
      case 'refund': {
        const amount = request.amount === undefined ? {} : { amount: price(request.amount) };
        return refund(ledger, admin(tenant), key, { orderId: idOf(request.order), ...amount });
      }
      case 'cancel':
        return cancelOrder(ledger, customer(request.order.accountId, tenant), key, {
          orderId: idOf(request.order),
        });
    }
  })();
  return { ...answered };
}

/** Reads everything of an account that money is about. */
export async function readItems({ store }: Ledger, tenant: string, accountId: string): Promise<AccountItems> {
  const range = (prefix: string): ReturnType<typeof store.query> =>
    store.query({ uuid: partition(tenant, accountId), prefix, limit: 1_000, newestFirst: false });
  const ref = { tenant, accountId };
  const [balances, entries, orders, refunds, metrics] = await Promise.all([
    range(PREFIX.balance),
    range(PREFIX.entry),
    range(PREFIX.order),
    range(PREFIX.refund),
    store.get([metricsKey(ref)]),
  ]);
  return readAccount(ref, [
    ...balances,
    ...entries,
    ...orders,
    ...refunds,
    ...metrics.filter((item) => item !== undefined),
  ]);
}

/** The table holds what the model holds, for each of its accounts: balances, metrics, entries, orders; and it audits. */
export async function compare(ledger: Ledger, rules: ModelTenant, model: Model): Promise<void> {
  for (const accountId of model.accounts) {
    const account = await readItems(ledger, rules.tenant, accountId);
    expect(judgeAccount(account)).toEqual([]);
    const balances = Object.fromEntries(
      [...account.balances].map(([asset, value]) => [asset, plainDecimal(value)]),
    );
    for (const [asset, scale] of Object.entries(rules.scales))
      expect(balances[asset] ?? '0', asset).toBe(plainText(model.balance(accountId, asset), scale));
    expect(balances['METRIC/CHARGED'] ?? '0').toBe(
      plainText(model.metric(accountId, 'CHARGED'), rules.currencyScale),
    );
    expect(balances['METRIC/CO2_KG'] ?? '0').toBe(plainText(model.metric(accountId, 'CO2_KG'), 2));
    expect(account.entries.map(entryText)).toEqual(model.entries(accountId));
    const orders = model.orders.filter((order) => order.accountId === accountId);
    expect(account.orders.map(orderState)).toEqual(
      orders.map((order) => modelState(order, rules.currencyScale)),
    );
  }
}

function entryText({ operation, postings }: AccountItems['entries'][number]): string {
  const texts = postings.map(
    ({ debit, credit, asset, amount }) => `${debit}>${credit} ${asset} ${plainDecimal(amount)}`,
  );
  return [operation, ...texts].join(' | ');
}

function orderState(order: AccountItems['orders'][number]): unknown {
  const { orderId, kind, state, version, amount, refundable, refunded, refundCount, timeline, consented } =
    order;
  return {
    orderId,
    kind,
    state,
    version,
    consented,
    amount: plainDecimal(amount),
    refundable: plainDecimal(refundable),
    refunded: plainDecimal(refunded),
    refundCount,
    listed: timeline.length,
  };
}

function modelState(order: ModelOrder, scale: number): unknown {
  const { orderId, kind, state, version, consented } = order;
  const refunded = order.refunds.reduce((sum, amount) => sum + amount, 0n);
  return {
    orderId,
    kind,
    state,
    version,
    consented,
    amount: plainText(order.amount, scale),
    refundable: plainText(refundableOf(order), scale),
    refunded: plainText(refunded, scale),
    refundCount: order.refunds.length,
    listed: version,
  };
}
