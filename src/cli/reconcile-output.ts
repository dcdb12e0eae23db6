import type { Finding, ReconcileProgress, ReconcileReport } from '../ledger/operations/reconcile.ts';

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads how far back to look: `90m`, `24h`, `7d`; undefined for anything else. */
export function parseSince(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  return unitMs === undefined ? undefined : Number.parseInt(digits, 10) * unitMs;
}

/** One line that tells how far a reconciliation is. */
export function progressLine({ phase, listed, differences }: ReconcileProgress): string {
  return `${phase}: ${String(listed)} compared, ${String(differences)} differences so far`.padEnd(60);
}

/** The report for people: every difference in a line, then the verdict. */
export function printedReport(report: ReconcileReport): string {
  const { payments, refunds, disputes, foreign, bookings, findings, complete } = report;
  const open = findings.filter(({ fixed }) => !fixed).length;
  const fixed = findings.length - open;
  const verdict = open > 0 ? `${String(open)} differences` : 'the ledger agrees with the provider';
  const lookedUp = bookings === undefined ? '' : `, ${String(bookings)} bookings looked up`;
  return [
    ...findings.map(findingLine),
    `${String(payments)} payments, ${String(refunds)} refunds, ${String(disputes)} disputes, ` +
      `${String(foreign)} of others${lookedUp}: ${verdict}${fixed > 0 ? `, ${String(fixed)} fixed` : ''}.`,
    ...(complete ? [] : ['The provider could not be asked about everything: run it again.']),
  ].join('\n');
}

function findingLine({ kind, providerId, order, provider, ledger, fixed, detail }: Finding): string {
  const place = order === undefined ? '' : `  ${order.tenant}#${order.accountId} order ${order.orderId}`;
  const why = detail === undefined ? '' : ` (${detail})`;
  return `${fixed ? 'fixed' : 'DIFFERS'}  ${kind} ${providerId}${place}: provider ${provider}, ledger ${ledger}${why}`;
}

/** 0: both agree. 1: they differ. 2: nothing is known to differ, but not everything could be compared. */
export function exitCode({ findings, complete }: ReconcileReport): 0 | 1 | 2 {
  if (findings.some(({ fixed }) => !fixed)) return 1;
  return complete ? 0 : 2;
}
