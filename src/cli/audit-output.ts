import { OUTSIDE } from '../ledger/audit/audit-totals.ts';
import { PREFIX } from '../ledger/kernel/keys.ts';
import { orderNodeId } from '../ledger/items/node-ids.ts';
import type { AuditProgress, AuditReport } from '../ledger/usecases/audit/audit-ledger.ts';
import { EXIT, type ExitCode, counted } from './command-line.ts';

const BAR_WIDTH = 30;

/** One line that tells how far an audit is. */
export function auditProgressLine({ segmentsDone, segments, items }: AuditProgress): string {
  const filled = Math.floor((segmentsDone / segments) * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  return `${bar} ${segmentsDone}/${counted(segments, 'segment')}, ${counted(items, 'item')}`;
}

/** The report for people: a table of sums, every account that is off and by how much, and the verdict. */
export function printedAudit(report: AuditReport): string {
  const { accounts, entries, orders, problems, unsettled } = report;
  return [
    ...table(report),
    '',
    ...problems.map((problem) => {
      const { promise, tenant, accountId, item, what, expected, found, offBy } = problem;
      const order = orderOf(problem);
      return (
        `${promise}  ${tenant}#${accountId}  ${item}  ${what}: expected ${expected}, found ${found}` +
        (offBy === undefined ? '' : `, off by ${offBy}`) +
        (order === undefined ? '' : `  (order ${order})`)
      );
    }),
    ...unsettled.map(({ tenant, accountId }) => `?   ${tenant}#${accountId}  kept moving: audit it again`),
    `${counted(accounts, 'account')}, ${counted(entries, 'entry', 'entries')}, ${counted(orders, 'order')}: ` +
      verdict(report),
  ].join('\n');
}

/** The report for machines: a problem of an order also names it by the id that `order(id:)` and `npm run show` take. */
export function auditAsData(report: AuditReport): object {
  const problems = report.problems.map((problem) => {
    const order = orderOf(problem);
    return order === undefined ? problem : { ...problem, order };
  });
  return { ...report, problems };
}

/** The public id of the order whose item is off. */
function orderOf({ tenant, accountId, item }: AuditReport['problems'][number]): string | undefined {
  if (!item.startsWith(PREFIX.order)) return undefined;
  return orderNodeId({ tenant, accountId, orderId: item.slice(PREFIX.order.length) });
}

function verdict(report: AuditReport): string {
  const { problems, unsettled } = report;
  if (problems.length > 0) return `${counted(problems.length, 'problem')}.`;
  const off = offTotals(report).length;
  if (off > 0) return `${counted(off, 'sum does', 'sums do')} not come to nothing.`;
  return unsettled.length > 0
    ? `${counted(unsettled.length, 'account')} could not be read at rest.`
    : 'everything balances.';
}

/** 0: the promises hold. 1: something is off. 3: nothing is known to be off, but some accounts never held still. */
export function auditExitCode(report: AuditReport): ExitCode {
  const { problems, unsettled } = report;
  if (problems.length > 0 || offTotals(report).length > 0) return EXIT.found;
  return unsettled.length > 0 ? EXIT.unreachable : EXIT.done;
}

/** Sums that made or lost money. Where every account is in order there are none, but that is not for a report to trust. */
function offTotals({ totals }: AuditReport): AuditReport['totals'] {
  return totals.filter(({ difference }) => difference !== '0');
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
