import { OUTSIDE } from '../ledger/audit/audit-totals.ts';
import type { AuditProgress, AuditReport } from '../ledger/operations/audit-ledger.ts';

const BAR_WIDTH = 30;

/** One line that tells how far an audit is. */
export function progressLine({ segmentsDone, segments, items }: AuditProgress): string {
  const filled = Math.floor((segmentsDone / segments) * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  return `${bar} ${segmentsDone}/${segments} segments, ${items} items`;
}

/** The report for people: a table of sums, every account that is off and by how much, and the verdict. */
export function printedReport(report: AuditReport): string {
  const { accounts, entries, orders, problems, unsettled } = report;
  return [
    ...table(report),
    '',
    ...problems.map(
      ({ promise, tenant, accountId, item, what, expected, found, offBy }) =>
        `${promise}  ${tenant}#${accountId}  ${item}  ${what}: expected ${expected}, found ${found}` +
        (offBy === undefined ? '' : `, off by ${offBy}`),
    ),
    ...unsettled.map(({ tenant, accountId }) => `?   ${tenant}#${accountId}  kept moving: audit it again`),
    `${accounts} accounts, ${entries} entries, ${orders} orders: ${verdict(report)}`,
  ].join('\n');
}

function verdict({ problems, unsettled }: AuditReport): string {
  if (problems.length > 0) return `${problems.length} problems.`;
  return unsettled.length > 0
    ? `${unsettled.length} accounts could not be read at rest.`
    : 'everything balances.';
}

/** 0: the promises hold. 1: something is off. 2: nothing is known to be off, but some accounts never held still. */
export function exitCode({ problems, unsettled, totals }: AuditReport): 0 | 1 | 2 {
  if (problems.length > 0 || totals.some((total) => total.difference !== '0')) return 1;
  return unsettled.length > 0 ? 2 : 0;
}

function table({ totals }: AuditReport): readonly string[] {
  const header = ['tenant', 'asset', 'accounts', 'balances', ...OUTSIDE, 'difference'];
  const rows = totals.map(({ tenant, asset, accounts, balances, outside, difference }) => [
    tenant,
    asset,
    String(accounts),
    balances,
    ...OUTSIDE.map((kind) => outside[kind]),
    difference,
  ]);
  const widths = header.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(header), line(widths.map((width) => '─'.repeat(width))), ...rows.map(line)];
}
