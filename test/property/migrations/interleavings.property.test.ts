import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { optionalDecimal } from '../../../src/ledger/kernel/attributes.ts';
import { METRIC, ledgerAccount, netChanges } from '../../../src/ledger/model/entries/entry.ts';
import { metricsKey } from '../../../src/ledger/kernel/keys.ts';
import { ZERO, add, plainDecimal } from '../../../src/ledger/kernel/money.ts';
import { adjustBalance } from '../../../src/ledger/usecases/commands/adjust-balance.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { updateProfile } from '../../../src/ledger/usecases/commands/update-profile.ts';
import { type Migration, isRecord, legacyKey, newKeys } from '../../../src/migrations/legacy-record.ts';
import { GOD_RECORD, METRICS_SPLIT } from '../../../src/migrations/manifests.ts';
import { followMigrations } from '../../../src/migrations/migrating-table.ts';
import { handleRecord, postedToWallet } from '../../../src/migrations/move.ts';
import { compare } from '../../../src/migrations/parity.ts';
import type { Toolkit } from '../../../src/migrations/toolkit.ts';
import { createMigrationView } from '../../../src/migrations/view.ts';
import { type Harness, admin, customer, makeHarness } from '../../support/harness.ts';
import { legacyCustomers, legacyMetrics, seedLegacy } from '../../support/legacy-records.ts';
import { step, toolkitOf } from '../../support/migrating-fleet.ts';
import { directChannel } from '../../support/migration-channel.ts';
import { type ModelAccount, disagreement } from '../../support/migration-customers.ts';
import { propertySettings } from '../../support/property-settings.ts';

const { runs, seed } = propertySettings();
const HISTORIES = Math.ceil(runs / 20);

const write = fc.oneof(
  fc.record({
    kind: fc.constant('adjust' as const),
    asset: fc.constantFrom('ECOPAY', 'POINT', 'JCREDIT'),
    amount: fc.integer({ min: -60, max: 60 }).filter((amount) => amount !== 0),
  }),
  fc.record({
    kind: fc.constant('profile' as const),
    field: fc.constantFrom('displayName' as const, 'email' as const),
    value: fc.constantFrom('one@shop.example', 'two@shop.example', null),
  }),
  // A charge: balance, points and metrics at once.
  fc.record({ kind: fc.constant('buy' as const), amount: fc.integer({ min: 1, max: 300 }) }),
);
type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never;

const history = fc.record({
  /** Which of the forms that releases left behind. */
  form: fc.nat({ max: 20 }),
  /** Each by the gateway that is still in `expand`, or by the one in `backfill`. */
  writes: fc.array(fc.tuple(write, fc.boolean()), { minLength: 2, maxLength: 7 }),
  /** Before which write the move begins. */
  at: fc.nat({ max: 6 }),
  /** INSIDE: between the gateway's look at the record and its commit. AROUND: writes between the move's. BESIDE: at once. */
  how: fc.constantFrom('INSIDE' as const, 'AROUND' as const, 'BESIDE' as const),
  around: fc.integer({ min: 1, max: 3 }),
});

type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

let harness: Harness;
let gateways: readonly [Ledger, Ledger];
let mover: Toolkit;
/** What happens just before the next commit of a gateway, or of the move: once. */
const before: { gateway?: (() => Promise<void>) | undefined; move?: (() => Promise<void>) | undefined } = {};
let accounts = 0;

async function begin(migration: Migration): Promise<void> {
  harness = await makeHarness({ endpoint: inject('engineEndpoint') });
  const toolkit = toolkitOf(harness);
  await step(toolkit, migration, 'FORWARD', []);
  await step(toolkit, migration, 'FORWARD', []);
  const early = await gateway();
  await step(toolkit, migration, 'FORWARD', []);
  gateways = [early, await gateway()];
  mover = { ...toolkit, table: hooked('move') };
}

async function interrupt(who: keyof typeof before): Promise<void> {
  const interruption = before[who];
  before[who] = undefined;
  await interruption?.();
}

function hooked(who: keyof typeof before): Pick<Ledger, 'store' | 'transactor'> {
  const { store, transactor } = harness.ledger;
  return {
    store,
    transactor: {
      commit: async (plan) => {
        await interrupt(who);
        return transactor.commit(plan);
      },
    },
  };
}

/** A gateway that stays in the phase that it reads now. */
async function gateway(): Promise<Ledger> {
  const { ledger } = harness;
  const view = createMigrationView(ledger);
  await view.refresh();
  return { ...ledger, ...followMigrations(hooked('gateway'), view, ledger.ids) };
}

async function perform(ledger: Ledger, account: ModelAccount, one: Write): Promise<void> {
  const { tenant, accountId } = account;
  if (one.kind === 'profile') {
    const input = { accountId, [one.field]: one.value };
    expect((await updateProfile(ledger, customer(accountId, tenant), input)).kind).toBe(
      'UpdateProfileSuccess',
    );
    const profile: Record<string, string> = { ...account.profile };
    if (one.value === null) Reflect.deleteProperty(profile, one.field);
    else profile[one.field] = one.value;
    account.profile = profile;
    return;
  }
  if (one.kind === 'buy') {
    await buy(ledger, account, one.amount);
    return;
  }
  const { asset, amount } = one;
  const input = { accountId, asset, amount: String(amount), reason: 'property' };
  const outcome = await adjustBalance(ledger, admin(tenant), harness.key(), input);
  const held = Number(account.amounts[asset] ?? '0');
  if (held + amount < 0) {
    expect(outcome).toMatchObject({ kind: 'InsufficientBalance' });
    return;
  }
  expect(outcome).toMatchObject({ kind: 'AdjustBalanceSuccess' });
  // Amounts here have at most two decimals and five digits, which a double holds once rounded.
  account.amounts[asset] = String(Math.round((held + amount) * 100) / 100);
}

