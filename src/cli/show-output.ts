import type {
  EntryData,
  EventData,
  MovementData,
  OrderData,
  OrderSummary,
  ProposalData,
  Shown,
} from './show-data.ts';

/** What was found, for people: a block for each kind of thing, empty ones left out. */
export function printedShown(shown: Shown): string {
  const { event, proposal, account, order, orders, entries, movements, balances, problems } = shown;
  return [
    ...(event === undefined ? [] : block('event', [eventLine(event)])),
    ...(proposal === undefined ? [] : proposalLines(proposal)),
    ...(order === undefined ? [] : orderLines(order)),
    ...block('latest orders', orders?.map(summaryLine)),
    ...block(
      order === undefined ? 'latest entries' : 'entries',
      entries?.flatMap((entry) => entryLines(entry, order !== undefined)),
    ),
    ...block('latest movements', movements?.map(movementLine)),
    ...block(
      `balances of ${account ?? ''}`,
      balances?.map(({ asset, amount }) => `${asset}  ${amount}`),
    ),
    ...block('events that had no effect', problems?.map(eventLine)),
  ].join('\n');
}

function block(title: string, lines: readonly string[] = []): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

function summaryLine({ id, kind, state, amount, currency, createdAt }: OrderSummary): string {
  return `${createdAt}  ${kind}  ${state}  ${amount} ${currency}  ${id}`;
}

function movementLine({ at, asset, amount, kind, item }: MovementData): string {
  return `${at}  ${amount} ${asset}  ${kind}  ${item}`;
}

function orderLines(order: OrderData): readonly string[] {
  const { id, tenant, accountId, orderId, kind, state, version, amount, currency } = order;
  const where = order.merchantId === undefined ? '' : ` at ${order.merchantId}`;
  return [
    ...block(`order ${id}`, [
      `${tenant}#${accountId} ${orderId}`,
      `${kind}${where}, ${state}, version ${String(version)}, opened ${order.createdAt} by ${order.actor}`,
      `amount ${amount} ${currency}, refunded ${order.refunded}, refunds pending ${order.refundPending}, ` +
        `refundable ${order.refundable}${order.receivable === '0' ? '' : `, owed ${order.receivable}`}`,
      ...(order.payment === undefined
        ? []
        : [`paid ${order.payment.at} ${inWordsBut(['at'], order.payment)}`]),
    ]),
    ...block(
      'lines',
      order.lines.map(({ name, quantity, amount: price }) => `${String(quantity)} × ${name}  ${price}`),
    ),
    ...block('attempts', order.attempts.map(inWords)),
    ...block('refunds', order.refunds.map(inWords)),
    ...block('disputes', order.disputes.map(inWords)),
    ...block('surplus payments', order.overpayment.map(inWords)),
    ...block('steps', order.steps.map(inWords)),
    ...block('timeline', [
      ...order.timeline.map(
        ({ version: at, from, to, cause, detail, actor, at: when }) =>
          `${String(at)}  ${when}  ${from ?? '–'} → ${to}  ${cause}${detail === undefined ? '' : ` (${detail})`}  by ${actor}`,
      ),
      ...(order.unlistedNotes === 0 ? [] : [`and ${String(order.unlistedNotes)} more that are only counted`]),
    ]),
  ];
}

function proposalLines({ id, decision, writes, ...proposal }: ProposalData): readonly string[] {
  return [
    ...block(
      `proposal ${id}`,
      Object.entries(proposal).map(([name, value]) => `${name} ${value}`),
    ),
    ...(decision === undefined ? [] : block('decided', [inWords(decision)])),
    ...block(
      'writes',
      writes.flatMap(({ uuid, type, before, after }) => [
        `${uuid} ${type}`,
        `  before ${before}`,
        `  after  ${after}`,
      ]),
    ),
  ];
}

/** Beside its order an entry doesn't name it again. */
function entryLines(entry: EntryData, besideOrder: boolean): readonly string[] {
  return [
    `${entry.entryId}  ${inWordsBut(['entryId', 'postings', ...(besideOrder ? ['orderId'] : [])], entry)}`,
    ...entry.postings.map(
      ({ debit, credit, asset, amount }) => `    ${debit} → ${credit}  ${amount} ${asset}`,
    ),
  ];
}

function eventLine(event: EventData): string {
  return `${event.eventId}  ${inWordsBut(['eventId'], event)}`;
}

/** Fields in a line, in their own order: `state OPEN, tries 1`. */
function inWords(fields: object): string {
  return inWordsBut([], fields);
}

/** The same without those named. */
function inWordsBut(without: readonly string[], fields: object): string {
  return Object.entries(fields)
    .filter(([name]) => !without.includes(name))
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}
