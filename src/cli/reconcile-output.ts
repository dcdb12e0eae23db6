import { orderNodeId } from '../ledger/items/node-ids.ts';
import { NOT_RECORDED } from '../ledger/usecases/reconcile/compare-with-provider.ts';
import {
  type ReconcileProgress,
  type ReconcileReport,
  WEBHOOK_GRACE_S,
} from '../ledger/usecases/reconcile/reconcile.ts';
import type { ReconcileFinding, NextStep } from '../ledger/usecases/reconcile/apply-difference.ts';
import { EXIT, type ExitCode, counted } from './command-line.ts';

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads how far back to look: `90m`, `24h`, `7d`; undefined for anything else. */
export function parseSince(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  return unitMs === undefined ? undefined : Number.parseInt(digits, 10) * unitMs;
}

/** Sessions and payments may have been made so long before the backup, and their webhooks not yet come. */
const BEFORE_LOSS_MS = 3_600_000;

/** How far back a rebuild has to look: an hour past the moment of the backup; undefined for no such moment. */
export function parseLostSince(text: string, nowMs: number): number | undefined {
  const agoMs = parseSince(text);
  if (agoMs !== undefined) return agoMs + BEFORE_LOSS_MS;
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})$/.test(text)) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) || atMs > nowMs ? undefined : nowMs - atMs + BEFORE_LOSS_MS;
}

/** One line that tells how far a reconciliation is. */
export function reconcileProgressLine({ phase, listed, differences }: ReconcileProgress): string {
  return `${phase}: ${String(listed)} compared, ${counted(differences, 'difference')} so far`;
}

/** The report for people: every difference and what to do about it, then the verdict. */
export function printedReconciliation(report: ReconcileReport): string {
  const { payments, refunds, disputes, young, foreign, recordings, findings, unreadable, complete } = report;
  const open = findings.filter(({ fixed }) => !fixed).length;
  const fixed = findings.length - open;
  const compared = [
    counted(payments, 'payment'),
    counted(refunds, 'refund'),
    `${counted(disputes, 'dispute')} compared`,
    `${String(foreign)} of others`,
    ...(recordings === undefined ? [] : [`${counted(recordings, 'booking')} looked up`]),
    ...(young === 0
      ? []
      : [`${String(young)} younger than ${String(WEBHOOK_GRACE_S / 60)} minutes left for the next run`]),
  ];
  return [
    ...findings.flatMap(findingLines),
    ...unreadable.flatMap(({ item, problem }) => [`UNREADABLE  ${item}: ${problem}`, `         ${MEND}`]),
    `${compared.join(', ')}: ${verdictOn(report, open)}${fixed > 0 ? `, ${String(fixed)} fixed` : ''}.`,
    ...rebuiltLines(report),
    ...(complete ? [] : ['The provider could not be asked about everything: run it again.']),
  ].join('\n');
}

/** What a rebuild made again, and what is left to people. */
function rebuiltLines({ rebuilt }: ReconcileReport): readonly string[] {
  if (rebuilt === undefined) return [];
  const { sessions, orders, attempts, expired, entries, balances, below } = rebuilt;
  const made = [
    `${counted(orders, 'order')} made again`,
    `${counted(attempts, 'attempt')} of ${counted(sessions, 'session')}`,
    `${counted(expired, 'unpaid session')} expired`,
    `${counted(entries, 'entry', 'entries')} and ${counted(balances, 'balance')} settled`,
  ];
  return [
    `Rebuilt: ${made.join(', ')}.`,
    ...below.map(
      ({ tenant, accountId }) =>
        `BELOW ZERO  ${tenant}#${accountId}: what it spent is there, and what it got isn't.`,
    ),
  ];
}

function verdictOn(report: ReconcileReport, open: number): string {
  const { payments, refunds, disputes, young, recordings, unreadable } = report;
  const unread = unreadable.length > 0 ? [`${counted(unreadable.length, 'item')} not read`] : [];
  if (open > 0 || unread.length > 0) return [counted(open, 'difference'), ...unread].join(', ');
  const compared = payments + refunds + disputes + (recordings ?? 0);
  return compared === 0 && young > 0 ? 'nothing is known yet' : 'the ledger agrees with the provider';
}

/** The report for machines: each order also by the id that `order(id:)` and `npm run show` take. */
export function reconciliationAsData(report: ReconcileReport): object {
  return {
    ...report,
    findings: report.findings.map((finding) => ({
      ...finding,
      ...(finding.order !== undefined && { order: { id: orderNodeId(finding.order), ...finding.order } }),
    })),
  };
}

function findingLines(finding: ReconcileFinding): readonly string[] {
  const { kind, providerId, order, provider, ledger, fixed, detail, next } = finding;
  const place = order === undefined ? '' : `  ${order.tenant}#${order.accountId} order ${orderNodeId(order)}`;
  const why = detail === undefined ? '' : ` (${detail})`;
  const advice = next === undefined ? undefined : adviceOn(finding, next);
  return [
    `${fixed ? 'fixed' : 'DIFFERS'}  ${kind} ${providerId}${place}: provider ${provider}, ledger ${ledger}${why}`,
    ...(advice === undefined ? [] : [`         ${advice}`]),
  ];
}

/** What docs/OPERATIONS.md says about it, in a line. */
function adviceOn({ kind, ledger }: ReconcileFinding, next: NextStep): string {
  switch (next) {
    case 'FIX':
      return 'Next: --fix applies it by the same decisions as its webhook.';
    case 'RUN_AGAIN':
      return 'Next: run it again; something that it takes could not be reached or is still being written.';
    case 'CHECK':
      return 'Next: is STRIPE_SECRET_KEY that of the account which took the money? If so, somebody wrote past the gateway: keep this report and stop them.';
    case 'BY_HAND':
      return ledger === NOT_RECORDED ? BY_HAND[kind] : RECORDED_OTHERWISE;
  }
}

const MEND =
  'Next: nothing in it was compared. npm run audit names it too; mend the item, then run this again.';
const RECORDED_OTHERWISE =
  "Next: it is booked otherwise than Stripe has it. Compare npm run show with Stripe's dashboard; adjustBalance corrects a wallet.";
const BY_HAND: Readonly<Record<ReconcileFinding['kind'], string>> = {
  SESSION:
    "Next: no order was made of it. If it was paid, give the money back in Stripe's dashboard; find out who edited its metadata.",
  PAYMENT:
    "Next: nothing was booked. Give the money back in Stripe's dashboard, or mend the cause and replayWebhookEvent.",
  REFUND:
    'Next: nothing was booked. Settle its payment first (npm run show); what the refund took is then booked by replayWebhookEvent, or corrected by adjustBalance.',
  DISPUTE:
    "Next: answer it in Stripe's dashboard; if its payment was never booked, settle that payment first, then run this again.",
};

/** 0: both agree. 1: they differ. 3: nothing is known to differ, but not everything could be compared. */
export function reconcileExitCode({ findings, unreadable, complete, rebuilt }: ReconcileReport): ExitCode {
  const isBelow = rebuilt !== undefined && rebuilt.below.length > 0;
  if (isBelow || unreadable.length > 0 || findings.some(({ fixed }) => !fixed)) return EXIT.found;
  return complete ? EXIT.done : EXIT.unreachable;
}
