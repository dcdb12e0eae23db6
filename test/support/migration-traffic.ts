import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Decimal, ZERO, add, decimal, plainDecimal, smaller, subtract } from '../../src/ledger/money.ts';
import { encodeNodeId } from '../../src/ledger/node-ids.ts';
import { adjustBalance } from '../../src/ledger/operations/adjust-balance.ts';
import { charge } from '../../src/ledger/operations/charge.ts';
import { createOrder } from '../../src/ledger/operations/create-order.ts';
import type { Ledger } from '../../src/ledger/operations/ledger.ts';
import { readBalances, readProfiles } from '../../src/ledger/operations/read-wallets.ts';
import { refund } from '../../src/ledger/operations/refund.ts';
import { topUp } from '../../src/ledger/operations/top-up.ts';
import { updateProfile } from '../../src/ledger/operations/update-profile.ts';
import { admin, customer, merchant, terminal } from './harness.ts';
import type { LegacyProfile } from './legacy-records.ts';
import { seededFractions } from './seeded.ts';

/** What an account must hold, by everything that was answered so far. */
export interface ModelAccount {
  readonly tenant: string;
  readonly accountId: string;
  readonly amounts: Record<string, string>;
  profile: LegacyProfile;
}

export interface TrafficOptions {
  /** Each request goes to any of them: gateways that may be a phase apart. Read anew for every request. */
  readonly ledgers: () => readonly Ledger[];
  readonly accounts: readonly ModelAccount[];
  readonly seed: number;
}

/** Customers, terminals and merchants at work. Of one account one request at a time, so that a model can follow. */
export interface Traffic {
  readonly served: () => number;
  /** Requests that failed, or answered what the model rules out. */
  readonly failures: readonly string[];
  /** Resolves once so many more requests were served, or any failed. */
  readonly whenServed: (more: number) => Promise<void>;
  /** Does something while no request is on its way, so that what is read is of one moment. */
  readonly atRest: <Value>(work: () => Promise<Value>) => Promise<Value>;
  readonly stop: () => Promise<void>;
}

const ASSETS = ['ECOPAY', 'POINT', 'JCREDIT'] as const;
const CAP = decimal('50000');
const PACE_MS = 10;

interface PaidOrder {
  readonly id: string;
  readonly amount: Decimal;
  readonly points: Decimal;
}

/** One account's customer: a model and the requests that it is held to. */
interface Actor {
  readonly account: ModelAccount;
  readonly fraction: () => number;
  readonly paid: PaidOrder[];
  readonly ledger: () => Ledger;
}

export function startTraffic({ ledgers, accounts, seed }: TrafficOptions): Traffic {
  const failures: string[] = [];
  const waiters: { readonly at: number; readonly resolve: () => void }[] = [];
  let served = 0;
  let stopped = false;
  let onItsWay = 0;
  let rest: Promise<void> | undefined;
  let becameQuiet: (() => void) | undefined;
  const answered = (): void => {
    served += 1;
    onItsWay -= 1;
    if (onItsWay === 0) becameQuiet?.();
    for (const waiter of waiters.filter(({ at }) => served >= at || failures.length > 0)) {
      waiters.splice(waiters.indexOf(waiter), 1);
      waiter.resolve();
    }
  };
  const live = async (account: ModelAccount, index: number): Promise<void> => {
    const fraction = seededFractions(seed * 1_000 + index);
    const ledger = (): Ledger => {
      const all = ledgers();
      const one = all[Math.floor(fraction() * all.length)];
      if (one === undefined) throw new Error('no ledger');
      return one;
    };
    const actor: Actor = { account, fraction, paid: [], ledger };
    while (!stopped) {
      await rest;
      onItsWay += 1;
      const request = pick(fraction);
      try {
        const problem = await request(actor);
        if (problem !== undefined) failures.push(`${account.accountId}: ${problem}`);
      } catch (error) {
        failures.push(
          `${account.accountId}: ${request.name} threw ${error instanceof Error ? String(error.stack) : 'something'}`,
        );
      }
      answered();
      // A pace, not a wait: customers take their time, and what else runs gets its turn.
      await delay(PACE_MS);
    }
  };
  const running = accounts.map(live);
  return {
    served: () => served,
    failures,
    whenServed: (more) =>
      new Promise((resolve) => {
        waiters.push({ at: served + more, resolve });
      }),
    atRest: async (work) => {
      let resume: () => void = () => undefined;
      rest = new Promise((resolve) => {
        resume = resolve;
      });
      if (onItsWay > 0) {
        await new Promise<void>((resolve) => {
          becameQuiet = resolve;
        });
      }
      try {
        return await work();
      } finally {
        rest = undefined;
        resume();
      }
    },
    stop: async () => {
      stopped = true;
      await Promise.all(running);
    },
  };
}

