import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from '../../src/ledger/usecases/runtime/ledger.ts';
import {
  type Decimal,
  add,
  decimal,
  plainDecimal,
  smaller,
  subtract,
} from '../../src/ledger/kernel/money.ts';
import type { LegacyProfile } from './legacy-records.ts';
import {
  ASSETS,
  type Answered,
  type Channel,
  FIELDS,
  type Holdings,
  LOST,
  directChannel,
} from './migration-channel.ts';

/** What an account must hold, by everything that was answered so far. */
export interface ModelAccount {
  readonly tenant: string;
  readonly accountId: string;
  readonly amounts: Record<string, string>;
  profile: LegacyProfile;
}

/** One account's customer: a model, and the requests that it is held to. */
export interface Actor {
  readonly account: ModelAccount;
  readonly fraction: () => number;
  readonly paid: PaidOrder[];
  /** Charges that were acknowledged. */
  readonly charged: Charged[];
  /** The gateways, in the order in which this request tries them. */
  readonly channels: () => readonly Channel[];
}

interface PaidOrder {
  readonly id: string;
  readonly amount: Decimal;
  readonly points: Decimal;
}

export interface Charged {
  readonly orderId: string;
  readonly entryId: string;
}

/** Resolves to what the model rules out; undefined: nothing. */
export type Deed = (actor: Actor) => Promise<string | undefined>;

const CAP = decimal('50000');
const MAX_SENDS = 6;
const PATIENCE_MS = 20;

/** Sends a request as a client does: again, with the same key, to the next gateway, while nothing is known of it. */
async function sent(
  actor: Actor,
  request: (channel: Channel, key: string) => Promise<Answered>,
): Promise<Answered> {
  const key = randomUUID();
  const isKnown = ({ kind }: Answered): boolean => ![LOST, 'Throttled', 'TransactionConflict'].includes(kind);
  return insist(actor, (channel) => request(channel, key), isKnown);
}

/** Asks one gateway after another until there is an answer that settles it; gives up with the last one. */
async function insist<Answer>(
  { channels }: Actor,
  ask: (channel: Channel) => Promise<Answer>,
  settles: (answer: Answer) => boolean,
): Promise<Answer> {
  const all = channels();
  for (let asked = 0; ; asked += 1) {
    const channel = all[asked % all.length];
    if (channel === undefined) throw new Error('no gateway');
    const answer = await ask(channel);
    if (settles(answer) || asked + 1 === MAX_SENDS) return answer;
    // A client's back-off, not a wait for something that the test could look at.
    if (asked + 1 >= all.length) await delay(PATIENCE_MS);
  }
}

