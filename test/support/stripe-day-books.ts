import { netChanges } from '../../src/ledger/model/entries/entry.ts';
import { type Decimal, ZERO, plainDecimal } from '../../src/ledger/kernel/money.ts';
import { orderNamedBy } from '../../src/ledger/usecases/provider-updates/provider-update.ts';
import type { Order } from '../../src/ledger/model/orders/order.ts';
import { amountOfMinor } from '../../src/ledger/model/provider/update-decision.ts';
import type { ProviderPage, ProviderPageRequest, ProviderResult } from '../../src/provider/port.ts';
import type { Scene } from './stripe-day-scene.ts';
import type { Ending, Story } from './stripe-day-stories.ts';
import type { DayWorld } from './stripe-day-world.ts';

/** The money of each tenant at the provider: by its payments, refunds and disputes, and by the ledger's entries. */
export interface Books {
  readonly provider: Readonly<Record<string, string>>;
  readonly ledger: Readonly<Record<string, string>>;
}

interface Reported {
  readonly story: Story;
  readonly scene: Scene;
  readonly ending: Ending;
}

/** Compares how every payment stands with how it must, and the provider's money with the ledger's. */
export async function comparedBooks(
  world: DayWorld,
  reported: readonly Reported[],
): Promise<{ readonly wrong: readonly string[]; readonly books: Books }> {
  const wrong: string[] = [];
  for (const { story, scene, ending } of reported) {
    const { tenant, accountId, kind } = scene;
    const order = await world.order(tenant, accountId, ending.orderId);
    const found = standing(order, await recordings(world, order));
    const expected = expectedStanding(ending);
    if (found !== expected)
      wrong.push(`${story.name} (${tenant}, ${kind}, ${order.orderId}): ${found}, not ${expected}`);
  }
  return { wrong, books: { provider: await atProvider(world), ledger: await inLedger(world, reported) } };
}

/** How often the order's money was booked, and how often a surplus. */
async function recordings(world: DayWorld, { tenant, accountId, orderId }: Order): Promise<string> {
  const entries = (await world.entries(tenant, accountId)).filter((entry) => entry.orderId === orderId);
  const count = (...operations: readonly string[]): string =>
    String(entries.filter(({ operation }) => operations.includes(operation)).length);
  return `${count('PAYMENT', 'TOP_UP')} + ${count('SURPLUS')}`;
}

function standing({ state, timeline, overpayments }: Order, recorded: string): string {
  const received = timeline.filter(({ cause }) => cause === 'PAYMENT_RECEIVED').length;
  const givenBack = overpayments.filter(({ amount, refunded }) => amount.eq(refunded)).length;
  return `${state}, received ${String(received)}, booked ${recorded}, given back ${String(givenBack)}`;
}

function expectedStanding({ state, payments }: Ending): string {
  const own = payments === 0 ? '0' : '1';
  const overpayment = payments === 2 ? '1' : '0';
  return `${state}, received ${own}, booked ${own} + ${overpayment}, given back ${overpayment}`;
}

async function atProvider({ ledger: { provider } }: DayWorld): Promise<Books['provider']> {
  const sums = new Map<string, Decimal>();
  const owners = new Map<string, string>();
  const add = (paymentId: string, minor: number, code: string): void => {
    const tenant = owners.get(paymentId) ?? 'nobody';
    sums.set(tenant, (sums.get(tenant) ?? ZERO).plus(amountOfMinor(minor, code) ?? Number.NaN));
  };
  for (const payment of await listAll(provider.listPayments, ({ paymentId }) => paymentId)) {
    owners.set(payment.paymentId, orderNamedBy(payment.metadata)?.tenant ?? 'nobody');
    add(payment.paymentId, payment.amountReceivedMinor, payment.currency);
  }
  for (const refund of await listAll(provider.listRefunds, ({ providerRefundId }) => providerRefundId))
    if (refund.status !== 'failed') add(refund.paymentId, -refund.amountMinor, refund.currency);
  for (const dispute of await listAll(provider.listDisputes, ({ disputeId }) => disputeId))
    if (dispute.status === 'lost') add(dispute.paymentId, -dispute.amountMinor, dispute.currency);
  return printed(sums);
}

async function listAll<Item>(
  list: (page: ProviderPageRequest) => Promise<ProviderResult<ProviderPage<Item>>>,
  idOf: (item: Item) => string,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (;;) {
    const last = items.at(-1);
    const page = await list({ limit: 100, ...(last === undefined ? {} : { after: idOf(last) }) });
    if (page.kind !== 'DONE') throw new Error(`not listed: ${page.kind}`);
    items.push(...page.value.items);
    if (!page.value.hasMore) return items;
  }
}

/** Every asset here is worth one of its tenant's currency, so one sum a tenant will do. */
async function inLedger(world: DayWorld, reported: readonly Reported[]): Promise<Books['ledger']> {
  const sums = new Map<string, Decimal>();
  const accounts = new Set(reported.map(({ scene: { tenant, accountId } }) => `${tenant} ${accountId}`));
  for (const account of accounts) {
    const [tenant = '', accountId = ''] = account.split(' ');
    for (const entry of await world.entries(tenant, accountId))
      for (const { net } of netChanges(entry, 'stripe'))
        sums.set(tenant, (sums.get(tenant) ?? ZERO).minus(net));
  }
  return printed(sums);
}

function printed(sums: ReadonlyMap<string, Decimal>): Readonly<Record<string, string>> {
  return Object.fromEntries([...sums].map(([tenant, sum]) => [tenant, plainDecimal(sum)]));
}
