import type { AccountItems, AuditProblem } from './audit.ts';
import { mendedSums } from './audit-order.ts';
import { type FindingKind, findingKind } from './finding-kind.ts';
import { sumPostings } from './posted-sums.ts';
import { type AttributeChanges, proposedWrite } from '../items/item-repair.ts';
import { orderAttributes } from '../items/order-item.ts';
import { type StoredItem, optionalInteger, toAttributes } from '../kernel/attributes.ts';
import { integer } from '../kernel/integers.ts';
import { type ItemKey, PREFIX, assetOfBalanceType, partition } from '../kernel/keys.ts';
import { type Decimal, ZERO } from '../kernel/money.ts';
import { METRIC, ledgerAccount } from '../model/entries/entry.ts';
import type { DuePolicy } from '../model/orders/due.ts';
import type { ProposedWrite } from '../model/proposal.ts';

/** What a mender looks at: a finding, all of its account, and the item that is off. */
export interface Damage {
  readonly problem: AuditProblem;
  readonly account: AccountItems;
  readonly item: StoredItem | undefined;
  readonly policy: DuePolicy;
}

/** The attributes that have to change; a text: why only a person can mend this, and how. */
type Mender = (damage: Damage) => AttributeChanges | string;

export type Mended =
  | { readonly kind: 'WRITES'; readonly writes: readonly ProposedWrite[] }
  | { readonly kind: 'BY_HAND'; readonly instead: string };

const FROM_BACKUP =
  'Nothing in the table says what it was. Look at it in a restored backup, and put it back from there.';
const FROM_STRIPE =
  'Run npm run reconcile -- --both-ways, with --fix: Stripe knows what happened. What it names, a person decides.';
const WHICH_SIDE =
  'The order and its entries disagree, and both look whole. Compare npm run show with a restored backup, and put back what was lost.';

/** How each kind of finding is mended, or why it can't be by a rule and what to do instead. */
export const MENDERS: Readonly<Record<FindingKind, Mender>> = {
  balance: mendBalance,
  'order-sum': mendOrderSums,
  'order-state': () =>
    'Its state and what was refunded disagree. npm run reconcile says which is right at Stripe; of a wallet order its refunds do.',
  'order-metadata': () =>
    `The order and its metadata were written together, and one of both is lost. ${FROM_BACKUP}`,
  'order-payment': () => `${WHICH_SIDE} Of a card payment: ${FROM_STRIPE}`,
  'order-refund': () => `${WHICH_SIDE} Of a card payment: ${FROM_STRIPE}`,
  'order-dispute': () => FROM_STRIPE,
  'order-overpayment': () => FROM_STRIPE,
  'order-reward': () => WHICH_SIDE,
  'entry-posting': () => `An entry is never changed by a rule, since balances follow from it. ${FROM_BACKUP}`,
  'order-gone': () => `The order that it names is gone. ${FROM_BACKUP}`,
  'item-form': () => `It can't be read. ${FROM_BACKUP}`,
  'item-stray': () => 'It is in no account. Find out what wrote it, and delete it once nothing needs it.',
};

export function problemKey({ tenant, accountId, item }: AuditProblem): ItemKey {
  return { uuid: partition(tenant, accountId), type: item };
}

/** The exact write that mends a finding, computed anew from all of its account. */
export function mend(damage: Damage): Mended {
  const changes = MENDERS[findingKind(damage.problem)](damage);
  if (typeof changes === 'string') return { kind: 'BY_HAND', instead: changes };
  const write = proposedWrite(problemKey(damage.problem), damage.item, changes);
  return { kind: 'WRITES', writes: write === undefined ? [] : [write] };
}

/** A balance is the sum of its postings, and metrics likewise. Entries that come to less than nothing lack one. */
function mendBalance({ problem, account, item }: Damage): AttributeChanges | string {
  const { accountId, entries } = account;
  const sums = [...sumPostings(entries).values()];
  const sumOf = (name: string, asset: string): Decimal =>
    sums.find((one) => one.name === name && one.asset === asset)?.sum ?? ZERO;
  const metrics = ledgerAccount.metrics(accountId);
  const amounts =
    problem.item === 'METRICS'
      ? { charged_total: sumOf(metrics, METRIC.charged), co2_reduction_kg: sumOf(metrics, METRIC.co2Kg) }
      : { balance: sumOf(ledgerAccount.wallet(accountId), assetOfBalanceType(problem.item)) };
  if (Object.values(amounts).some((amount) => amount.lt(ZERO)))
    return `Its entries take more than they gave, so that one of them is lost. ${FROM_BACKUP}`;
  const writes = item === undefined ? 0 : (optionalInteger(item, 'writes') ?? 0);
  return toAttributes({
    ...amounts,
    writes: integer(writes + 1),
    // When it was written last is when its last entry was.
    updated_at: item === undefined ? integer(Math.max(...entries.map(({ atMs }) => atMs))) : undefined,
  });
}

/** What an order counts of its refunds and debts follows from its parts and entries. */
function mendOrderSums({ problem, account, policy }: Damage): AttributeChanges | string {
  const orderId = problem.item.slice(PREFIX.order.length);
  const order = account.orders.find((one) => one.orderId === orderId);
  if (order === undefined) return `It can't be read. ${FROM_BACKUP}`;
  const ofOrder = account.entries.filter((entry) => entry.orderId === orderId);
  const refunds = account.refunds.filter((refund) => refund.orderId === orderId);
  const after = { ...order, ...mendedSums(order, ofOrder, refunds), rev: order.rev + 1 };
  const was = toAttributes(orderAttributes(order, policy));
  const is = toAttributes(orderAttributes(after, policy));
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
      .map((name) => [name, is[name]]),
  );
}