export function pick(fraction: () => number): Deed {
  const deeds: readonly Deed[] = [
    buy,
    buy,
    cashIn,
    creditReceivableThenWallet,
    correct,
    changeProfile,
    look,
    look,
  ];
  return deeds[Math.floor(fraction() * deeds.length)] ?? look;
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

function unexpected(what: string, outcome: Answered): string {
  return `${what} answered ${JSON.stringify(outcome)}`;
}

async function buy(actor: Actor): Promise<string | undefined> {
  const { account, paid, charged } = actor;
  const amount = amountUpTo(actor, 3_000);
  const opened = await sent(actor, (channel, key) => channel.createOrder(account, key, plainDecimal(amount)));
  const { orderId } = opened;
  if (opened.kind !== 'CreateOrderSuccess' || orderId === undefined) return unexpected('createOrder', opened);
  const outcome = await sent(actor, (channel, key) => channel.charge(account, key, orderId));
  const balance = held(actor, 'ECOPAY');
  if (balance.lt(amount)) {
    const { kind, available } = outcome;
    return kind === 'InsufficientBalance' && available !== undefined && decimal(available).eq(balance)
      ? undefined
      : unexpected(`charge of ${plainDecimal(amount)} from ${plainDecimal(balance)}`, outcome);
  }
  if (outcome.kind !== 'ChargeSuccess' || outcome.entryId === undefined) return unexpected('charge', outcome);
  charged.push({ orderId, entryId: outcome.entryId });
  const points = decimal(String(Math.floor(amount.toNumber() / 100)));
  book(actor, 'ECOPAY', subtract(balance, amount));
  book(actor, 'POINT', add(held(actor, 'POINT'), points));
  paid.push({ id: orderId, amount, points });
  return undefined;
}

async function cashIn(actor: Actor): Promise<string | undefined> {
  const { account } = actor;
  const amount = amountUpTo(actor, 5_000);
  const outcome = await sent(actor, (channel, key) => channel.topUp(account, key, plainDecimal(amount)));
  const after = add(held(actor, 'ECOPAY'), amount);
  if (after.gt(CAP)) return outcome.kind === 'CapExceeded' ? undefined : unexpected('topUp', outcome);
  if (outcome.kind !== 'TopUpSuccess') return unexpected('topUp', outcome);
  book(actor, 'ECOPAY', after);
  return undefined;
}

async function creditReceivableThenWallet(actor: Actor): Promise<string | undefined> {
  const { account, paid } = actor;
  const order = paid.pop();
  if (order === undefined) return look(actor);
  const outcome = await sent(actor, (channel, key) => channel.refund(account, key, order.id));
  if (outcome.kind !== 'RefundSuccess') return unexpected('refund', outcome);
  const points = held(actor, 'POINT');
  book(actor, 'ECOPAY', add(held(actor, 'ECOPAY'), order.amount));
  book(actor, 'POINT', subtract(points, smaller(points, order.points)));
  return undefined;
}

async function correct(actor: Actor): Promise<string | undefined> {
  const { account, fraction } = actor;
  const asset = fraction() < 0.5 ? 'JCREDIT' : 'POINT';
  const raises = fraction() < 0.6;
  const amount = amountUpTo(actor, 40);
  const signed = `${raises ? '' : '-'}${plainDecimal(amount)}`;
  const outcome = await sent(actor, (channel, key) => channel.adjust(account, key, asset, signed));
  const balance = held(actor, asset);
  if (!raises && balance.lt(amount)) {
    return outcome.kind === 'InsufficientBalance' ? undefined : unexpected('adjustBalance', outcome);
  }
  if (outcome.kind !== 'AdjustBalanceSuccess') return unexpected('adjustBalance', outcome);
  book(actor, asset, raises ? add(balance, amount) : subtract(balance, amount));
  return undefined;
}

async function changeProfile(actor: Actor): Promise<string | undefined> {
  const { account, fraction } = actor;
  const choose = (value: string): string | null | undefined =>
    fraction() < 0.3 ? null : fraction() < 0.5 ? value : undefined;
  const number = Math.floor(fraction() * 10_000);
  const input = {
    displayName: choose(`Name ${number}`),
    email: choose(`mail-${number}@shop.example`),
    phoneNumber: choose(`+8190${10_000_000 + number}`),
  };
  const outcome = await sent(actor, (channel) => channel.updateProfile(account, input));
  if (outcome.kind !== 'UpdateProfileSuccess') return unexpected('updateProfile', outcome);
  const changed: Record<string, string> = { ...account.profile };
  for (const field of FIELDS) {
    const value = input[field];
    if (value === null) Reflect.deleteProperty(changed, field);
    else if (value !== undefined) changed[field] = value;
  }
  account.profile = changed;
  return undefined;
}

/** Reads everything there is of the account and compares it with the model. */
async function look(actor: Actor): Promise<string | undefined> {
  const { account } = actor;
  const shown = await insist(
    actor,
    (channel) => channel.read(account),
    (answer) => answer !== undefined,
  );
  return shown === undefined ? 'no gateway could be read' : difference(account, shown);
}

/** Where an account as a ledger shows it isn't what the model says; undefined: it is. */
export async function disagreement(ledger: Ledger, account: ModelAccount): Promise<string | undefined> {
  const shown = await directChannel(ledger).read(account);
  return shown === undefined ? 'it could not be read' : difference(account, shown);
}

function difference(account: ModelAccount, shown: Holdings): string | undefined {
  for (const asset of ASSETS) {
    const [has, expected] = [shown.amounts[asset] ?? '0', account.amounts[asset] ?? '0'];
    if (!decimal(has).eq(decimal(expected))) return `${asset} shows ${has}, not ${expected}`;
  }
  for (const field of FIELDS) {
    const [has, expected] = [shown.profile[field], account.profile[field]];
    if (has !== expected) return `${field} shows ${String(has)}, not ${String(expected)}`;
  }
  return undefined;
}
