import { type StoredItem, optionalDecimal, toAttribute, toAttributes } from '../kernel/attributes.ts';
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
import { type AccountRef, type BalanceRef, balanceKey, metricsKey } from '../kernel/keys.ts';
import { type Decimal, ZERO, add, subtract } from '../kernel/money.ts';
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

/** A balance as it was read, and what its entries come to. */
export interface BalanceSetting extends BalanceRef {
  readonly read: Decimal;
  readonly posted: Decimal;
}

/**
 * Brings a balance, that is still what was read, to what its entries come to; nothing below zero. Where it is that already
 * it is only checked.
 */
export function setToPosted({ read, posted, ...ref }: BalanceSetting, atMs: number): PlannedItem {
  const goal = posted.lt(ZERO) ? ZERO : posted;
  if (goal.eq(read)) return balanceCheck(ref, stillRead(read));
  const net = { asset: ref.asset, net: subtract(goal, read), grossDebit: ZERO };
  return balanceUpdate({ ...ref, atMs }, net, { kind: 'EXACTLY', read });
}

/**
 * Records an entry that was missing. Its wallet may have had it all along, so that the balance becomes what all entries
 * come to.
 * @param wallet absent where the entry moves none; `posted` without this entry
 */
export function recordMissingEntry(
  entry: Entry,
  wallet: Omit<BalanceSetting, keyof AccountRef> | undefined,
): PlanPart {
  const { tenant, accountId, atMs } = entry;
  const own = netChanges(entry, ledgerAccount.wallet(accountId)).filter(
    ({ asset }) => asset === wallet?.asset,
  );
  const setting =
    wallet === undefined
      ? undefined
      : { tenant, accountId, ...wallet, posted: add(wallet.posted, ...own.map(({ net }) => net)) };
  return {
    items: [
      ...(setting === undefined ? [] : [setToPosted(setting, atMs)]),
      putNew('entry', entryAttributes(entry)),
    ],
    entries: [entry],
  };
}

/** Brings what is counted beside money to what its entries come to; undefined where it is that. */
export function setMetricsToPosted(
  ref: AccountRef,
  item: StoredItem | undefined,
  posted: { readonly charged: Decimal; readonly co2Kg: Decimal },
  atMs: number,
): PlannedItem | undefined {
  const held = (name: string): Decimal =>
    (item === undefined ? undefined : optionalDecimal(item, name)) ?? ZERO;
  const charged = subtract(posted.charged, held('charged_total'));
  const co2Kg = subtract(posted.co2Kg, held('co2_reduction_kg'));
  if (charged.isZero() && co2Kg.isZero()) return undefined;
  const writes = item?.['writes'];
  const change = (asset: string, net: Decimal): NetChange => ({ asset, net, grossDebit: ZERO });
  const update = metricsUpdate({ ...ref, atMs }, [
    change(METRIC.charged, charged),
    change(METRIC.co2Kg, co2Kg),
  ]);
  if (!('Update' in update.item)) return update;
  const { Update } = update.item;
  return {
    ...update,
    item: {
      Update: {
        ...Update,
        ConditionExpression: writes === undefined ? 'attribute_not_exists(#writes)' : '#writes = :read',
        ...(writes === undefined
          ? {}
          : {
              ExpressionAttributeValues: {
                ...Update.ExpressionAttributeValues,
                ':read': { N: writes.N ?? '0' },
              },
            }),
      },
    },
  };
}

function balanceUpdate(
  entry: AccountRef & { readonly atMs: number },
  { asset, net, grossDebit }: NetChange,
  guard?: BalanceGuard,
): PlannedItem {
  const { tenant, accountId, atMs } = entry;
  const bound = balanceBound(net, grossDebit, guard);
  return {
    role: `balance:${asset}`,
    item: {
      Update: {
        Key: toAttributes({ ...balanceKey({ tenant, accountId, asset }) }),
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

function metricsUpdate(
  entry: AccountRef & { readonly atMs: number },
  changes: readonly NetChange[],
): PlannedItem {
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
