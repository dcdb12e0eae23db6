import type { ProviderSession } from '../../../provider/port.ts';
import { readOrder } from '../../items/order-item.ts';
import { putOrder } from '../../items/order-writes.ts';
import { plan } from '../../items/plan.ts';
import { currency } from '../../kernel/currencies.ts';
import { defined } from '../../kernel/defined.ts';
import { orderKey, productKey } from '../../kernel/keys.ts';
import { toMinorUnits } from '../../kernel/money.ts';
import { openOrder } from '../../model/orders/payments.ts';
import type { Order } from '../../model/orders/order.ts';
import { readProduct } from '../../model/product.ts';
import { providerKey } from '../../model/provider/attempts.ts';
import { withRestoredAttempt } from '../../model/provider/restored-attempts.ts';
import { type DescribedOrder, readSessionMetadata } from '../../model/provider/session-metadata.ts';
import { applyFoundSession } from '../provider-calls/ask-provider.ts';
import { orderNamedBy } from '../provider-updates/provider-update.ts';
import { changeOrder } from '../runtime/change-order.ts';
import { type Ledger, commit } from '../runtime/ledger.ts';
import { providerPages } from '../runtime/provider-pages.ts';
import { readItem, readItems } from '../runtime/read-items.ts';
import { MENDING, type ReconcileFinding } from './apply-difference.ts';

/** What became of the provider's sessions after a loss. */
export interface RebuiltOrders {
  /** How many sessions were compared. */
  readonly sessions: number;
  /** Orders that were put again, and attempts that orders got back. */
  readonly orders: number;
  readonly attempts: number;
  /** Sessions that nobody had paid, and nobody can any more. */
  readonly expired: number;
  readonly findings: readonly ReconcileFinding[];
  readonly complete: boolean;
}

type Counts = { -readonly [Name in keyof RebuiltOrders]: RebuiltOrders[Name] } & {
  findings: ReconcileFinding[];
};

/**
 * Makes orders and attempts again that were lost, from what their sessions carry at the provider: the same order under the
 * same id, if it isn't there. A session that nobody has paid is expired, since whoever had its page has none of the
 * gateway's answers any more. Only after a loss, by hand: never because an event says so. Throws TableUnavailableError.
 */
export async function rebuildOrders(ledger: Ledger, createdFromS: number): Promise<RebuiltOrders> {
  const counts: Counts = { sessions: 0, orders: 0, attempts: 0, expired: 0, findings: [], complete: true };
  const sessions: ProviderSession[] = [];
  const list = ledger.provider.listSessions;
  for await (const page of providerPages(list, ({ sessionId }) => sessionId, createdFromS)) {
    if (page.kind === 'DONE') sessions.push(...page.value.items);
    else counts.complete = false;
  }
  // In the provider's own order: what was made first comes first.
  for (const session of sessions.reverse()) await restore(ledger, counts, session);
  return counts;
}

async function restore(ledger: Ledger, counts: Counts, session: ProviderSession): Promise<void> {
  const named = orderNamedBy(session.metadata);
  if (named === undefined || session.livemode !== ledger.provider.livemode) return;
  counts.sessions += 1;
  const order = await readItem(ledger, orderKey(named), readOrder);
  if (order?.attempts.some(({ sessionId }) => sessionId === session.sessionId) === true) return;
  const described = describedBy(ledger, session);
  if (typeof described === 'string') {
    counts.findings.push(finding(session, named, described));
    return;
  }
  if (order === undefined && (await putAgain(ledger, described))) counts.orders += 1;
  const change = await changeOrder(ledger, described.opening, (current) =>
    withRestoredAttempt(current, described.attempt, session),
  );
  if (change.kind === 'FAILED' || change.kind === 'GONE') counts.complete = false;
  else if (change.kind === 'UNCHANGED' && !isKnown(change.order, session))
    counts.findings.push(finding(session, named, 'another session is its attempt’s'));
  else {
    if (change.kind === 'CHANGED') counts.attempts += 1;
    await settle(ledger, counts, described, session);
  }
}

function isKnown({ attempts }: Order, { sessionId }: ProviderSession): boolean {
  return attempts.some((attempt) => attempt.sessionId === sessionId);
}

/** The order as the session describes it, or why it isn't believed. */
function describedBy(ledger: Ledger, session: ProviderSession): DescribedOrder | string {
  const { written = {} } = session.metadata;
  if (!ledger.metadataSeal.isSealed(written)) return 'its metadata is not as we wrote it';
  const described = readSessionMetadata(written);
  if (described === undefined) return 'its metadata describes no order';
  const { amount, currency: code } = described.opening;
  const dueMinor = toMinorUnits(amount, currency(code).exponent);
  if (session.currency !== code || session.amountMinor !== dueMinor)
    return 'another amount than its metadata says';
  return described;
}

/** Under the same id, if it isn't there. */
async function putAgain(ledger: Ledger, { opening }: DescribedOrder): Promise<boolean> {
  const { tenant, merchantId = '', lines } = opening;
  const skus = lines.flatMap(({ sku }) => (sku === undefined ? [] : [sku]));
  const keys = [...new Set(skus)].map((sku) => productKey({ tenant, merchantId, sku }));
  const products = await readItems(ledger, keys, readProduct);
  const names = new Map(products.flatMap((one) => (one === undefined ? [] : [[one.sku, one.name]])));
  const named = lines.map((line) => ({ ...line, name: names.get(line.sku ?? '') ?? line.name }));
  const order = openOrder({ ...opening, lines: named });
  const result = await commit(ledger, plan(ledger.ids.token(), putOrder(order, ledger.settings)));
  return result.kind === 'COMMITTED';
}

/** What the session says of its order. Where there is a payment, the payment tells. */
async function settle(
  ledger: Ledger,
  counts: Counts,
  { opening, attempt }: DescribedOrder,
  session: ProviderSession,
): Promise<void> {
  let current = session;
  if (session.status === 'open') {
    const key = providerKey(opening, 'expire', String(attempt), -1);
    const ended = await ledger.provider.expireSession(session.sessionId, key);
    if (ended.kind === 'DONE') {
      counts.expired += 1;
      current = ended.value;
    } else if (ended.kind !== 'REFUSED') counts.complete = false;
  }
  if (current.paymentStatus === 'paid' && current.paymentId !== undefined) return;
  if ((await applyFoundSession(ledger, current, MENDING)) === 'UNKNOWN') counts.complete = false;
}

function finding(
  { sessionId, amountMinor, currency: code, paymentStatus }: ProviderSession,
  order: ReconcileFinding['order'],
  detail: string,
): ReconcileFinding {
  const amount = `${String(amountMinor ?? 0)} minor units of ${code ?? 'nothing'}`;
  return {
    kind: 'SESSION',
    providerId: sessionId,
    ...defined({ order }),
    provider: `${paymentStatus} ${amount}`,
    ledger: 'unknown',
    fixed: false,
    next: 'BY_HAND',
    detail,
  };
}