async function buy(ledger: Ledger, account: ModelAccount, amount: number): Promise<void> {
  const { orderId = '' } = await directChannel(harness.ledger).createOrder(
    account,
    harness.key(),
    String(amount),
  );
  const outcome = await directChannel(ledger).charge(account, harness.key(), orderId);
  const held = Number(account.amounts['ECOPAY'] ?? '0');
  if (held < amount) {
    expect(outcome).toMatchObject({ kind: 'InsufficientBalance', available: String(held) });
    return;
  }
  expect(outcome).toMatchObject({ kind: 'ChargeSuccess' });
  account.amounts['ECOPAY'] = String(held - amount);
  const points = Number(account.amounts['POINT'] ?? '0') + Math.floor(amount / 100);
  account.amounts['POINT'] = String(Math.round(points * 100) / 100);
}

/** What the account was charged: in METRICS, and by the postings of its entries. */
async function charged({ tenant, accountId }: ModelAccount): Promise<readonly [string, string]> {
  const [item = {}] = await harness.ledger.store.get([metricsKey({ tenant, accountId })]);
  const posted = (await harness.entries(tenant, accountId)).flatMap((entry) =>
    netChanges(entry, ledgerAccount.metrics(accountId)).filter(({ asset }) => asset === METRIC.charged),
  );
  const sum = add(...posted.map(({ net }) => net));
  return [plainDecimal(optionalDecimal(item, 'charged_total') ?? ZERO), plainDecimal(sum)];
}

async function play(migration: Migration, { form, writes, at, how, around }: History): Promise<void> {
  accounts += 1;
  const options = { count: form + 1, seed: 10_000 + accounts, atMs: harness.clock.nowMs() };
  const made =
    migration === GOD_RECORD ? legacyCustomers(options) : legacyMetrics(options, harness.ledger.ids);
  const legacy = made.at(-1);
  if (legacy === undefined) throw new Error('no record');
  await seedLegacy(harness.ledger.transactor, harness.ledger.ids, [legacy]);
  const { tenant, accountId, amounts, profile } = legacy;
  const account: ModelAccount = { tenant, accountId, amounts: { ...amounts }, profile };
  const key = legacyKey(migration, account);
  const { store } = harness.ledger;
  const moved = async (): Promise<void> => {
    const [record] = await store.get([key]);
    if (record === undefined) throw new Error('no record');
    expect(await handleRecord(mover, migration, record, 'MOVE')).toMatchObject({
      kind: expect.stringMatching(/DONE|NOTHING/) as string,
    });
  };
  const queue = writes.map(
    ([one, late]) =>
      () =>
        perform(gateways[late ? 1 : 0], account, one),
  );
  const start = Math.min(at, queue.length - 1);
  for (const one of queue.splice(0, start)) await one();
  if (how === 'INSIDE') before.gateway = moved;
  if (how === 'AROUND') {
    const inside = queue.splice(0, around);
    before.move = async () => {
      for (const one of inside) await one();
    };
    await moved();
    // Where there was nothing to move, nothing was between its writes.
    await interrupt('move');
  }
  const beside = how === 'BESIDE' ? moved() : Promise.resolve();
  for (const one of queue) await one();
  await beside;
  before.gateway = undefined;
  await moved();

  for (const ledger of gateways) expect(await disagreement(ledger, account)).toBeUndefined();
  const [record] = await store.get([key]);
  // A METRICS item may hold nothing but metrics: no record, and nothing to move.
  if (isRecord(migration, record)) {
    const items = await store.get(newKeys(migration, account));
    expect(compare(migration, account, record, items).differences).toEqual([]);
  }
  const entries = await harness.entries(tenant, accountId);
  for (const [asset, sum] of postedToWallet(accountId, entries)) {
    expect(`${asset} ${plainDecimal(sum)}`).toBe(
      `${asset} ${await harness.balance(tenant, accountId, asset)}`,
    );
  }
  const [inMetrics, posted] = await charged(account);
  expect(inMetrics).toBe(posted);
  expect(
    entries.filter(({ reason }) => reason === `opening balance, ${migration.id}`).length,
  ).toBeLessThanOrEqual(1);
}

describe.each([GOD_RECORD, METRICS_SPLIT])(
  `live writes and a move of $id (PROPERTY_SEED=${seed} PROPERTY_RUNS=${runs})`,
  (migration) => {
    beforeAll(() => begin(migration));
    afterAll(() => {
      harness.close();
    });

    it(
      'end the same however they interleave, from gateways a phase apart',
      { timeout: 120_000 + runs * 200 },
      async () => {
        await fc.assert(
          fc.asyncProperty(history, (one) => play(migration, one)),
          { numRuns: HISTORIES, seed, endOnFailure: true },
        );
      },
    );
  },
);
