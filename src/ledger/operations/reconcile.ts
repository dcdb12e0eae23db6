import type { Page, PageRequest, ProviderResult } from '../../stripe/port.ts';
import { epochS } from '../clock.ts';
import { defined } from '../defined.ts';
import { applyDispute } from './apply-dispute.ts';
import { applyPayment } from './apply-payment.ts';
import { applyRefund } from './apply-refund.ts';
import {
  type Comparison,
  type Difference,
  compareDispute,
  comparePayment,
  compareRefund,
} from './compare-with-provider.ts';
import { type Backing, findUnbacked } from './find-unbacked.ts';
import type { Ledger } from './ledger.ts';
import type { Settled } from './settle-fact.ts';

export interface ReconcileOptions {
  /** How far back the provider's objects are compared. */
  readonly sinceMs: number;
  /** Whether what is missing is applied, by the same decisions as events. */
  readonly fix: boolean;
  /** Whether the ledger's own bookings are looked up at the provider too, which reads the whole table. */
  readonly bothWays: boolean;
  readonly onProgress?: (progress: ReconcileProgress) => void;
}

export interface ReconcileProgress {
  readonly phase: 'payments' | 'refunds' | 'disputes' | 'bookings';
  readonly listed: number;
  readonly differences: number;
}

/**
 * What is to be done about a difference that stands. FIX: it was not tried to fix it. RUN_AGAIN: what it takes could not
 * be reached, or is still being written. BY_HAND: it isn't what was ordered, so nothing books it by itself. CHECK: the
 * ledger has booked what the provider doesn't bear out.
 */
export type NextStep = 'FIX' | 'RUN_AGAIN' | 'BY_HAND' | 'CHECK';

/** A difference, and whether it is one no more. */
export interface Finding extends Difference {
  readonly fixed: boolean;
  /** Absent where it is fixed. */
  readonly next?: NextStep;
  /** Why it could not be fixed, if that was tried. */
  readonly detail?: string;
}

export interface ReconcileReport {
  /** How many of each were compared. */
  readonly payments: number;
  readonly refunds: number;
  readonly disputes: number;
  /** So many were too young to be compared: the next run does. */
  readonly young: number;
  /** Of other integrations on the same provider account. */
  readonly foreign: number;
  /** How many bookings of the ledger were looked up at the provider, where that was asked for. */
  readonly bookings?: number;
  readonly findings: readonly Finding[];
  /** False where the provider couldn't be asked to the end: what wasn't listed wasn't compared. */
  readonly complete: boolean;
}

/** Younger objects may be told of at this very moment, by a webhook that is on its way. */
export const WEBHOOK_GRACE_S = 120;
const PAGE = 100;
const ASKED = { kind: 'ASKED' } as const;

/** One kind of the provider's objects: how it is listed, compared, and applied. */
interface Walk<Item> {
  readonly phase: ReconcileProgress['phase'];
  readonly list: (page: PageRequest) => Promise<ProviderResult<Page<Item>>>;
  readonly idOf: (item: Item) => string;
  readonly backingOf: (item: Item) => Backing;
  readonly compare: (item: Item) => Promise<Comparison>;
  readonly apply: (item: Item) => Promise<Settled>;
}

interface Tally {
  foreign: number;
  young: number;
  complete: boolean;
  readonly findings: Finding[];
  /** What the provider has listed. */
  readonly known: Map<string, Backing>;
}

/**
 * Lists the provider's payments, refunds and disputes since then and compares each with the ledger: what the provider
 * has must be booked, once and as it is. Payments come first, so that what follows finds them booked. Both ways, it then
 * looks up what orders written since then have booked: that can't be fixed, only named.
 * Throws TableUnavailableError in an outage of the table.
 */