const MAX_SENDS = 6;

/** Sends a request as a client does: again, with the same key, while nothing is known of it. */
async function sent<Outcome extends { readonly kind: string }>(
  request: (key: string) => Promise<Outcome>,
): Promise<Outcome> {
  const key = randomUUID();
  for (let sends = 1; ; sends += 1) {
    const outcome = await request(key);
    const isUnknown = outcome.kind === 'Throttled' || outcome.kind === 'TransactionConflict';
    if (!isUnknown || sends === MAX_SENDS) return outcome;
  }
}

type RequestOf = (actor: Actor) => Promise<string | undefined>;

function pick(fraction: () => number): RequestOf {
  const requests: readonly RequestOf[] = [buy, buy, cashIn, giveBack, correct, changeProfile, look, look];
  return requests[Math.floor(fraction() * requests.length)] ?? look;
}

function held({ account }: Actor, asset: string): Decimal {
  return decimal(account.amounts[asset] ?? '0');
}

function book({ account }: Actor, asset: string, amount: Decimal): void {
  account.amounts[asset] = plainDecimal(amount);
}

function amountUpTo({ fraction }: Actor, limit: number): Decimal {
  return decimal(String(1 + Math.floor(fraction() * limit)));
}

async function buy(actor: Actor): Promise<string | undefined> {
  const { account, ledger } = actor;
  const amount = amountUpTo(actor, 3_000);
  const opened = await sent((key) =>
    createOrder(ledger(), admin(account.tenant), key, {
      merchantId: 'cafe',
      accountId: account.accountId,
      amount: plainDecimal(amount),
      description: 'coffee',
    }),
  );
  if (opened.kind !== 'CreateOrderSuccess') return `createOrder answered ${opened.kind}`;
  const id = encodeNodeId('Order', account.tenant, account.accountId, opened.orderId);
  const outcome = await sent((key) =>
    charge(ledger(), customer(account.accountId, account.tenant), key, {
      orderId: id,
    }),
  );
  const balance = held(actor, 'ECOPAY');
  if (balance.lt(amount)) {
    const expected = plainDecimal(balance);
    return outcome.kind === 'InsufficientBalance' && outcome.available === expected
      ? undefined
      : `charge of ${plainDecimal(amount)} from ${expected} answered ${JSON.stringify(outcome)}`;
  }
  if (outcome.kind !== 'ChargeSuccess') return `charge answered ${JSON.stringify(outcome)}`;
  const points = decimal(String(Math.floor(amount.toNumber() / 100)));
  book(actor, 'ECOPAY', subtract(balance, amount));
  book(actor, 'POINT', add(held(actor, 'POINT'), points));
  actor.paid.push({ id, amount, points });
  return undefined;
}

async function cashIn(actor: Actor): Promise<string | undefined> {
  const { account, ledger } = actor;
  const amount = amountUpTo(actor, 5_000);
  const outcome = await sent((key) =>
    topUp(ledger(), terminal('cafe', account.tenant), key, {
      accountId: account.accountId,
      amount: plainDecimal(amount),
      method: 'CASH',
    }),
  );
  const after = add(held(actor, 'ECOPAY'), amount);
  if (after.gt(CAP)) return outcome.kind === 'CapExceeded' ? undefined : `topUp answered ${outcome.kind}`;
  if (outcome.kind !== 'TopUpSuccess') return `topUp answered ${JSON.stringify(outcome)}`;
  book(actor, 'ECOPAY', after);
  return undefined;
}

