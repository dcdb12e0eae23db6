import type { ProviderPage, ProviderPageRequest, ProviderResult } from '../../../provider/port.ts';
import { MalformedItemError } from '../../kernel/attributes.ts';
import { epochS } from '../../kernel/clock.ts';
import { defined } from '../../kernel/defined.ts';
import { applyPayment } from '../provider-updates/apply-payment.ts';
import { type Comparison, type Difference, comparePayment } from './compare-with-provider.ts';
import { type RebuiltOrders, rebuildOrders } from './rebuild-orders.ts';
import { type SettledBooks, settleBooks } from './settle-books.ts';
import type { Backing } from './ledger-assertions.ts';
import { type UnreadableItem, findUnbacked, stillAsserts } from './find-unbacked.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { providerPages } from '../runtime/provider-pages.ts';
import {
  type ReconcileFinding,
  MENDING,
  type Steps,
  disputeSteps,
  refundSteps,
  applyUnbacked,
  applyDifference,
} from './apply-difference.ts';

export interface ReconcileOptions {
  /** How far back the provider's objects are compared. */
  readonly sinceMs: number;
  /** Whether what is missing is applied, by the same decisions as events. */
  readonly fix: boolean;
  /** Whether the ledger's own bookings are looked up at the provider too, which reads the whole table. */
  readonly bothWays: boolean;
  /** After a loss: orders are made again of what the provider keeps of them, and everything is brought up to it. Fixes too. */
  readonly rebuild?: boolean;
  readonly onProgress?: (progress: ReconcileProgress) => void;
}

export interface ReconcileProgress {
  readonly phase: 'payments' | 'refunds' | 'disputes' | 'bookings';
  readonly listed: number;
  readonly differences: number;
}

export interface ReconcileReport {
  /** How many of each were compared. */
  readonly payments: number;
  readonly refunds: number;
  readonly disputes: number;
  /** So many were too young to be compared, or were told of while they were: the next run does. */
  readonly young: number;
  /** Of other integrations on the same provider account. */
  readonly foreign: number;
  /** How many bookings of the ledger were looked up at the provider, where that was asked for. */
  readonly recordings?: number;
  readonly findings: readonly ReconcileFinding[];
  /** What could not be compared, since the ledger's own item can't be read. */
  readonly unreadable: readonly UnreadableItem[];
  /** What was made again and settled, where that was asked for. */
  readonly rebuilt?: Omit<RebuiltOrders & SettledBooks, 'findings' | 'complete'>;
  /** False where the provider couldn't be asked to the end: what wasn't listed wasn't compared. */
  readonly complete: boolean;
}

/** Younger objects may be told of at this very moment, by a webhook that is on its way. */
export const WEBHOOK_GRACE_S = 120;

/** One kind of the provider's objects: how it is listed, compared, and applied. */
interface Walk<Item> extends Steps<Item> {
  readonly phase: ReconcileProgress['phase'];
  readonly list: (page: ProviderPageRequest) => Promise<ProviderResult<ProviderPage<Item>>>;
  readonly idOf: (item: Item) => string;
  readonly backingOf: (item: Item) => Backing;
}

interface ReconcileState {
  foreign: number;
  /** By id: what is too young to be compared. */
  readonly young: Set<string>;
  complete: boolean;
  readonly findings: ReconcileFinding[];
  readonly unreadable: UnreadableItem[];
  /** What the provider has listed. */
  readonly known: Map<string, Backing>;
}

/**
 * Lists the provider's payments, refunds and disputes since then and compares each with the ledger: what the provider
 * has must be booked, once and as it is. Payments come first, so that what follows finds them booked. Both ways, it then
 * looks up what orders written since then have booked, whenever the provider's object was made: what the provider says of
 * it now is applied as its event would be, and what it has nothing of can only be named.
 * Throws TableUnavailableError in an outage of the table.
 */
export async function reconcile(ledger: Ledger, options: ReconcileOptions): Promise<ReconcileReport> {
  const { provider } = ledger;
  const tally: ReconcileState = {
    foreign: 0,
    young: new Set(),
    complete: true,
    findings: [],
    unreadable: [],
    known: new Map(),
  };
  const lost = options.rebuild === true ? await rebuildLost(ledger, options, tally) : undefined;
  const payments = await walk(ledger, options, tally, {
    phase: 'payments',
    list: provider.listPayments,
    idOf: ({ paymentId }) => paymentId,
    backingOf: ({ status, amountReceivedMinor: amountMinor, currency }) => ({
      status,
      amountMinor,
      currency,
    }),
    compare: (payment) => comparePayment(ledger, payment),
    apply: (payment) => applyPayment(ledger, payment, 'SUCCEEDED', MENDING),
  });
  const refunds = await walk(ledger, options, tally, {
    phase: 'refunds',
    list: provider.listRefunds,
    idOf: ({ providerRefundId }) => providerRefundId,
    backingOf: (refund) => refund,
    ...refundSteps(ledger),
  });
  const disputes = await walk(ledger, options, tally, {
    phase: 'disputes',
    list: provider.listDisputes,
    idOf: ({ disputeId }) => disputeId,
    backingOf: (dispute) => dispute,
    ...disputeSteps(ledger),
  });
  const settled = options.rebuild === true ? await settleAll(ledger, options, tally) : undefined;
  const recordings = options.bothWays ? await checkRecordings(ledger, options, tally) : undefined;
  const { foreign, young, complete, findings, unreadable } = tally;
  const counts = { payments, refunds, disputes, young: young.size, foreign, ...defined({ recordings }) };
  const rebuilt = lost === undefined || settled === undefined ? undefined : { ...lost, ...settled };
  return { ...counts, ...defined({ rebuilt }), findings, unreadable, complete };
}

