import type { Viewer } from '../../auth/viewer.ts';
import type { AssetRule } from '../../tenants.ts';
import { type StoredItem, optionalDecimal } from '../attributes.ts';
import { type BalanceGuard, bookEntry } from '../entry-writes.ts';
import { type Entry, ledgerAccount, postings } from '../entry.ts';
import { balanceKey } from '../keys.ts';
import { type Decimal, ZERO, formatDecimal, subtract } from '../money.ts';
import { paymentPosting } from '../orders/order-postings.ts';
import { putOrder } from '../orders/order-writes.ts';
import type { Order } from '../orders/order.ts';
import { type Answered, type LedgerFailure, NOT_FOUND, type Stored } from '../outcomes.ts';
import { openOrder, payOrder } from '../orders/payments.ts';
import { type Decision, runLedgerCommand } from './guarded-command.ts';
import type { Ledger } from './ledger.ts';
import type { TopUp } from './top-up.ts';

type CashTopUpKind = 'TopUpSuccess' | 'CapExceeded';

/** Cash at a terminal: the order opens PAID and the wallet is credited, all at once, within the cap. */
export async function cashTopUp(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  request: TopUp,
): Promise<Answered<CashTopUpKind> | LedgerFailure> {
  const { input } = request;
  const { accountId, asset } = input;
  if (accountId === undefined || viewer.role !== 'TERMINAL') return NOT_FOUND;
  return runLedgerCommand<CashTopUpKind>(ledger, viewer, {
    operation: 'topUp',
    key,
    input,
    reads: [balanceKey({ tenant: viewer.tenant, accountId, asset })],
    decide: ([balance], nowMs) => decide(ledger, viewer, accountId, request, balanceOf(balance), nowMs),
  });
}

function decide(
  ledger: Ledger,
  viewer: Viewer,
  accountId: string,
  { input, unit, rule, amount }: TopUp,
  balance: Decimal,
  nowMs: number,
): Decision<CashTopUpKind> {
  const { asset } = input;
  const { cap } = rule;
  if (cap !== undefined && amount.gt(cap))
    return { kind: 'REFUSE', outcome: capExceeded(rule, cap, balance) };
  const opened = openOrder({
    tenant: viewer.tenant,
    accountId,
    orderId: ledger.ids.ulid(nowMs),
    kind: 'TOP_UP',
    currency: unit.code,
    amount,
    asset,
    lines: [],
    actor: viewer.subject,
    consented: false,
    atMs: nowMs,
  });
  const order: Order = payOrder(
    opened,
    'CASH',
    { method: 'CASH', atMs: nowMs, terminalId: viewer.subject },
    ledger.followUps.afterPaid(opened),
    { cause: 'CASH_RECEIVED', actor: viewer.subject, atMs: nowMs },
  );
  const entry: Entry = {
    tenant: viewer.tenant,
    accountId,
    entryId: ledger.ids.ulid(nowMs),
    operation: 'TOP_UP',
    postings: postings(paymentPosting(order, ledgerAccount.cash(viewer.subject))),
    orderId: order.orderId,
    actor: viewer.subject,
    atMs: nowMs,
  };
  const guards: Readonly<Record<string, BalanceGuard>> =
    cap === undefined ? {} : { [asset]: { kind: 'WITHIN', cap } };
  return {
    kind: 'COMMIT',
    parts: [putOrder(order, ledger.settings), bookEntry(entry, guards)],
    outcome: { kind: 'TopUpSuccess', accountId, orderId: order.orderId, asset, entryId: entry.entryId },
    whenRefused: (failed) =>
      cap === undefined || !failed.has(`balance:${asset}`)
        ? undefined
        : { kind: 'REFUSE', outcome: capExceeded(rule, cap, balanceOf(failed.get(`balance:${asset}`))) },
  };
}

/** What a balance item holds; a wallet without one holds nothing yet. */
export function balanceOf(item: StoredItem | undefined): Decimal {
  return (item === undefined ? undefined : optionalDecimal(item, 'balance')) ?? ZERO;
}

/** How much more fits: never below zero, though refunds and card money may stand above the cap. */
export function capExceeded(
  { asset, scale }: AssetRule,
  cap: Decimal,
  balance: Decimal,
): Stored<'CapExceeded'> {
  const room = balance.gt(cap) ? ZERO : subtract(cap, balance);
  return { kind: 'CapExceeded', asset, cap: formatDecimal(cap, scale), room: formatDecimal(room, scale) };
}