async function giveBack(actor: Actor): Promise<string | undefined> {
  const { account, ledger } = actor;
  const order = actor.paid.pop();
  if (order === undefined) return look(actor);
  const outcome = await sent((key) =>
    refund(ledger(), merchant('cafe', account.tenant), key, {
      orderId: order.id,
    }),
  );
  if (outcome.kind !== 'RefundSuccess') return `refund answered ${JSON.stringify(outcome)}`;
  const points = held(actor, 'POINT');
  book(actor, 'ECOPAY', add(held(actor, 'ECOPAY'), order.amount));
  book(actor, 'POINT', subtract(points, smaller(points, order.points)));
  return undefined;
}

async function correct(actor: Actor): Promise<string | undefined> {
  const { account, ledger, fraction } = actor;
  const asset = fraction() < 0.5 ? 'JCREDIT' : 'POINT';
  const raises = fraction() < 0.6;
  const amount = amountUpTo(actor, 40);
  const outcome = await sent((key) =>
    adjustBalance(ledger(), admin(account.tenant), key, {
      accountId: account.accountId,
      asset,
      amount: `${raises ? '' : '-'}${plainDecimal(amount)}`,
      reason: 'campaign',
    }),
  );
  const balance = held(actor, asset);
  if (!raises && balance.lt(amount)) {
    return outcome.kind === 'InsufficientBalance' ? undefined : `adjustBalance answered ${outcome.kind}`;
  }
  if (outcome.kind !== 'AdjustBalanceSuccess') return `adjustBalance answered ${JSON.stringify(outcome)}`;
  book(actor, asset, raises ? add(balance, amount) : subtract(balance, amount));
  return undefined;
}

async function changeProfile(actor: Actor): Promise<string | undefined> {
  const { account, ledger, fraction } = actor;
  const choose = (value: string): string | null | undefined =>
    fraction() < 0.3 ? null : fraction() < 0.5 ? value : undefined;
  const number = Math.floor(fraction() * 10_000);
  const input = {
    accountId: account.accountId,
    displayName: choose(`Name ${number}`),
    email: choose(`mail-${number}@shop.example`),
    phoneNumber: choose(`+8190${10_000_000 + number}`),
  };
  const outcome = await sent(() =>
    updateProfile(ledger(), customer(account.accountId, account.tenant), input),
  );
  if (outcome.kind !== 'UpdateProfileSuccess') return `updateProfile answered ${outcome.kind}`;
  const changed: Record<string, string> = { ...account.profile };
  for (const field of ['displayName', 'email', 'phoneNumber'] as const) {
    const value = input[field];
    if (value === null) Reflect.deleteProperty(changed, field);
    else if (value !== undefined) changed[field] = value;
  }
  account.profile = changed;
  return undefined;
}

/** Reads everything there is of the account and compares it with the model. */
async function look({ account, ledger }: Actor): Promise<string | undefined> {
  return disagreement(ledger(), account);
}

/** Where an account as a ledger shows it isn't what the model says; undefined: it is. */
export async function disagreement(ledger: Ledger, account: ModelAccount): Promise<string | undefined> {
  const { tenant, accountId } = account;
  const viewer = customer(accountId, tenant);
  const balances = await readBalances(
    ledger,
    viewer,
    ASSETS.map((asset) => ({ tenant, accountId, asset })),
  );
  for (const [index, asset] of ASSETS.entries()) {
    const shown = balances[index]?.amount ?? ZERO;
    const expected = decimal(account.amounts[asset] ?? '0');
    if (!shown.eq(expected)) return `${asset} shows ${plainDecimal(shown)}, not ${plainDecimal(expected)}`;
  }
  const [profile] = await readProfiles(ledger, viewer, [{ tenant, accountId }]);
  for (const field of ['displayName', 'email', 'phoneNumber'] as const) {
    if (profile?.[field] !== account.profile[field])
      return `${field} shows ${String(profile?.[field])}, not ${String(account.profile[field])}`;
  }
  return undefined;
}
