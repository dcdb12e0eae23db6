import type { Viewer } from '../../../auth/viewer.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { recordEntry } from '../../items/entry-writes.ts';
import { type Entry, ledgerAccount, postings, type BalanceGuard } from '../../model/entries/entry.ts';
import { balanceKey } from '../../kernel/keys.ts';
import type { Decimal } from '../../kernel/money.ts';
import { paymentPosting } from '../../model/orders/postings.ts';
import { putOrder } from '../../items/order-writes.ts';
import type { Order } from '../../model/orders/order.ts';
import { type Answered, type LedgerFailure, NOT_FOUND } from '../../model/outcomes.ts';
import { payOrder } from '../../model/orders/payments.ts';
import { type Decision, runLedgerCommand } from '../runtime/guarded-command.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { notForSale, openTopUp, overCap, whenOverCap } from './open-top-up.ts';
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
  request: TopUp,
  balance: Decimal,
  nowMs: number,
): Decision<CashTopUpKind> {
  const { tenant, terms } = request;
  if (terms === undefined) return notForSale(tenant, request.input.asset);
  const { rule } = terms;
  const { cap } = rule;
  const { asset, amount } = request.input;
  // More than a whole wallet holds can't be left to the condition, whose bound would be below zero.
  const beyondAny = cap !== undefined && amount.gt(cap) ? overCap(rule, balance) : undefined;
  if (beyondAny !== undefined) return beyondAny;
  const opened = openTopUp(ledger, viewer, accountId, request.input, terms, nowMs);
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
    parts: [putOrder(order, ledger.settings), recordEntry(entry, guards)],
    outcome: { kind: 'TopUpSuccess', accountId, orderId: order.orderId, asset, entryId: entry.entryId },
    whenRefused: whenOverCap(rule),
  };
}
