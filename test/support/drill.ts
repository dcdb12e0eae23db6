import { keyOf } from '../../src/ledger/items/plan.ts';
import { readOrder } from '../../src/ledger/items/order-item.ts';
import { type StoredItem, readString } from '../../src/ledger/kernel/attributes.ts';
import { type ItemKey, PREFIX } from '../../src/ledger/kernel/keys.ts';
import { add, plainDecimal } from '../../src/ledger/kernel/money.ts';
import { netChanges, readEntry } from '../../src/ledger/model/entries/entry.ts';
import { isPaid } from '../../src/ledger/model/orders/order-states.ts';
import { readRefund } from '../../src/ledger/items/refund-item.ts';
import { type ReconcileReport, reconcile } from '../../src/ledger/usecases/reconcile/reconcile.ts';
import { type Backup, backUp, restoreFrom } from '../integration/restore/backup.ts';
import { auditNow } from './damage.ts';
import { seededFractions } from './seeded.ts';
import { minutes } from './stripe-day-scene.ts';
import { playDay } from './stripe-day.ts';
import { type DayWorld, makeDayWorld } from './stripe-day-world.ts';

export interface DrillOptions {
  readonly payments: number;
  readonly moments: number;
  readonly seed: number;
}

/** One moment that the table was restored to, and what was different afterwards. */
export interface DrilledMoment {
  readonly atMs: number;
  /** Items that the backup had. */
  readonly items: number;
  readonly rebuilt: ReconcileReport['rebuilt'];
  /** What isn't as before the loss, of everything that Stripe saw. */
  readonly differences: readonly string[];
  /** What the audit finds: by what the backup cut in two of wallets and cash alone. */
  readonly problems: readonly string[];
}

export interface Drill {
  readonly seed: number;
  readonly orders: number;
  /** What stands at Stripe by the ledger's entries, by tenant. */
  readonly money: Readonly<Record<string, string>>;
  readonly moments: readonly DrilledMoment[];
}

interface Written {
  readonly atMs: number;
  readonly key: string;
  readonly item: StoredItem | undefined;
}

/** Between two commits of the day: so a second has about ten of them. */
const COMMIT_MS = 100;
/** A backup's items are of one moment only within so much. */
const SECOND_MS = 1_000;

/**
 * A day of traffic of every kind, then a loss: the table is restored to some moment of the day, each of its items to a moment
 * of its own within the second, rebuilt from what Stripe keeps, and compared with the truth from before the loss.
 */
export async function drill({ payments, moments, seed }: DrillOptions): Promise<Drill> {
  const world = await makeDayWorld(seed);
  try {
    const written = recordWrites(world);
    await playDay(world, { payments, seed, openingHours: 3 });
    const log = written();
    const truth = standings(await backUp(world));
    const fraction = seededFractions(seed + 1);
    const drilled: DrilledMoment[] = [];
    for (let index = 0; index < moments; index += 1) {
      const at = log[Math.floor(fraction() * log.length)]?.atMs ?? 0;
      drilled.push(await drillOne(world, backupAt(log, at, fraction), at, truth));
    }
    return { seed, orders: truth.size, money: moneyOf(truth), moments: drilled };
  } finally {
    await world.stop();
  }
}

/** Writes down every item as each commit leaves it. */
function recordWrites({ ledger, clock }: DayWorld): () => readonly Written[] {
  const log: Written[] = [];
  let isOn = true;
  const { commit } = ledger.transactor;
  Object.assign(ledger.transactor, {
    commit: async (...args: Parameters<typeof commit>) => {
      const result = await commit(...args);
      if (!isOn || (result.kind !== 'COMMITTED' && result.kind !== 'UNKNOWN')) return result;
      clock.advance(COMMIT_MS);
      const keys = args[0].items.map(({ item }): ItemKey => {
        const { uuid, type } = keyOf(item);
        return {
          uuid: readString({ uuid: uuid ?? {} }, 'uuid'),
          type: readString({ type: type ?? {} }, 'type'),
        };
      });
      const atMs = clock.nowMs();
      const items = await ledger.store.get(keys);
      for (const [index, key] of keys.entries()) log.push({ atMs, key: keyText(key), item: items[index] });
      return result;
    },
  });
  return () => {
    isOn = false;
    return log;
  };
}

