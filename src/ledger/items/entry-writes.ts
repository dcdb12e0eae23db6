import { toAttribute, toAttributes } from '../kernel/attributes.ts';
import { defined } from '../kernel/defined.ts';
import {
  METRIC,
  type Entry,
  type NetChange,
  entryAttributes,
  ledgerAccount,
  netChanges,
  type BalanceGuard,
} from '../model/entries/entry.ts';
import { integer } from '../kernel/integers.ts';
import { type BalanceRef, balanceKey, metricsKey } from '../kernel/keys.ts';
import { type Decimal, ZERO, subtract } from '../kernel/money.ts';
import { type PlanPart, type PlannedItem, putNew } from './plan.ts';
import { type BalanceBound, boundCondition } from '../model/record-changes.ts';

/**
 * Books an entry: its balance updates come from its own postings, so that a balance can't change without an entry (I2).
 * Two postings on one balance merge: the net is added, the gross debit is the condition. A balance that is held to what
 * was read is checked also where nothing is taken from it.
 */
export function recordEntry(entry: Entry, guards: Readonly<Record<string, BalanceGuard>> = {}): PlanPart {
  const own = [ledgerAccount.wallet(entry.accountId), ledgerAccount.metrics(entry.accountId)];
  const foreign = entry.postings.some((posting) =>
    [posting.debit, posting.credit].some(
      (account) => /^(wallet|metrics):/.test(account) && !own.includes(account),
    ),
  );
  if (foreign) throw new RangeError("an entry posts to another account's wallet");
  const changes = netChanges(entry, ledgerAccount.wallet(entry.accountId));
  const balances = changes.map((change) => balanceUpdate(entry, change, guards[change.asset]));
  const unchanged = Object.entries(guards).flatMap(([asset, guard]) =>
    guard.kind === 'EXACTLY' && changes.every((change) => change.asset !== asset)
      ? [balanceCheck({ ...entry, asset }, stillRead(guard.read))]
      : [],
  );
  const metrics = netChanges(entry, ledgerAccount.metrics(entry.accountId));
  return {
    items: [
      ...balances,
      ...unchanged,
      ...(metrics.length === 0 ? [] : [metricsUpdate(entry, metrics)]),
      putNew('entry', entryAttributes(entry)),
    ],
    entries: [entry],
  };
}

function balanceUpdate(
  entry: Entry,
  { asset, net, grossDebit }: NetChange,
  guard?: BalanceGuard,
): PlannedItem {
  const { tenant, accountId, atMs } = entry;
  const bound = balanceBound(net, grossDebit, guard);
  return {
    role: `balance:${asset}`,
    item: {
      Update: {
        Key: toAttributes({ ...balanceKey({ ...entry, asset }) }),
        UpdateExpression: 'SET #updated_at = :at ADD #balance :net, #writes :one',
        ExpressionAttributeNames: { '#updated_at': 'updated_at', '#balance': 'balance', '#writes': 'writes' },
        ExpressionAttributeValues: {
          ':at': toAttribute(integer(atMs)),
          ':net': toAttribute(net),
          ':one': { N: '1' },
          ...(bound === undefined ? {} : { ':bound': toAttribute(bound.amount) }),
        },
        ...(bound === undefined
          ? {}
          : {
              ConditionExpression: boundCondition(bound, '#balance', ':bound'),
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            }),
      },
    },
    change: { kind: 'BALANCE', tenant, accountId, asset, net, ...defined({ bound }), atMs },
  };
}

function balanceBound(
  net: Decimal,
  grossDebit: Decimal,
  guard: BalanceGuard | undefined,
): BalanceBound | undefined {
  if (guard?.kind === 'EXACTLY') return stillRead(guard.read);
  if (guard?.kind === 'WITHIN') {
    if (net.gt(guard.cap))
      throw new RangeError('the amount exceeds the cap: judged before, as absence passes');
    return { kind: 'AT_MOST', amount: subtract(guard.cap, net) };
  }
  return grossDebit.gt(ZERO) ? { kind: 'AT_LEAST', amount: grossDebit } : undefined;
}

/** That a balance is still what was read. One that isn't there reads as 0, and none is below it. */
function stillRead(read: Decimal): BalanceBound {
  return { kind: read.isZero() ? 'AT_MOST' : 'EXACTLY', amount: read };
}

/** Checks, without writing, that a credit would still fit under a cap: a card top-up's claim. */
export function checkRoom(ref: BalanceRef, amount: Decimal, cap: Decimal): PlannedItem {
  if (amount.gt(cap)) throw new RangeError('the amount exceeds the cap: judged before, as absence passes');
  return balanceCheck(ref, { kind: 'AT_MOST', amount: subtract(cap, amount) });
}

function balanceCheck({ tenant, accountId, asset }: BalanceRef, bound: BalanceBound): PlannedItem {
  return {
    role: `balance:${asset}`,
    item: {
      ConditionCheck: {
        Key: toAttributes({ ...balanceKey({ tenant, accountId, asset }) }),
        ConditionExpression: boundCondition(bound, '#balance', ':bound'),
        ExpressionAttributeNames: { '#balance': 'balance' },
        ExpressionAttributeValues: { ':bound': toAttribute(bound.amount) },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    change: { kind: 'BALANCE_CHECK', tenant, accountId, asset, bound },
  };
}

function metricsUpdate(entry: Entry, changes: readonly NetChange[]): PlannedItem {
  const { tenant, accountId, atMs } = entry;
  const net = (unit: string): Decimal => changes.find((change) => change.asset === unit)?.net ?? ZERO;
  const [charged, co2Kg] = [net(METRIC.charged), net(METRIC.co2Kg)];
  return {
    role: 'metrics',
    item: {
      Update: {
        Key: toAttributes({ ...metricsKey(entry) }),
        UpdateExpression: 'SET #updated_at = :at ADD #charged :charged, #co2 :co2, #writes :one',
        ExpressionAttributeNames: {
          '#updated_at': 'updated_at',
          '#charged': 'charged_total',
          '#co2': 'co2_reduction_kg',
          '#writes': 'writes',
        },
        ExpressionAttributeValues: {
          ':at': toAttribute(integer(atMs)),
          ':charged': toAttribute(charged),
          ':co2': toAttribute(co2Kg),
          ':one': { N: '1' },
        },
      },
    },
    change: { kind: 'METRICS', tenant, accountId, charged, co2Kg, atMs },
  };
}