export async function reconcile(ledger: Ledger, options: ReconcileOptions): Promise<ReconcileReport> {
  const { provider } = ledger;
  const tally: Tally = { foreign: 0, young: 0, complete: true, findings: [], known: new Map() };
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
    apply: (payment) => applyPayment(ledger, payment, 'SUCCEEDED', ASKED),
  });
  const refunds = await walk(ledger, options, tally, {
    phase: 'refunds',
    list: provider.listRefunds,
    idOf: ({ providerRefundId }) => providerRefundId,
    backingOf: (refund) => refund,
    compare: (refund) => compareRefund(ledger, refund),
    apply: (refund) => applyRefund(ledger, refund, ASKED),
  });
  const disputes = await walk(ledger, options, tally, {
    phase: 'disputes',
    list: provider.listDisputes,
    idOf: ({ disputeId }) => disputeId,
    backingOf: (dispute) => dispute,
    compare: (dispute) => compareDispute(ledger, dispute),
    apply: (dispute) => applyDispute(ledger, dispute, ASKED),
  });
  const bookings = options.bothWays ? await lookUpBookings(ledger, options, tally) : undefined;
  const { foreign, young, complete, findings } = tally;
  return { payments, refunds, disputes, young, foreign, ...defined({ bookings }), findings, complete };
}

async function lookUpBookings(
  ledger: Ledger,
  { sinceMs, onProgress }: ReconcileOptions,
  tally: Tally,
): Promise<number> {
  const before = tally.findings.length;
  const { bookings, differences, complete } = await findUnbacked(ledger, {
    sinceMs: ledger.clock.nowMs() - sinceMs,
    known: tally.known,
    onProgress: ({ listed, differences: found }) =>
      onProgress?.({ phase: 'bookings', listed, differences: before + found }),
  });
  const alreadyNamed = new Set(tally.findings.map(({ providerId }) => providerId));
  const unbacked = differences.filter(({ providerId }) => !alreadyNamed.has(providerId));
  tally.findings.push(
    ...unbacked.map((difference) => ({ ...difference, fixed: false, next: 'CHECK' as const })),
  );
  if (!complete) tally.complete = false;
  return bookings;
}

/** Goes through all that the provider lists of a kind, and gives how many were compared. */
async function walk<Item extends { readonly createdS: number }>(
  ledger: Ledger,
  options: ReconcileOptions,
  tally: Tally,
  { phase, list, idOf, backingOf, compare, apply }: Walk<Item>,
): Promise<number> {
  const nowS = epochS(ledger.clock.nowMs());
  const createdFromS = epochS(ledger.clock.nowMs() - options.sinceMs);
  let compared = 0;
  let after: string | undefined;
  for (;;) {
    const page = await list({ createdFromS, limit: PAGE, ...defined({ after }) });
    if (page.kind !== 'DONE') {
      tally.complete = false;
      return compared;
    }
    const { items, hasMore } = page.value;
    for (const item of items) {
      tally.known.set(idOf(item), backingOf(item));
      if (item.createdS > nowS - WEBHOOK_GRACE_S) {
        tally.young += 1;
        continue;
      }
      compared += 1;
      await judge(tally, options.fix, { compare, apply }, item);
    }
    options.onProgress?.({ phase, listed: compared, differences: tally.findings.length });
    const last = items.at(-1);
    if (!hasMore || last === undefined) return compared;
    after = idOf(last);
  }
}

async function judge<Item>(
  tally: Tally,
  fix: boolean,
  { compare, apply }: Pick<Walk<Item>, 'compare' | 'apply'>,
  item: Item,
): Promise<void> {
  const first = await compare(item);
  switch (first.kind) {
    case 'SAME':
      return;
    case 'FOREIGN':
      tally.foreign += 1;
      return;
    case 'UNKNOWN':
      tally.complete = false;
      return;
    case 'DIFFERENT': {
      if (!fix) {
        tally.findings.push({ ...first.difference, fixed: false, next: 'FIX' });
        return;
      }
      const settled = await apply(item);
      // Whatever applying says, only the ledger tells whether it has it now.
      const now = await compare(item);
      const detail = settled.kind === 'DONE' ? settled.detail : settled.reason;
      const fixed = now.kind === 'SAME';
      const next = fixed ? undefined : settled.kind === 'COME_AGAIN' ? 'RUN_AGAIN' : 'BY_HAND';
      tally.findings.push({ ...first.difference, fixed, ...defined({ next, detail }) });
    }
  }
}