function keyText({ uuid, type }: ItemKey): string {
  return JSON.stringify([uuid, type]);
}

/** Each item as it was at a moment of its own within the second. */
function backupAt(log: readonly Written[], atMs: number, fraction: () => number): Backup {
  const cuts = new Map<string, number>();
  const images = new Map<string, StoredItem | undefined>();
  for (const { atMs: writtenMs, key, item } of log) {
    const cut = cuts.get(key) ?? atMs + Math.floor(fraction() * SECOND_MS);
    cuts.set(key, cut);
    if (writtenMs <= cut) images.set(key, item);
  }
  return [...images.values()].filter((item) => item !== undefined);
}

async function drillOne(
  world: DayWorld,
  backup: Backup,
  atMs: number,
  truth: ReadonlyMap<string, Standing>,
): Promise<DrilledMoment> {
  await restoreFrom(world, backup);
  const sinceMs = world.clock.nowMs() - atMs + minutes(60);
  const options = { sinceMs, fix: true, bothWays: false, rebuild: true };
  const report = await reconcile(world.ledger, options);
  const again = await reconcile(world.ledger, options);
  const now = standings(await backUp(world));
  const { problems } = await auditNow(world);
  const differences = [...truth].flatMap(([name, { summary }]) => {
    const found = now.get(name)?.summary ?? 'gone';
    return found === summary ? [] : [`${name}: ${found}, not ${summary}`];
  });
  return {
    atMs,
    items: backup.length,
    rebuilt: report.rebuilt,
    differences: [
      ...differences,
      ...again.findings.map(({ providerId, ledger }) => `${providerId}: ${ledger}`),
    ],
    problems: problems.map(
      ({ accountId, item, what, expected, found }) =>
        `${accountId} ${item} ${what}: ${found}, not ${expected}`,
    ),
  };
}

interface Standing {
  readonly summary: string;
  readonly tenant: string;
  readonly atStripe: ReturnType<typeof add>;
}

/** How each order stands that Stripe has seen money of, by the order's key. */
function standings(items: Backup): ReadonlyMap<string, Standing> {
  const entries = items.filter((item) => readString(item, 'type').startsWith(PREFIX.entry)).map(readEntry);
  const refunds = items.filter((item) => readString(item, 'type').startsWith(PREFIX.refund)).map(readRefund);
  const orders = items.filter((item) => readString(item, 'type').startsWith(PREFIX.order)).map(readOrder);
  return new Map(
    orders
      .filter(({ attempts }) => attempts.some(({ sessionId }) => sessionId !== undefined))
      .map((order) => {
        const own = entries.filter(({ orderId }) => orderId === order.orderId);
        const nets = own.flatMap((entry) => netChanges(entry, 'stripe'));
        const atStripe = add(...nets.map(({ net }) => net.negated()));
        const its = refunds.filter(
          ({ orderId, providerRefundId }) => orderId === order.orderId && providerRefundId !== undefined,
        );
        const summary = [
          isPaid(order.state) ? (order.state === 'REFUNDED' ? 'REFUNDED' : 'PAID') : 'unpaid',
          order.kind,
          ...[order.amount, order.refunded, order.refundPending, order.refundable, atStripe].map(
            plainDecimal,
          ),
          order.payment?.paymentId ?? 'no payment',
          ...order.overpayments.map(({ paymentId, amount, refunded }) =>
            [paymentId, amount, refunded].map(String).join(' '),
          ),
          ...its
            .map(({ providerRefundId = '', state, amount }) =>
              [providerRefundId, state, amount].map(String).join(' '),
            )
            .sort(),
          ...order.disputes.map(({ disputeId, status, recorded, amount }) =>
            [disputeId, status, recorded, amount].map(String).join(' '),
          ),
        ].join(', ');
        const name = `${order.tenant}#${order.accountId} ${order.orderId}`;
        return [name, { summary, tenant: order.tenant, atStripe }];
      }),
  );
}

function moneyOf(truth: ReadonlyMap<string, Standing>): Readonly<Record<string, string>> {
  const tenants = [...new Set([...truth.values()].map(({ tenant }) => tenant))].sort();
  return Object.fromEntries(
    tenants.map((tenant) => {
      const its = [...truth.values()].filter((one) => one.tenant === tenant);
      return [tenant, plainDecimal(add(...its.map(({ atStripe }) => atStripe)))];
    }),
  );
}