async function rebuildLost(
  ledger: Ledger,
  { sinceMs }: ReconcileOptions,
  tally: ReconcileState,
): Promise<Omit<RebuiltOrders, 'findings' | 'complete'>> {
  const createdFromS = epochS(ledger.clock.nowMs() - sinceMs);
  const { findings, complete, ...counts } = await rebuildOrders(ledger, createdFromS);
  tally.findings.push(...findings);
  if (!complete) tally.complete = false;
  return counts;
}

async function settleAll(
  ledger: Ledger,
  { sinceMs }: ReconcileOptions,
  tally: ReconcileState,
): Promise<Omit<SettledBooks, 'complete'>> {
  const createdFromS = epochS(ledger.clock.nowMs() - sinceMs);
  const { complete, ...counts } = await settleBooks(ledger, createdFromS);
  if (!complete) tally.complete = false;
  return counts;
}

async function checkRecordings(
  ledger: Ledger,
  { sinceMs, fix, onProgress }: ReconcileOptions,
  tally: ReconcileState,
): Promise<number> {
  const before = tally.findings.length;
  const found = await findUnbacked(ledger, {
    sinceMs: ledger.clock.nowMs() - sinceMs,
    known: tally.known,
    young: tally.young,
    onProgress: ({ listed, differences }) =>
      onProgress?.({ phase: 'bookings', listed, differences: before + differences }),
  });
  const alreadyNamed = new Set(tally.findings.map(({ providerId }) => providerId));
  for (const recorded of found.unbacked) {
    const { providerId } = recorded.difference;
    if (alreadyNamed.has(providerId)) continue;
    if (await stillAsserts(ledger, recorded)) tally.findings.push(await applyUnbacked(ledger, fix, recorded));
    else tally.young.add(providerId);
  }
  tally.unreadable.push(...found.unreadable);
  if (!found.complete) tally.complete = false;
  return found.recordings;
}

/** Goes through all that the provider lists of a kind, and gives how many were compared. */
async function walk<Item extends { readonly createdS: number }>(
  ledger: Ledger,
  options: ReconcileOptions,
  tally: ReconcileState,
  { phase, list, idOf, backingOf, compare, apply }: Walk<Item>,
): Promise<number> {
  const nowS = epochS(ledger.clock.nowMs());
  const createdFromS = epochS(ledger.clock.nowMs() - options.sinceMs);
  let compared = 0;
  const open: OpenDifference<Item>[] = [];
  const graceS = options.rebuild === true ? 0 : WEBHOOK_GRACE_S;
  for await (const page of providerPages(list, idOf, createdFromS)) {
    if (page.kind !== 'DONE') {
      tally.complete = false;
      break;
    }
    for (const item of page.value.items) {
      tally.known.set(idOf(item), backingOf(item));
      if (item.createdS > nowS - graceS) {
        tally.young.add(idOf(item));
        continue;
      }
      compared += 1;
      await reading(tally, idOf(item), async () => {
        const difference = await judge(tally, compare, item);
        if (difference !== undefined) open.push({ item, difference });
      });
    }
    const differences = tally.findings.length + open.length;
    options.onProgress?.({ phase, listed: compared, differences });
  }
  // Listed newest first, and applied in the provider's own order: of two payments the first is the order's own.
  for (const { item, difference } of open.reverse())
    await reading(tally, idOf(item), async () => {
      const fixes = options.fix || options.rebuild === true;
      tally.findings.push(await applyDifference(fixes, difference, item, { compare, apply }, 'BY_HAND'));
    });
  return compared;
}

interface OpenDifference<Item> {
  readonly item: Item;
  readonly difference: Difference;
}

/** An item of ours that can't be read is named, and the rest is compared. */
async function reading(tally: ReconcileState, id: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof MalformedItemError)) throw error;
    tally.unreadable.push({ item: `of ${id}`, problem: error.message });
  }
}

async function judge<Item>(
  tally: ReconcileState,
  compare: (item: Item) => Promise<Comparison>,
  item: Item,
): Promise<Difference | undefined> {
  const compared = await compare(item);
  switch (compared.kind) {
    case 'SAME':
      return undefined;
    case 'FOREIGN':
      tally.foreign += 1;
      return undefined;
    case 'UNKNOWN':
      tally.complete = false;
      return undefined;
    case 'DIFFERENT':
      return compared.difference;
  }
}
